import { afterAll, expect, test } from 'vitest';
import type { KeyProfile } from '../../../src/core/key-profiles.ts';
import { createKey } from '../../../src/resources/auth/key-service.ts';
import { createOwner, fillPath, getEndpoints, readRequests } from '../../support/isolation.ts';
import { allowedProfiles, writeTable } from '../../support/isolation-table.ts';
import { createUserToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { openPartitionedTables } from '../../support/partitioned-plans.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { openTestApp, openTestDatabase, ownDatabase, send } from '../../support/test-app.ts';

/** A busy machine takes half a minute for the reads. */
const timeout = 120_000;

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
const { app } = testApp;
const { me, ids } = await createOwner(testApp);
const keys = {
  full: me,
  publishable: await createKey(await me.ctx(), { profile: 'publishable' }),
};
const plans = await openPartitionedTables(name, me.id);
afterAll(async () => {
  await plans.close();
  await testApp.close();
});

const readsOf = (profile: KeyProfile) =>
  getEndpoints(testApp)
    .filter(({ method, name: route }) => method === 'GET' && allowedProfiles[route]!.includes(profile))
    .flatMap((endpoint) => readRequests(endpoint, ids))
    .filter(({ partnerQuery }) => partnerQuery === '')
    .map(({ url }) => url);

/** Reads everything of the school; returns the number of requests and the statements that name no single school. */
async function readAll(profile: keyof typeof keys) {
  const urls = readsOf(profile);
  const headers = { 'x-api-key': keys[profile].apiKey };
  const sent = await recordStatements(async () => {
    for (const url of urls) expect((await send(app, { url, headers })).status, url).toBeLessThan(500);
  });
  return { requests: urls.length, unnamed: await plans.findUnnamedStatements(sent) };
}

test(
  'each read of a school names it for each table',
  async () => {
    const { requests, unnamed } = await readAll('full');
    expect(requests).toBeGreaterThan(100);
    expect(unnamed).toEqual([]);
  },
  timeout,
);

test(
  'each read with a publishable key names its school for each table',
  async () => {
    const { requests, unnamed } = await readAll('publishable');
    expect(requests).toBeGreaterThan(30);
    // A location is public by its dates or gatherings, in a subselect that names no school.
    expect(unnamed.filter(({ text }) => !/ from "locations" where .* union all /.test(text))).toEqual([]);
  },
  timeout,
);

test(
  'each write of a school names it for each table',
  async () => {
    const found: unknown[] = [];
    let good = 0;
    for (const { route, bodies } of writeTable) {
      const [method, path] = route.split(' ') as ['POST', string];
      for (const payload of bodies(ids)) {
        let status = 0;
        const sent = await recordStatements(async () => {
          const headers = { 'x-api-key': me.apiKey };
          ({ status } = await send(app, { method, url: fillPath(path, ids), headers, payload }));
        });
        if (status < 300) good += 1;
        for (const one of await plans.findUnnamedStatements(sent)) found.push({ route, status, ...one });
      }
    }
    expect(good).toBeGreaterThan(30);
    expect(found).toEqual([]);
  },
  timeout,
);

test('each page of a course user names the school for each table', async () => {
  const token = await createUserToken(me, 'sign_in', ids.user);
  const browser = await signedInVisitor(app, me, ids.user);
  const course = `/my/courses/${ids.participant}`;
  const statuses: number[] = [];
  const sent = await recordStatements(async () => {
    for (const path of ['/my', course, '/my/details', '/my/password']) statuses.push((await browser.get(path)).status);
    statuses.push((await visitor(app).get(`/my/sign-in/${token}`)).status);
    statuses.push((await browser.post('/my/log-out')).status);
  });
  expect(statuses).toEqual([200, 200, 200, 200, 303, 303]);
  expect(await plans.findUnnamedStatements(sent)).toEqual([]);
});

const ofBooking = 'p.provider_id = b.provider_id and p.booking_id = b.id';

test.each([
  { text: 'select from tags where id = $1', values: [1], tables: ['tags'] },
  { text: 'delete from tags where title = $1', values: ['x'], tables: ['tags'] },
  {
    text: `select from bookings b join participants p on ${ofBooking} where b.id = $1`,
    values: [1],
    tables: ['bookings', 'participants'],
  },
  {
    text: `select from bookings b where b.id = $1 and exists (select from participants p where ${ofBooking})`,
    values: [1],
    tables: ['bookings'],
  },
  {
    text: 'select from tags where provider_id = any((select $1::bigint[])::bigint[])',
    values: ['{0}'],
    tables: ['tags'],
  },
])('the tables without a school are found in: $text', async ({ text, values, tables }) => {
  const [found] = await plans.findUnnamedStatements([{ text, values }]);
  expect(new Set(found?.tables)).toEqual(new Set(tables));
});

test('a statement that names the school by a value, a list or the row outside is not found', async () => {
  const statements = [
    { text: `select from bookings b join participants p on ${ofBooking} where b.provider_id = $1`, values: [me.id] },
    {
      text: `select (select min(p.id) from participants p where ${ofBooking}) from bookings b
        where b.provider_id = any((select $1::bigint[])::bigint[])`,
      values: [`{${me.id}}`],
    },
  ];
  expect(await plans.findUnnamedStatements(statements)).toEqual([]);
});
