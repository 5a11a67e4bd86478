import { afterAll, expect, test } from 'vitest';
import { localTables } from '../../../src/database/distribution.ts';
import type { KeyProfile } from '../../../src/lib/key-profiles.ts';
import { createKey } from '../../../src/resources/auth/key-service.ts';
import { allProviders, oneProvider, tasks } from '../../../src/runtime/housekeeping.ts';
import { distributedDatabase } from '../../support/distributed-database.ts';
import { createOwner, fillPath, getEndpoints, readRequests } from '../../support/isolation.ts';
import { writeTable } from '../../support/isolation-table.ts';
import { allowedProfiles } from '../../support/key-profiles.ts';
import { createUserToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { openPartitionedTables } from '../../support/partitioned-plans.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { openTestApp, openTestDatabase, send, settings } from '../../support/test-app.ts';

/** A busy machine takes half a minute for the reads. */
const timeout = 120_000;

const name = await distributedDatabase(afterAll);
const plain = await openTestApp(openTestDatabase(name));
const distributed = await openTestApp(openTestDatabase(name), { settings: { ...settings, isDistributed: true } });
const { me, ids } = await createOwner(plain);
const keys = {
  full: me,
  publishable: await createKey(await me.ctx(), { profile: 'publishable' }),
};
const plans = await openPartitionedTables(name, me.id);
afterAll(async () => {
  await plans.close();
  await plain.close();
  await distributed.close();
});

const readsOf = (profile: KeyProfile) =>
  getEndpoints(plain)
    .filter(({ method, name: route }) => method === 'GET' && allowedProfiles[route]!.includes(profile))
    .flatMap((endpoint) => readRequests(endpoint, ids))
    .filter(({ partnerQuery }) => partnerQuery === '')
    .map(({ url }) => url);

/** Reads everything of the school; returns the responses and the statements that name no single school. */
async function readAll({ app }: typeof plain, profile: keyof typeof keys) {
  const { apiKey } = keys[profile];
  const responses: unknown[] = [];
  const sent = await recordStatements(async () => {
    for (const url of readsOf(profile)) {
      const { status, text } = await send(app, { url, headers: { 'x-api-key': apiKey } });
      responses.push([url, status, text.replace(/"server_time":"[^"]+"/, '')]);
    }
  });
  return { responses, unnamed: await plans.findUnnamedStatements(sent) };
}

test(
  'each read of a school names it for each table, and its responses are those of one server',
  async () => {
    const onOne = await readAll(plain, 'full');
    const named = await readAll(distributed, 'full');
    expect(named.responses).toEqual(onOne.responses);
    expect(named.responses.length).toBeGreaterThan(100);
    expect(named.unnamed).toEqual([]);
    // Relations do not, on one server.
    expect(onOne.unnamed.length).toBeGreaterThan(10);
  },
  timeout,
);

test(
  'each read with a publishable key names its school for each table',
  async () => {
    const onOne = await readAll(plain, 'publishable');
    const named = await readAll(distributed, 'publishable');
    expect(named.responses).toEqual(onOne.responses);
    expect(named.responses.length).toBeGreaterThan(30);
    // A location is public by its dates or gatherings, in a subselect that names no school.
    expect(named.unnamed.filter(({ text }) => !/ from "locations" where .* union all /.test(text))).toEqual([]);
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
          ({ status } = await send(distributed.app, { method, url: fillPath(path, ids), headers, payload }));
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
  const browser = await signedInVisitor(distributed.app, me, ids.user);
  const course = `/my/courses/${ids.participant}`;
  const statuses: number[] = [];
  const sent = await recordStatements(async () => {
    for (const path of ['/my', course, '/my/details', '/my/password']) statuses.push((await browser.get(path)).status);
    statuses.push((await visitor(distributed.app).get(`/my/sign-in/${token}`)).status);
    statuses.push((await browser.post('/my/log-out')).status);
  });
  expect(statuses).toEqual([200, 200, 200, 200, 303, 303]);
  expect(await plans.findUnnamedStatements(sent)).toEqual([]);
});

test('housekeeping names one school for each table', async () => {
  const values = [1, 1_000, me.id];
  const distributedTasks = tasks.filter(({ table }) => !localTables.includes(table));
  const ofOne = distributedTasks.map(({ statement }) => ({ text: statement(oneProvider), values }));
  expect(await plans.findUnnamedStatements(ofOne)).toEqual([]);
  const ofAll = distributedTasks.map(({ statement }) => ({
    text: statement(allProviders),
    values: values.slice(0, 2),
  }));
  expect(await plans.findUnnamedStatements(ofAll)).toHaveLength(ofAll.length);
});
