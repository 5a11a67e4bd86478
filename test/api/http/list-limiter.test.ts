import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { waitForBlocked } from '../../support/locks.ts';
import { dereference } from '../../support/openapi.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { buildAppWith, replaceIn } from '../../support/bundle.ts';
import {
  connectionTo,
  limits,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  type BuildApp,
} from '../../support/test-app.ts';

const [existing, other] = ['/v2/locations', '/v2/instructors'];

type View = { type?: string; properties?: Record<string, unknown> };
type Responses = Record<string, { content?: { 'application/json': { schema: View } } }>;
type Document = { paths: Record<string, { get?: { responses: Responses } }> };

/** One list waits, and one of each other school. */
const buildWithShortQueue = await buildAppWith(
  replaceIn('short-queue', /list-limiter\.ts$/, 'waiting: 1_000', 'waiting: 1'),
);

/** A server that runs that many list queries at once, and a lock that blocks location queries. */
async function openLimitedApp({ concurrency = 1, waitMs = 300_000, responseCacheBytes = 0 } = {}, build?: BuildApp) {
  const name = await ownDatabase();
  const ownLimits = { ...limits, responseCacheBytes, lists: { atOnce: concurrency, waitMs } };
  const testApp = await openTestApp(openTestDatabase(name, { statementMs: 300_000 }), { limits: ownLimits }, build);
  onTestFinished(() => testApp.close());
  const me = await testApp.createProvider();
  const locker = new Client(connectionTo(name));
  await locker.connect();
  onTestFinished(() => locker.end());
  // The first use of a key is recorded after the response and would wait for a lock of the keys as well.
  await me.get('/v2/durations');
  const isKeyUseRecorded = async () => (await locker.query('select from api_key_uses')).rowCount === 1;
  await expect.poll(isKeyUseRecorded).toBe(true);
  return {
    me,
    breakList: () => locker.query('alter table locations rename to elsewhere'),
    createProvider: testApp.createProvider,
    block: (table = 'locations') => locker.query(`begin; lock table ${table} in access exclusive mode`),
    /** Blocks until `releaseMore`. */
    blockMore: (table: string) => locker.query(`savepoint more; lock table ${table} in access exclusive mode`),
    releaseMore: () => locker.query('rollback to savepoint more'),
    release: () => locker.query('rollback'),
    isBlocked: (times = 1) => waitForBlocked(locker, times),
    /** That many lists wait for a slot. */
    isQueued: (lists: number) => expect.poll(() => testApp.app.listCache.limiter!.usage().waiting).toBe(lists),
    /** The next list that waits for a slot may do so until the returned function is called. */
    endWaitByHand() {
      const timers = vi.spyOn(globalThis, 'setTimeout');
      return () => {
        const [end, , reason] = timers.mock.calls.find((call: unknown[]) =>
          call.includes('timed out in the queue'),
        ) as unknown[];
        (end as (reason: unknown) => void)(reason);
      };
    },
    /** Resolves once a list has looked for a cached response that is not there. */
    missesCache() {
      const { lookups } = testApp.app.listCache.responses!;
      const { misses } = lookups;
      return expect.poll(() => lookups.misses).toBe(misses + 1);
    },
    /** The server has noticed that the clients of its sockets are gone. */
    isDisconnected: () =>
      expect
        .poll(() => new Promise((resolve) => testApp.app.server.getConnections((_error, count) => resolve(count))))
        .toBe(0),
    /** Opens a socket for clients that disconnect early or do not read the response. */
    async listening() {
      await testApp.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = testApp.app.server.address() as AddressInfo;
      return (path: string) => {
        const request = httpGet({ port, path, headers: { 'x-api-key': me.apiKey } });
        request.on('error', () => undefined);
        return request;
      };
    },
  };
}

test('a list without a slot in time gets 503 with Retry-After; other requests need no slot', async () => {
  const { me, block, release, isBlocked } = await openLimitedApp({ waitMs: 300 });
  const id = await me.course();
  await block();
  const first = me.get(existing);
  await isBlocked();
  const second = await me.get(other);
  expect([second.status, second.headers['retry-after'], second.headers['etag']]).toEqual([503, '1', undefined]);
  expect(second.json<{ error: string }>().error).toMatch(/^The service is busy or its database out of reach/);
  expect((await me.get(`/v2/courses/${id}`)).status).toBe(200);
  await release();
  expect((await first).status).toBe(200);
  expect((await me.get(other)).status).toBe(200);
});

test('control: with another free slot it succeeds', async () => {
  const { me, block, release, isBlocked } = await openLimitedApp({ concurrency: 2, waitMs: 300 });
  await block();
  const first = me.get(existing);
  await isBlocked();
  expect((await me.get(other)).status).toBe(200);
  await release();
  expect((await first).status).toBe(200);
});

test('waiting requests run one after the other', async () => {
  const { me, block, release, isBlocked, isQueued } = await openLimitedApp();
  await block();
  const all = [existing, other, existing, '/v2/courses', other].map((path, n) => me.get(`${path}?limit=${n + 1}`));
  await isBlocked();
  await isQueued(4);
  await release();
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test('a failing list releases its slot', async () => {
  const { me, breakList } = await openLimitedApp({ waitMs: 300 });
  await breakList();
  expect((await me.get(existing)).status).toBe(503);
  expect((await me.get(other)).status).toBe(200);
});

test('304s, errors and cached responses need no slot', async () => {
  const { me, block, release, isBlocked } = await openLimitedApp({
    waitMs: 300,
    responseCacheBytes: limits.responseCacheBytes ?? 0,
  });
  const { etag } = (await me.get(other)).headers as { etag: string };
  await block();
  const first = me.get(existing);
  await isBlocked();
  const questions = [
    [other, { 'if-none-match': etag }, 304],
    ['/v2/courses?limit=x', {}, 400],
    [other, {}, 200],
    // Its slot is free for another.
    [`${other}?limit=3`, {}, 503],
  ] as const;
  for (const [path, headers, status] of questions) expect((await me.get(path, headers)).status).toBe(status);
  await release();
  expect((await first).status).toBe(200);
});

test('a client that disconnects while waiting leaves the queue without a query', async () => {
  // Nobody else of the school could queue.
  const { me, block, release, isBlocked, isQueued, listening } = await openLimitedApp({}, buildWithShortQueue);
  const request = await listening();
  await block();
  const first = me.get(existing);
  await isBlocked();
  const second = request(`${other}?limit=7`);
  await isQueued(1);
  second.destroy();
  await isQueued(0);
  const sent = await recordStatements(async () => {
    const third = me.get(`${other}?limit=9`);
    await release();
    expect((await third).status).toBe(200);
  });
  expect((await first).status).toBe(200);
  const query = sent.filter(({ text }) => text.includes('"instructors"'));
  expect(query.map(({ values }) => values.includes(8) || values.includes(10))).toEqual([true]);
});

test('a client that disconnects during its query keeps the slot until the query ends', async () => {
  const { me, block, release, isBlocked, isQueued, isDisconnected, listening } = await openLimitedApp();
  const request = await listening();
  await block();
  const first = request(existing);
  await isBlocked();
  first.destroy();
  await isDisconnected();
  const second = me.get(other);
  await isQueued(1);
  await release();
  expect((await second).status).toBe(200);
});

test('a later equal request waits with the first', async () => {
  const { me, block, release, isBlocked, isQueued, endWaitByHand } = await openLimitedApp({
    responseCacheBytes: limits.responseCacheBytes ?? 0,
  });
  await block();
  const holding = me.get(existing);
  await isBlocked();
  const endWait = endWaitByHand();
  const first = me.get(other);
  await isQueued(1);
  const second = me.get(other);
  await isQueued(2);
  endWait();
  expect((await first).status).toBe(503);
  await release();
  expect((await second).status).toBe(200);
  expect((await holding).status).toBe(200);
});

test('a list runs before a second list of another provider', async () => {
  const { me, createProvider, block, blockMore, release, releaseMore, isBlocked, isQueued } = await openLimitedApp({
    concurrency: 2,
  });
  const them = await createProvider();
  await block();
  await blockMore('courses');
  const mine = [me.get(existing), me.get('/v2/courses')];
  await isBlocked(2);
  const third = me.get(`${existing}?limit=3`);
  await isQueued(1);
  const theirs = them.get(other);
  await isQueued(2);
  await releaseMore();
  expect((await theirs).status).toBe(200);
  await release();
  expect((await Promise.all([...mine, third])).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a list runs before a second list of another provider, with a single slot', async () => {
  const { me, createProvider, block, blockMore, release, releaseMore, isBlocked, isQueued } = await openLimitedApp(
    {},
    buildWithShortQueue,
  );
  const them = await createProvider();
  await block();
  await blockMore('courses');
  const first = me.get('/v2/courses');
  await isBlocked();
  const second = me.get(existing);
  await isQueued(1);
  // The queue is full, but not theirs.
  expect((await me.get(other)).status).toBe(503);
  const theirs = them.get(other);
  await isQueued(2);
  await releaseMore();
  expect((await theirs).status).toBe(200);
  await release();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
});

test('a request that waits for an equal in-flight one releases its slot', async () => {
  const { me, block, blockMore, release, releaseMore, isBlocked, isQueued } = await openLimitedApp({
    ...{ concurrency: 2, responseCacheBytes: limits.responseCacheBytes ?? 0 },
  });
  await block();
  await blockMore('courses');
  const first = [me.get('/v2/courses'), me.get('/v2/courses?limit=2')];
  await isBlocked(2);
  const same = [me.get(existing), me.get(existing)];
  await isQueued(2);
  const last = me.get(other);
  await isQueued(3);
  await releaseMore();
  expect((await last).status).toBe(200);
  const sent = await recordStatements(async () => {
    await release();
    expect((await Promise.all([...first, ...same])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
  expect(sent.filter(({ text }) => text.includes('"locations"'))).toEqual([]);
});

test('every list acquires a slot', async () => {
  const { me, block, release, isBlocked } = await openLimitedApp({ waitMs: 50 });
  const id = await me.course();
  const { paths } = dereference<Document>((await me.get('/openapi.json')).json());
  const lists = Object.entries(paths).filter(([, { get }]) => {
    const view = get?.responses['200']?.content?.['application/json'].schema;
    return view?.type === 'array' || view?.properties?.['pagination'];
  });
  await block();
  const first = me.get(existing);
  await isBlocked();
  const without: string[] = [];
  for (const [path] of lists) {
    const { status } = await me.get(`${path.replace(/\{\w+\}/, String(id))}?course_ids=${id}`);
    if (status !== 503) without.push(`${path} ${status}`);
  }
  await release();
  expect((await first).status).toBe(200);
  expect(lists.length).toBeGreaterThan(0);
  expect(without).toEqual([]);
});

test('a client that disconnects before its query key is known blocks no equal request', async () => {
  const { me, block, release, isBlocked, isDisconnected, missesCache, listening } = await openLimitedApp({
    responseCacheBytes: limits.responseCacheBytes ?? 0,
  });
  const request = await listening();
  await block('api_keys');
  const first = request(other);
  await isBlocked();
  first.destroy();
  await isDisconnected();
  const missed = missesCache();
  await release();
  await missed;
  expect((await me.get(other)).status).toBe(200);
});

test('a client that disconnects before its query key is known does not enter the queue', async () => {
  const { me, block, blockMore, release, releaseMore, isBlocked, isQueued, isDisconnected, missesCache, listening } =
    await openLimitedApp({ responseCacheBytes: limits.responseCacheBytes ?? 0 }, buildWithShortQueue);
  const request = await listening();
  await block();
  const first = me.get(existing);
  await isBlocked();
  await blockMore('api_keys');
  const gone = request(other);
  await isBlocked(2);
  gone.destroy();
  await isDisconnected();
  const missed = missesCache();
  await releaseMore();
  await missed;
  await isQueued(0);
  const second = me.get(other);
  await isQueued(1);
  await release();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
});

test('a slow reader blocks nobody', async () => {
  const { me, listening } = await openLimitedApp({ waitMs: 300 });
  const text = 'å'.repeat(60_000);
  for (let n = 0; n < 75; n += 1) await me.course({ text_description: text });
  const request = await listening();
  const slow = request('/v2/courses');
  const [response] = (await once(slow, 'response')) as [IncomingMessage];
  response.pause();
  expect((await me.get(other)).status).toBe(200);
  let length = 0;
  response.on('data', (part: Buffer) => (length += part.length)).resume();
  await once(response, 'end');
  expect(length).toBeGreaterThan(75 * 2 * text.length);
});
