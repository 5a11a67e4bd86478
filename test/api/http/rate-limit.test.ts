import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { createProviderLimits } from '../../../src/http/auth/rate-limit.ts';
import { createTitledProvider, getRootId, setProviderLimit } from '../../../src/domains/school/schools/service.ts';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { readConfig } from '../../support/config.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import {
  limits,
  openTestDatabase,
  openTestApp,
  send,
  sharedTestApp,
  type TestResponse,
} from '../../support/test-app.ts';

/** A test app with a fake clock, advanced by `pass`; one request a second, bursts of three. */
async function openLimitedTestApp(rate = { perSecond: 1, burst: 3 }) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { limits: { ...limits, rate } });
  onTestFinished(testApp.close);
  return testApp;
}
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000);

const names = ['limit', 'remaining', 'reset'];
const limitHeaders = ({ headers }: TestResponse) => Object.keys(headers).filter((name) => name.includes('ratelimit'));
/** Limit, remaining and reset, equal in both header families. */
function reported({ headers }: TestResponse) {
  const [short, long] = ['ratelimit', 'x-ratelimit'].map((family) =>
    names.map((name) => Number(headers[`${family}-${name}`])),
  );
  expect(long).toEqual(short);
  return short;
}

test("a burst passes, the next request gets 429 in each interface's format, and tokens refill", async () => {
  const me = await (await openLimitedTestApp()).createProvider();
  expect(reported(await me.get('/v2/courses'))).toEqual([3, 2, 1]);
  expect(reported(await me.post('/courses', { title: 'Knots' }))).toEqual([3, 1, 2]);
  expect(reported(await me.get('/schools'))).toEqual([3, 0, 3]);

  const rejections = [
    await me.get('/v2/courses'),
    await me.put('/v2/schools', minimalSchool),
    await me.get('/v2/nothing'),
    await me.post('/v2/booking', {}),
    await me.get('/schools'),
    await me.post('/courses', { title: 'More knots' }),
  ];
  for (const rejection of rejections) {
    expect(rejection.status).toBe(429);
    expect(rejection.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': '3;w=3' });
    expect(reported(rejection)).toEqual([3, 0, 3]);
  }
  const said = 'Too many requests';
  const coded = { successful: false, errors: [{ code: 'too_many_requests', message: said }], error: said };
  const [main, older] = [{ error: said }, { status: 'failure', error: said }];
  expect(rejections.map((rejection) => rejection.json<object>())).toEqual([main, main, main, coded, older, older]);

  pass(0.9);
  expect((await me.get('/v2/courses')).status).toBe(429);
  pass(0.1);
  expect(reported(await me.get('/v2/courses'))).toEqual([3, 0, 3]);
  expect((await me.get('/v2/courses')).status).toBe(429);
  pass(60);
  expect(reported(await me.get('/v2/courses'))).toEqual([3, 2, 1]);
});

test('Retry-After is the time to the next token in whole seconds', async () => {
  const me = await (await openLimitedTestApp({ perSecond: 1, burst: 1 })).createProvider();
  await me.get('/v2/schools');
  pass(0.4);
  const rejection = await me.get('/v2/schools');
  expect(rejection.headers['retry-after']).toBe('1');
  pass(Number(rejection.headers['retry-after']));
  expect((await me.get('/v2/schools')).status).toBe(200);
});

test('a 304 costs a quarter of a token', async () => {
  const me = await (await openLimitedTestApp()).createProvider();
  const { etag } = (await me.get('/v2/courses')).headers;
  const revalidate = () => me.get('/v2/courses', { 'if-none-match': String(etag) });
  const remaining: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const again = await revalidate();
    expect(again.status).toBe(304);
    remaining.push(reported(again)?.[1]);
  }
  // Of two tokens left 1.75, 1.5, 1.25, 1 and 0.75.
  expect(remaining).toEqual([1, 1, 1, 1, 0]);
  expect((await revalidate()).status).toBe(429);
  pass(60);
  expect(reported(await revalidate())).toEqual([3, 2, 1]);
});

test('the remaining header includes tokens refilled during the request', async () => {
  const testApp = await openLimitedTestApp();
  const me = await testApp.createProvider();
  const { pool } = testApp.database;
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  vi.spyOn(pool, 'query').mockImplementation(((config: { name?: string }, ...rest: unknown[]) => {
    if (config.name !== 'authenticate') pass(60);
    return query(config, ...rest);
  }) as never);
  expect(reported(await me.get('/v2/schools'))).toEqual([3, 3, 0]);
});

test('all other requests of a valid key count, including errors', async () => {
  const me = await (await openLimitedTestApp({ perSecond: 1, burst: 9 })).createProvider();
  const responses = [
    await me.get('/v2/courses?limit=0'),
    await me.get('/v2/nothing'),
    await me.request('DELETE')('/v2/courses'),
    await me.post('/v2/courses', {}),
    await me.request('HEAD')('/v2/courses'),
    await me.get('/v2/courses'),
    await me.get('/v2/courses'),
  ];
  expect(responses.map(({ status }) => status)).toEqual([400, 404, 405, 400, 200, 200, 200]);
  expect(responses.map((response) => reported(response)![1])).toEqual([8, 7, 6, 5, 4, 3, 2]);
});

test('the limit is per provider and shared by its keys; invalid keys do not consume it', async () => {
  const testApp = await openLimitedTestApp({ perSecond: 1, burst: 1 });
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  expect((await me.get('/v2/schools')).status).toBe(200);
  expect((await me.get('/v2/schools')).status).toBe(429);
  expect((await other.get('/v2/schools')).status).toBe(200);
  const { apiKey } = await createKey(await me.ctx(), {});
  expect((await me.get('/v2/schools', { 'x-api-key': apiKey })).status).toBe(429);
  const wrong = await me.get('/v2/schools', { 'x-api-key': 'wrong' });
  expect([wrong.status, limitHeaders(wrong)]).toEqual([401, []]);
  for (const url of ['/live', '/ready', '/openapi.json', '/docs', '/my'])
    expect(limitHeaders(await me.get(url)), url).toEqual([]);
});

test('without configuration there is no limit and no rate limit header', async () => {
  expect(readConfig({}).rate).toBeUndefined();
  expect(readConfig({ RATE_LIMIT_PER_SECOND: '20' }).rate).toEqual({ perSecond: 20, burst: 40 });
  const { createProvider } = await sharedTestApp();
  const me = await createProvider();
  const responses = await Promise.all(Array.from({ length: 100 }, () => me.get('/v2/durations')));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  for (const url of ['/v2/durations', '/v2/nothing', '/schools']) expect(limitHeaders(await me.get(url))).toEqual([]);
});

test('after sixty invalid keys per minute an IP address gets 429; a valid key still passes', async () => {
  const { INVALID_KEYS_PER_MINUTE } = readConfig({});
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    limits: { ...limits, invalidKeysPerMinute: INVALID_KEYS_PER_MINUTE },
  });
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  const request = (key: string, url = '/v2/courses') =>
    send(testApp.app, { url, headers: { 'x-api-key': key }, remoteAddress: '192.0.2.60' });
  const responses = [];
  for (let turn = 0; turn < 62; turn += 1) responses.push(await request('wrong'));
  expect(responses.map(({ status }) => status)).toEqual([...Array<number>(60).fill(401), 429, 429]);
  for (const url of ['/v2/courses', '/schools']) {
    const rejection = await request('wrong', url);
    expect([rejection.status, Number(rejection.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await request(me.apiKey, url)).status).toBe(200);
  }
  const now = Date.now();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: now + 59_000 });
  expect((await request('wrong')).status).toBe(429);
  vi.setSystemTime(now + 61_000);
  expect((await request('wrong')).status).toBe(401);
});

test('a limit of its own replaces that of the server, for a school and its sub-schools, until it is removed', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const database = openTestDatabase(inject('shared'));
  const providerLimits = createProviderLimits({ perSecond: 1, burst: 5 });
  const testApp = await openTestApp(database, { providerLimits });
  onTestFinished(testApp.close);
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  const child = await createTitledProvider(database, 'Sub-school of a limited one', me.id);
  const asChild = (url: string) => send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': child.apiKey } });
  await setProviderLimit(database, me.id, { perSecond: 1, burst: 2 });
  await providerLimits.load(database);
  expect(reported(await me.get('/v2/courses'))).toEqual([2, 1, 1]);
  expect(reported(await asChild('/v2/courses'))).toEqual([2, 0, 2]);
  expect((await me.get('/v2/courses')).status).toBe(429);
  expect(reported(await other.get('/v2/courses'))).toEqual([5, 4, 1]);
  pass(2);
  expect((await me.get('/v2/whoami')).json().rate_limit).toEqual({ per_second: 1, burst: 2 });

  await setProviderLimit(database, me.id, null);
  await providerLimits.load(database);
  expect(reported(await me.get('/v2/courses'))).toEqual([5, 4, 1]);
  expect([await getRootId(database, child.providerId), await getRootId(database, me.id)]).toEqual([me.id, me.id]);
});
