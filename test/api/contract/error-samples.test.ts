import { expect, test } from 'vitest';
import { addDate } from '../../support/dates.ts';
import { createBookableDate, bookingBody } from '../../support/booking.ts';
import { allowedProfiles } from '../../support/isolation-table.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { dereference } from '../../support/openapi.ts';
import { limits, openTestDatabase, openTestApp, ownDatabase, send, sharedTestApp } from '../../support/test-app.ts';

type Content = Record<string, { schema?: object; examples?: Record<string, { value: object }> }>;
type Operation = { responses: Record<string, { content?: Content }> };
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const testApp = await sharedTestApp();
const me = await testApp.createProvider();
const course = await me.course();
const date = await addDate(me, course);
const full = await createBookableDate(me, { capacityMax: 1 });
await me.post('/v2/booking', bookingBody(full.dateId));

const { paths } = dereference<{ paths: Record<string, Record<string, Operation>> }>(
  (await me.get('/openapi.json')).json(),
);
const listSamples = (type: string) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { content }]) =>
        Object.entries(content?.[type]?.examples ?? {}).map(([name, { value }]) => ({
          path,
          method: method.toUpperCase() as Method,
          status,
          name,
          value,
        })),
      ),
    ),
  );
const samples = listSamples('application/json');
type Sample = (typeof samples)[number];
const of = (...names: string[]) =>
  samples
    .filter(({ name }) => names.includes(name))
    .map((one) => [`${one.method} ${one.path}`, one.name, one] as const);

/** A request that the sample is the response to. */
function requestOf({ path, method, name }: Sample, unknownId = '999999999') {
  const isUnknown = name === 'not_found';
  const named = (id: number) => (isUnknown ? unknownId : String(id));
  const url = path
    .replace('{course_id}', named(course))
    .replace('{payment_id}', named(course))
    .replace('{id}', named(path.includes('{course_id}') ? date : course))
    .replace('{code}', 'unknown');
  const query = [
    ...(name === 'too_many_parameters' ? Array.from({ length: 301 }, (_, n) => `a${n}=1`) : []),
    ...(name === 'forbidden' ? ['partner_id=999999999'] : []),
    ...(name === 'forbidden' && path.includes('/batch/') ? [`course_ids[]=${course}`] : []),
    ...(name === 'not_valid' ? ['limit=0'] : []),
    ...(name === 'gone' ? ['since=unknown'] : []),
    ...(isUnknown && path.includes('campaigns') ? [`course_id=${course}`] : []),
    ...(/(campaigns|vouchers)\/validate$/.test(path) && !(path.includes('vouchers') && name === 'missing')
      ? ['code=unknown']
      : []),
  ];
  const bodies: Record<string, object> = {
    not_found: {
      ...(path.endsWith('/coursedates') && { start_at: '2030-01-01', end_at: '2030-01-01' }),
      ...(path.endsWith('/attendance') && { marks: [{ participant_id: 1, gathering_id: 1, nonce: 'a' }] }),
      ...(path.endsWith('/interests') && { email: 'ida@interest.example' }),
      ...(path.endsWith('/merge') && { into: 1 }),
      ...(path.endsWith('/move') && { coursedate_id: 1 }),
    },
    no_seats_available: bookingBody(full.dateId),
    too_large: { note: 'x'.repeat(limits.bodyBytes) },
  };
  const hasBody = method === 'POST' || method === 'PUT';
  return { method, url: `${url}?${query.join('&')}`, ...(hasBody ? { payload: bodies[name] ?? {} } : {}) };
}

test('every endpoint with a key has samples for each of its error responses', () => {
  const withKey = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => '401' in responses)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(withKey.length).toBeGreaterThan(0);
  for (const name of ['wrong_key', 'too_many_requests', 'internal', 'unavailable'])
    expect(of(name).map(([operation]) => operation)).toEqual(withKey);
  const text = JSON.stringify(
    Object.values(paths)
      .flatMap(Object.values)
      .map(({ responses }: Operation) => responses),
  );
  expect(text).not.toMatch(/"examples":\["(Field|Missing|no_seats)/);
});

test.each(of('wrong_key'))('%s responds as its sample says: %s', async (_operation, _name, sample) => {
  const response = await send(testApp.app, { ...requestOf(sample), headers: { 'x-api-key': 'wrong' } });
  expect([response.status, response.json()]).toEqual([401, sample.value]);
  expect(response.headers['www-authenticate']).toBe('ApiKey header="X-API-Key"');
});

const ofRequests = of(
  ...[
    'missing',
    'not_valid',
    'not_found',
    'no_seats_available',
    'too_many_parameters',
    'forbidden',
    'too_large',
    'gone',
  ],
  // A school without a row has no key; the error needs a removal during the request.
).filter(([operation, name]) => !(name === 'not_found' && /\/(schools|whoami)$/.test(operation)));

test.each(ofRequests)('%s responds as its sample says: %s', async (_operation, _name, sample) => {
  const response = await send(testApp.app, { ...requestOf(sample), headers: { 'x-api-key': me.apiKey } });
  expect([response.status, response.json()]).toEqual([Number(sample.status), sample.value]);
});

const namesItem = of('not_found').filter(([operation]) => /id\}/.test(operation));
const malformedIds = ['0', '-1', '01', 'x', '1.0', '1.5', '1e3', '9007199254740993', '%00', '1%20'];

test.each(namesItem)('%s is 404 for the largest id and malformed ones', async (_operation, _name, sample) => {
  const request = (id: string) => send(testApp.app, { ...requestOf(sample, id), headers: { 'x-api-key': me.apiKey } });
  expect((await request(String(Number.MAX_SAFE_INTEGER))).json()).toEqual(sample.value);
  for (const id of malformedIds) {
    const { status, headers } = await request(id);
    expect([status, headers['x-error-code']], id).toEqual([404, 'resource_not_found']);
  }
});

const publishable = await withProfile(testApp, me, 'publishable');
const refused = of('profile').filter(([operation]) => !allowedProfiles[operation]!.includes('publishable'));

test.each(refused)('%s responds as its sample says: %s', async (_operation, _name, sample) => {
  const response = await send(testApp.app, { ...requestOf(sample), headers: { 'x-api-key': publishable.apiKey } });
  expect([response.status, response.json()]).toEqual([403, sample.value]);
});

test.each(of('unsupported_media_type'))('%s responds as its sample says: %s', async (_operation, _name, sample) => {
  const headers = { 'x-api-key': me.apiKey, 'content-type': 'text/plain' };
  const response = await send(testApp.app, { ...requestOf(sample), payload: 'title', headers });
  expect([response.status, response.json()]).toEqual([415, sample.value]);
});

test.each(of('headers_too_large'))('%s responds as its sample says: %s', async (_operation, _name, sample) => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, '1']));
  const response = await send(testApp.app, { ...requestOf(sample), headers: { 'x-api-key': me.apiKey, ...many } });
  expect([response.status, response.json()]).toEqual([431, sample.value]);
});

const headersOf: Record<string, Record<string, string>> = {
  wrong_key: { 'x-api-key': 'wrong' },
  profile: { 'x-api-key': publishable.apiKey },
  too_large: { 'content-type': 'application/json' },
  unsupported_media_type: { 'content-type': 'text/plain' },
  headers_too_large: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, '1'])),
};

test.each(['/v2/courses', '/v2/booking'])('POST %s sends problem details as its samples say', async (path) => {
  const detailed = listSamples('application/problem+json').filter((one) => one.path === path && one.method === 'POST');
  expect(detailed.map(({ name }) => name)).toEqual([
    ...[path === '/v2/booking' ? 'no_seats_available' : 'missing', 'wrong_key'],
    ...['profile', 'too_large', 'unsupported_media_type', 'too_many_requests'],
    ...['internal', 'unavailable', 'headers_too_large'],
  ]);
  for (const sample of detailed.filter(({ name }) => name in headersOf || name === 'missing')) {
    const headers = { 'x-api-key': me.apiKey, 'x-request-id': 'req-1', accept: 'application/problem+json' };
    const { payload = {}, ...options } = requestOf(sample);
    const response = await send(testApp.app, {
      ...options,
      payload: sample.name === 'unsupported_media_type' ? 'title' : payload,
      headers: { ...headers, ...headersOf[sample.name] },
    });
    expect(response.json(), sample.name).toEqual(sample.value);
  }
});

test('the samples of 403, 413 and 415 are compared with responses', () => {
  expect(of('forbidden').length).toBeGreaterThan(5);
  expect(of('too_large').length).toBeGreaterThan(15);
  expect(of('unsupported_media_type').length).toBe(of('too_large').length);
});

test('the samples of 503 and 429 errors occur on every endpoint', async () => {
  const rate = { perSecond: 0.001, burst: 1 };
  const limited = await openTestApp(openTestDatabase(await ownDatabase()), { limits: { ...limits, rate } });
  const { apiKey } = await limited.createProvider();
  const request = (sample: Sample) =>
    send(limited.app, { ...requestOf(sample), headers: { 'x-api-key': apiKey, 'x-request-id': 'req-1' } });
  await send(limited.app, { method: 'GET', url: '/v2/schools', headers: { 'x-api-key': apiKey } });
  for (const [, , sample] of of('too_many_requests')) {
    const response = await request(sample);
    expect([response.status, response.json()]).toEqual([429, sample.value]);
  }
  await limited.database.close();
  for (const [, , sample] of of('unavailable')) {
    const response = await request(sample);
    expect([response.status, response.json()]).toEqual([503, sample.value]);
    expect(response.headers['retry-after']).toBe('1');
  }
  const [[, , notReady] = []] = of('not_ready');
  const readiness = await send(limited.app, { method: 'GET', url: '/ready' });
  expect([readiness.status, readiness.json()]).toEqual([503, notReady?.value]);
  await limited.app.close();
});
