import { afterAll, expect, test } from 'vitest';
import { tags } from '../../../src/database/tables/catalog.ts';
import { coreTasks, deleteOld } from '../../../src/database/housekeeping.ts';
import { execute } from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { openTestApp, openTestDatabase, ownDatabase, type Provider } from '../../support/test-app.ts';

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
const { app, createProvider, database } = testApp;

type Change = { id: number; type: string; resource: string; resource_id: number | null; at: string };
type Changes = { items: Change[]; cursor: string; has_more: boolean };

const read = async (me: Provider, query = '') => {
  const response = await me.get(`/v2/changes${query}`);
  expect(response.status, response.text).toBe(200);
  return response.json<Changes>();
};
const types = ({ items }: Changes) => items.map(({ type }) => type);

const gone = {
  error: 'The cursor is not valid any more: request a new one, then read everything again',
  code: 'read_everything_again',
};

test('without a cursor there are no changes, and the cursor of now', async () => {
  const me = await createProvider();
  await me.course();
  const { items, cursor, has_more } = await read(me);
  expect([items, has_more]).toEqual([[], false]);
  expect(await read(me, `?since=${cursor}`)).toEqual({ items: [], cursor, has_more: false });
});

test('changes come in the order of their commits, in pages', async () => {
  const me = await createProvider();
  const { cursor: start } = await read(me);
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push(await me.course());
  const seen: Change[] = [];
  let page: Changes = { items: [], cursor: start, has_more: true };
  const sizes = [];
  while (page.has_more) {
    page = await read(me, `?limit=2&since=${page.cursor}`);
    seen.push(...page.items);
    sizes.push(page.items.length);
  }
  expect(sizes).toEqual([2, 2, 1]);
  expect(seen.map(({ resource_id }) => resource_id)).toEqual(ids);
  expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).sort((a, b) => a - b));
  expect(seen[0]).toEqual({
    id: expect.any(Number),
    type: 'course.created',
    resource: 'course',
    resource_id: ids[0],
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+\d\d:\d\d$/),
  });
});

test('a limit above 1000 counts as 1000, and without one there are 100', async () => {
  const me = await createProvider();
  const { cursor } = await read(me);
  for (let n = 0; n < 11; n += 1) {
    const rows = (now: string) =>
      Array.from({ length: 100 }, (_, m) => ({
        providerId: me.id,
        title: `Tag ${n} ${m}`,
        createdAt: now,
        updatedAt: now,
      }));
    await write(me, (tx, now) => tx.insert(tags).values(rows(now)));
  }
  const count = async (limit: string) => (await read(me, `?since=${cursor}${limit}`)).items.length;
  expect([await count(''), await count('&limit=1000'), await count('&limit=5000')]).toEqual([100, 1000, 1000]);
  expect((await me.get(`/v2/changes?since=${cursor}&limit=0`)).status).toBe(400);
});

test('only changes of the given types, and the cursor passes the others', async () => {
  const me = await createProvider();
  const { cursor } = await read(me);
  const course = await me.course();
  await me.put(`/v2/courses/${course}`, { reference: 'x' });
  await me.post('/v2/course-tags', { title: 'T' });
  const query = `?since=${cursor}&types[]=course.updated&types[]=tag.created`;
  const found = await read(me, query);
  expect(types(found)).toEqual(['course.updated', 'tag.created']);
  const first = await read(me, `${query}&limit=1`);
  expect([types(first), first.has_more]).toEqual([['course.updated'], true]);
  const rest = await read(me, `?types=tag.created&since=${first.cursor}`);
  expect([types(rest), rest.has_more]).toEqual([['tag.created'], false]);
  const none = await read(me, `?since=${cursor}&types[]=order.created`);
  expect(none).toEqual({ items: [], cursor: found.cursor, has_more: false });
  expect((await me.get(`/v2/changes?types[]=course.renamed`)).json()).toEqual({ error: 'Field(s) not valid: types' });
});

test('a provider sees its own changes only, and a cursor of another one is 410', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { cursor } = await read(me);
  const { cursor: otherCursor } = await read(other);
  await other.course();
  expect((await read(me, `?since=${cursor}`)).items).toEqual([]);
  const response = await me.get(`/v2/changes?since=${otherCursor}`);
  expect([response.status, response.json()]).toEqual([410, gone]);
});

const encode = (text: string) => Buffer.from(text).toString('base64url');

test.each(['x', encode('1.2'), encode('0.0.0'), encode('1.-1.5'), encode(`9${'9'.repeat(18)}.1.1`), 'A'.repeat(200)])(
  'the malformed cursor %s is 410',
  async (cursor) => {
    const me = await createProvider();
    const response = await me.get(`/v2/changes?since=${cursor}`);
    expect([response.status, response.json()]).toEqual([410, gone]);
  },
);

test('a cursor of a state that a restore has undone is 410', async () => {
  const me = await createProvider();
  await me.course();
  const { cursor } = await read(me);
  const [, id] = Buffer.from(cursor, 'base64url').toString().split('.');
  await execute(name, `delete from events where provider_id = ${me.id} and id = ${id}`);
  expect((await me.get(`/v2/changes?since=${cursor}`)).status).toBe(410);
  // The restored database gives the same id to another change.
  await execute(
    name,
    `insert into events (provider_id, id, at, resource, change, resource_id) overriding system value
     values (${me.id}, ${id}, clock_timestamp(), 'course', 'created', 1)`,
  );
  expect((await me.get(`/v2/changes?since=${cursor}`)).status).toBe(410);
});

const housekeeping = coreTasks.find(({ table }) => table === 'events')!;
const deleteOldEvents = () => deleteOld(database, housekeeping, 10);
const insertOldEvents = (me: Provider, count: number) =>
  execute(
    name,
    `insert into events (provider_id, at, resource, change, resource_id)
     select ${me.id}, now() - interval '20 days' + n * interval '1 second', 'tag', 'created', n
     from generate_series(1, ${count}) n`,
  );
const countEvents = async (me: Provider) => {
  const text = 'select count(*)::integer as n from events where provider_id = $1';
  return (await database.pool.query<{ n: number }>({ text, values: [me.id] })).rows[0]!.n;
};

test('old changes are deleted, but not the last one before the limit', async () => {
  const me = await createProvider();
  const { cursor: oldest } = await read(me);
  await me.course();
  await me.course();
  const { cursor: last } = await read(me);
  const age = (days: number) =>
    execute(name, `update events set at = at - interval '${24 * days} hours' where provider_id = ${me.id}`);
  await age(11);
  const aged = (cursor: string, days: number) => {
    const [provider, id, clock] = Buffer.from(cursor, 'base64url').toString().split('.');
    return encode([provider, id, Number(clock) - days * 86_400_000_000].join('.'));
  };
  expect((await read(me, `?since=${aged(oldest, 11)}`)).items).toHaveLength(2);
  await deleteOldEvents();
  expect((await me.get(`/v2/changes?since=${aged(oldest, 11)}`)).status).toBe(410);
  expect(await read(me, `?since=${aged(last, 11)}`)).toMatchObject({ items: [], has_more: false });

  // A client that has read everything before a quiet month continues after it.
  const course = await me.course();
  await deleteOldEvents();
  const { items, cursor } = await read(me, `?since=${aged(last, 11)}`);
  expect(items.map(({ type, resource_id }) => [type, resource_id])).toEqual([['course.created', course]]);
  await age(9);
  await deleteOldEvents();
  expect(await read(me, `?since=${aged(cursor, 9)}`)).toMatchObject({ items: [], has_more: false });
  await age(2);
  await deleteOldEvents();
  expect(await countEvents(me)).toBe(1);
  expect((await me.get(`/v2/changes?since=${aged(last, 22)}`)).status).toBe(410);
});

test('a backlog of old changes is deleted in batches', async () => {
  const me = await createProvider();
  await insertOldEvents(me, 2_500);
  await me.course();
  await deleteOldEvents();
  expect(await countEvents(me)).toBe(2);
});

test('changes have an ETag, and unchanged ones are 304', async () => {
  const me = await createProvider();
  const { cursor } = await read(me);
  const url = `/v2/changes?since=${cursor}`;
  const etag = String((await me.get(url)).headers['etag']);
  expect((await me.get(url, { 'if-none-match': etag })).status).toBe(304);
  await me.course();
  const changed = await me.get(url, { 'if-none-match': etag });
  expect([changed.status, types(changed.json())]).toEqual([200, ['course.created']]);
});

test('pages of changes do not fill the response cache', async () => {
  const me = await createProvider();
  const countStored = () => app.listCache.responses!.entries.size;
  const before = countStored();
  await read(me, `?since=${(await read(me)).cursor}`);
  expect(countStored()).toBe(before);
  await me.get('/v2/course-tags');
  expect(countStored()).toBe(before + 1);
});

test.each(['', 'x'.repeat(201)])('the cursor "%s" is 410', async (since) => {
  const response = await (await createProvider()).get(`/v2/changes?since=${since}`);
  expect([response.status, response.json()]).toEqual([410, gone]);
});
