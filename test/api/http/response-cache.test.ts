import { Client } from 'pg';
import { eq } from 'drizzle-orm';
import { expect, test, vi } from 'vitest';
import { categories } from '../../../src/database/tables/catalog.ts';
import { addCategory, categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { createBookableDate, bookingBody } from '../../support/booking.ts';
import { waitForBlocked } from '../../support/locks.ts';
import { recordStatements } from '../../support/record-statements.ts';
import {
  asAdmin,
  connectionTo,
  limits,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  openTestAppForFile,
  type TestApp,
  type TestResponse,
  type Provider,
} from '../../support/test-app.ts';

const { app, database, createProvider } = await openTestAppForFile();
const list = '/v2/courses?limit=10&include[]=provider';

/** Number of statements for a request. */
const countStatements = async (me: Provider, url: string, headers = {}) =>
  (await recordStatements(() => me.get(url, headers))).length;

/** A conditional request with that response's ETag. */
const ifNoneMatch = ({ headers }: TestResponse) => ({ 'if-none-match': String(headers['etag']) });

test('a repeated request only looks up the key and returns identical bytes and headers', async () => {
  const me = await createProvider();
  for (let n = 0; n < 12; n += 1) await me.course();
  const url = `${list}&updated_at_min=2020-01-01&unknown=1`;
  const first = await me.get(url);
  expect(await countStatements(me, url)).toBe(1);
  const again = await me.get(url);
  expect(again.text).toBe(first.text);
  for (const name of [
    'content-type',
    'link',
    'x-updated-through',
    'etag',
    'x-ignored-parameters',
    'vary',
    'cache-control',
  ])
    expect([name, again.headers[name]]).toEqual([name, first.headers[name]]);
  expect(first.headers['link']).toContain('unknown=1');
  expect((await me.get(url.replace('unknown=1', 'unknown=2'))).headers['link']).toContain('unknown=2');
});

test('HEAD is served from the cached GET with its Content-Length and no body', async () => {
  const me = await createProvider();
  await me.course();
  const response = await me.get(list);
  const head = await me.request('HEAD')(list);
  expect([head.status, head.text, head.headers['etag']]).toEqual([200, '', response.headers['etag']]);
  expect((await me.get(list)).text).toBe(response.text);
});

test.each<[string, (me: Provider) => Promise<unknown>]>([
  ['its own write', (me) => me.course()],
  [
    'a category that another course got',
    async (me) => {
      const id = await addCategory(database, { title: `Category ${me.id}`, parentId: null });
      await categorizeCourse(await me.ctx(), await me.course(), id);
    },
  ],
])('%s is visible in the next request', async (_name, write) => {
  const me = await createProvider();
  await me.course();
  const before = await me.get(list);
  await write(me);
  expect((await me.get(list)).text).not.toBe(before.text);
});

test('a changed category title is visible in the next request', async () => {
  // A separate database, since shared data changes every list's ETag.
  const own = await openTestApp(openTestDatabase(await ownDatabase()));
  try {
    const me = await own.createProvider();
    const id = await addCategory(own.database, { title: 'Before', parentId: null });
    await categorizeCourse(await me.ctx(), await me.course(), id);
    const before = await me.get(list);
    expect(before.text).toContain('Before');
    await own.database.writeShared(({ tx }) =>
      tx.update(categories).set({ title: 'After' }).where(eq(categories.id, id)),
    );
    const known = ifNoneMatch(before);
    expect((await me.get(list, known)).status).toBe(200);
    expect((await me.get(list)).text).toContain('After');
  } finally {
    await own.close();
  }
});

test("two providers with the same data cannot use each other's ETags", async () => {
  const both = [await createProvider('Same'), await createProvider('Same')] as const;
  const url = '/v2/course-tags';
  const [one, two] = await Promise.all(
    both.map(async (actorName) => String((await actorName.get(url)).headers['etag'])),
  );
  const statuses = [both[0].get(url, { 'if-none-match': two! }), both[1].get(url, { 'if-none-match': one! })];
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await both[0].get(url, { 'if-none-match': one! })).status).toBe(304);
});

test('a cached response is not used for another provider or language', async () => {
  const [me, twin] = [await createProvider('Twin'), await createProvider('Twin')];
  await me.course({ title: 'Mine' });
  await me.get(list);
  expect((await twin.get(list)).json()).toEqual([]);
  const url = '/v2/courses?include[]=products';
  const english = await me.get(url, { 'accept-language': 'en' });
  const norwegian = await me.get(url, { 'accept-language': 'no' });
  expect(norwegian.text).not.toBe(english.text);
  expect((await me.get(url, { 'accept-language': 'en' })).text).toBe(english.text);
  const mine = english.headers['etag'] as string;
  expect((await twin.get(url, { 'if-none-match': mine })).status).toBe(200);
});

test('errors, single items and time-dependent queries are not cached', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  for (const url of [
    '/v2/courses?limit=0',
    `/v2/courses/${courseId}`,
    '/v2/coursedates?start_date_at_min=now',
    '/v2/nextcoursedates',
  ]) {
    const first = await countStatements(me, url);
    expect([url, await countStatements(me, url)]).toEqual([url, first]);
  }
});

test('a restored database invalidates the cache although its version clock repeats', async () => {
  const own = await openTestApp(openTestDatabase(await ownDatabase()));
  try {
    const me = await own.createProvider();
    const id = await me.course({ title: 'Before' });
    const clock = async () =>
      (await own.database.pool.query<{ at: string }>('select changed_at::text as at from provider_state')).rows[0]!.at;
    const then = await clock();
    const response = await me.get(list);
    // An entry that a late read leaves under the older data version.
    for (const name of own.app.listCache.responses!.entries.keys()) {
      const { headers } = own.app.listCache.responses!.entries.get(name)!;
      own.app.listCache.responses!.entries.set(name, { headers, body: Buffer.from('[]') });
    }
    expect((await me.get(list)).text).toBe('[]');
    await me.put(`/v2/courses/${id}`, { title: 'After' });
    const after = await me.get(list);
    await own.database.write([me.id], allAreas, async ({ tx }) => {
      await tx.$client.query(
        "update courses set title = 'Before', slug = 'before', updated_at = created_at, related_items_updated_at = created_at",
      );
      await tx.$client.query('update provider_state set changed_at = $1', [then]);
    });
    expect(await clock()).toBe(then);
    expect((await me.get(list, ifNoneMatch(after))).text).toBe(response.text);
    expect((await me.get(list)).text).toBe(response.text);
  } finally {
    await own.close();
  }
});

test("restoring a copy while the server runs serves the copy's data and later writes", async () => {
  const name = await ownDatabase();
  const [copy, own] = [`${name}_copy`, await openTestApp(openTestDatabase(name))];
  // A template database may have no connections.
  const copied = async (from: string, to: string) => {
    await asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`);
    await asAdmin(`create database ${to} template ${from} strategy file_copy`);
  };
  try {
    const me = await own.createProvider();
    const id = await me.course({ title: 'Before' });
    const before = await me.get(list);
    await copied(name, copy);
    await me.put(`/v2/courses/${id}`, { title: 'After' });
    const after = await me.get(list);
    expect(after.text).toContain('After');
    await asAdmin(`drop database ${name} with (force)`);
    await copied(copy, name);
    expect((await me.get(list, ifNoneMatch(after))).text).toBe(before.text);
    expect((await me.get(list)).text).toBe(before.text);
    await me.put(`/v2/courses/${id}`, { title: 'Later' });
    for (const one of [before, after]) expect((await me.get(list, ifNoneMatch(one))).text).toContain('Later');
    expect((await me.get(list)).text).toContain('Later');
  } finally {
    await own.close();
    await asAdmin(`drop database if exists ${copy} with (force)`);
  }
});

const isCount = (text: string) => text.startsWith('select count(*)');

test('the total of a query is counted once until data changes', async () => {
  const me = await createProvider();
  const { courseId } = await createBookableDate(me, {});
  const counts = async (url: string) => {
    let responses: Awaited<ReturnType<Provider['get']>>[] = [];
    const request = () => Promise.all([1, 2, 3].map((page) => me.get(`${url}&limit=1&page=${page}`)));
    const sent = await recordStatements(async () => (responses = await request()));
    const totals = responses.map(
      (response) => response.json<{ pagination: { total_items: number } }>().pagination.total_items,
    );
    return [sent.filter(({ text }) => isCount(text)).length, ...new Set(totals)];
  };
  expect(await counts('/v2/coursedates?')).toEqual([1, 1]);
  expect(await counts('/v2/coursedates?include[]=course')).toEqual([0, 1]);
  // Only an embedded value depends on the clock.
  expect(await counts('/v2/coursedates?include[]=gatherings')).toEqual([0, 1]);
  expect(await counts(`/v2/coursedates?course_id=${courseId}`)).toEqual([1, 1]);
  expect(await counts('/v2/courses?paginate=1')).toEqual([1, 1]);
  // Depends on the clock; the first page is the last and contains the total.
  expect(await counts('/v2/coursedates?start_date_at_max=now')).toEqual([2, 0]);
  await createBookableDate(me, {});
  expect(await counts('/v2/coursedates?')).toEqual([1, 2]);
});

test('totals are counted once also without a response cache', async () => {
  const own = await openTestApp(openTestDatabase(await ownDatabase()), {
    limits: { ...limits, responseCacheBytes: 0 },
  });
  try {
    const me = await own.createProvider();
    for (let n = 0; n < 2; n += 1) await me.course();
    const query = async () =>
      (await recordStatements(() => me.get('/v2/courses?paginate=1&limit=1'))).map(({ text }) => text);
    const [first, second] = [await query(), await query()];
    const counting = (sent: string[]) => sent.filter(isCount).length;
    expect([counting(first), counting(second)]).toEqual([1, 0]);
    // The list itself is read each time.
    expect(second.filter((text) => text.includes('from "courses"') && !isCount(text)).length).toBeGreaterThan(0);
  } finally {
    await own.close();
  }
});

test('the cache stays within its size limit', async () => {
  const own = await openTestApp(openTestDatabase(await ownDatabase()), {
    limits: { ...limits, responseCacheBytes: 50_000 },
  });
  try {
    const me = await own.createProvider();
    for (let n = 0; n < 10; n += 1) await me.course({ text_description: 'x'.repeat(400) });
    for (let n = 1; n <= 60; n += 1) await me.get(`/v2/courses?limit=${n}`);
    const { calculatedSize, size } = own.app.listCache.responses!.entries;
    expect(calculatedSize <= 50_000 && size < 60, `${calculatedSize} bytes in ${size}`).toBe(true);
  } finally {
    await own.close();
  }
});

test('a read after a confirmed write always sees it', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 0 });
  const url = '/v2/participants?limit=250';
  let [reported, reads] = [0, 0];
  const write = async () => {
    while (reported < 50) {
      expect((await me.post('/v2/booking', bookingBody(dateId))).status).toBe(201);
      reported += 1;
    }
  };
  const stale: string[] = [];
  const read = async () => {
    while (reported < 50 || reads < 100) {
      const before = reported;
      const count = (await me.get(url)).json<unknown[]>().length;
      if (count < before) stale.push(`${count} after ${before}`);
      reads += 1;
    }
  };
  await Promise.all([write(), read(), read(), read()]);
  expect(stale).toEqual([]);
  expect(app.listCache.responses!.entries.size).toBeGreaterThan(0);
});

test('concurrent equal requests of one provider share one query', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  await me.course();
  const url = `${list}&unknown=at-once`;
  const request = (actorName: Provider) => Array.from({ length: 20 }, () => actorName.get(url));
  let [mine, theirs]: Awaited<ReturnType<Provider['get']>>[][] = [[], []];
  const sent = await recordStatements(async () => {
    [mine, theirs] = await Promise.all([Promise.all(request(me)), Promise.all(request(other))]);
  });
  expect(new Set(mine!.map(({ text }) => text)).size).toBe(1);
  expect(mine![0]!.json()).toHaveLength(1);
  expect(new Set(theirs!.map(({ text }) => text))).toEqual(new Set(['[]']));
  // Rows of the one provider, and of the other, which has none.
  expect(sent.filter(({ text }) => text.includes('from "courses"'))).toHaveLength(2);
});

/** Waits until that many more requests wait for a response that another one is computing. */
function waitForSharing({ app: { listCache } }: TestApp) {
  const pending = vi.spyOn(listCache.responses!, 'pending');
  const sharing = () => pending.mock.results.filter(({ value }) => value !== undefined).length;
  return (requests: number) => expect.poll(sharing).toBe(requests);
}

test('waiting requests share the failure, and the next request runs the query again', async () => {
  const name = await ownDatabase();
  const own = await openTestApp(openTestDatabase(name));
  const isSharedBy = waitForSharing(own);
  const lock = new Client(connectionTo(name));
  await lock.connect();
  try {
    const me = await own.createProvider();
    await me.course();
    await lock.query('begin');
    await lock.query('lock table courses in access exclusive mode');
    const sent = await recordStatements(async () => {
      const requests = Array.from({ length: 10 }, () => me.get(list));
      await waitForBlocked(lock, 1);
      await isSharedBy(9);
      await lock.query(
        'select pg_cancel_backend(pid) from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      const responses = await Promise.all(requests);
      expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(503));
    });
    expect(sent.filter(({ text }) => text.includes('from "courses"'))).toHaveLength(1);
    await lock.query('rollback');
    expect((await me.get(list)).json()).toHaveLength(1);
  } finally {
    await lock.end();
    await own.close();
  }
});

test('when the first client disconnects, waiting requests still get the response', async () => {
  const name = await ownDatabase();
  const own = await openTestApp(openTestDatabase(name));
  const isSharedBy = waitForSharing(own);
  const connections = () => new Promise((resolve) => own.app.server.getConnections((_error, count) => resolve(count)));
  const lock = new Client(connectionTo(name));
  await lock.connect();
  try {
    const me = await own.createProvider();
    await me.course();
    const base = await own.app.listen({ host: '127.0.0.1', port: 0 });
    const request = (signal?: AbortSignal) =>
      fetch(base + list, { headers: { 'x-api-key': me.apiKey }, ...(signal ? { signal } : {}) });
    await lock.query('begin');
    await lock.query('lock table courses in access exclusive mode');
    const sent = await recordStatements(async () => {
      const first = new AbortController();
      const gone = request(first.signal).catch(() => 'gone');
      await waitForBlocked(lock, 1);
      const waiting = [request(), request(), request()];
      await isSharedBy(3);
      first.abort();
      expect(await gone).toBe('gone');
      await expect.poll(connections).toBe(3);
      await lock.query('rollback');
      const responses = await Promise.all(waiting);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(await Promise.all(responses.map((response) => response.text()))).size).toBe(1);
    });
    expect(sent.filter(({ text }) => text.includes('from "courses"'))).toHaveLength(1);
  } finally {
    await lock.end();
    await own.close();
  }
});
