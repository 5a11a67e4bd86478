import { afterAll, expect, test } from 'vitest';
import { allWrites, buildAppWithWrongArea, cachedUrls } from '../../support/data-versions.ts';
import { createOwner, getEndpoints, type Owner } from '../../support/isolation.ts';
import { limits, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { execute } from '../../support/booking.ts';
import { guardStatements } from '../../support/tables.ts';

const name = await ownDatabase(afterAll);
// A cached response would hide the change of one with an unchanged ETag.
const options = { limits: { ...limits, responseCacheBytes: 0 } };
const testApp = await openTestApp(openTestDatabase(name), options);
afterAll(testApp.close);
const owner = await createOwner(testApp);
const urls = await cachedUrls(testApp, owner);
const writes = allWrites(testApp, name);

const person = { firstname: 'A', lastname: 'B' };

type Snapshot = Map<string, { etag: string; text: string }>;

async function readAll({ me }: Pick<Owner, 'me'>): Promise<Snapshot> {
  const entries = await Promise.all(
    urls.map(async ({ url }) => {
      const { headers, text } = await me.get(url);
      return [url, { etag: String(headers['etag']), text }] as const;
    }),
  );
  return new Map(entries);
}

/** URLs whose response differs under the same ETag. */
const staleUrls = (before: Snapshot, after: Snapshot) =>
  [...after].filter(([url, { etag, text }]) => before.get(url)!.etag === etag && before.get(url)!.text !== text);

test('every list with an ETag is read with each include', () => {
  const routes = new Set(urls.map(({ route }) => route));
  const documented = getEndpoints(testApp).filter(({ operation }) => '304' in (operation.responses ?? {}));
  expect([...routes].sort()).toEqual(documented.map((endpoint) => endpoint.name).sort());
  expect(urls.length).toBeGreaterThan(0);
});

let before = await readAll(owner);
const accepted = new Set<string>();

test.each(writes)('$name changes the ETag of every response that it changes', async ({ route, run }) => {
  if (await run(owner)) accepted.add(route);
  const after = await readAll(owner);
  expect(staleUrls(before, after).map(([url]) => url)).toEqual([]);
  before = after;
});

test('every write was accepted at least once', () => {
  expect(writes.map(({ route }) => route).filter((route) => !accepted.has(route))).toEqual([]);
});

test('a booking keeps the ETags of the catalog', async () => {
  const { me, ids } = owner;
  const etagOf = async (url: string) => (await me.get(url)).headers['etag'];
  const lists = ['/v2/courses', '/v2/locations', '/v2/instructors', '/v2/course-tags', '/v2/orders/products'];
  const etags = await Promise.all(lists.map(etagOf));
  const participants = [{ ...person, email: 'a@x.example' }];
  const body = { coursedate_id: ids.date, payment_method: 'invoice', participants };
  const dates = await etagOf('/v2/coursedates');
  expect((await me.post('/v2/booking', body)).status).toBe(201);
  expect(await Promise.all(lists.map(etagOf))).toEqual(etags);
  expect(await etagOf('/v2/coursedates')).not.toBe(dates);
});

test('a statement that moves the clock alone changes every ETag', async () => {
  const { me } = owner;
  const etags = await readAll(owner);
  await testApp.database.pool.query({
    text: 'update provider_state set changed_at = clock_timestamp() where provider_id = $1',
    values: [me.id],
  });
  const after = await readAll(owner);
  expect([...after].filter(([url, { etag }]) => etags.get(url)!.etag === etag)).toEqual([]);
});

test('a write that declares another area leaves a stale ETag (negative control)', async () => {
  const wrong = await openTestApp(openTestDatabase(name), options, await buildAppWithWrongArea());
  await execute(name, 'drop function refuse_unlocked cascade');
  const me = await wrong.createProvider();
  const read = async () => {
    const { headers, text } = await me.get('/v2/instructors');
    return { etag: headers['etag'], text };
  };
  const empty = await read();
  expect((await me.post('/v2/instructors', person)).status).toBe(201);
  const changed = await read();
  expect(changed.text).not.toBe(empty.text);
  expect(changed.etag).toBe(empty.etag);
  await wrong.close();
});

test('the test database refuses a write to an area that was not declared', async () => {
  const wrong = await openTestApp(openTestDatabase(await ownDatabase()), options, await buildAppWithWrongArea());
  const me = await wrong.createProvider();
  expect((await me.post('/v2/instructors', person)).status).toBe(500);
  await wrong.close();
});

test('a test database of a tenant table without an entry cannot be created', async () => {
  const changed = await ownDatabase();
  await execute(changed, 'drop function refuse_unlocked cascade; create table news (provider_id bigint)');
  await expect(execute(changed, guardStatements())).rejects.toThrow(
    'test/support/tables.ts has no entry of the table news',
  );
  await execute(changed, 'drop table news');
  await execute(changed, guardStatements());
});
