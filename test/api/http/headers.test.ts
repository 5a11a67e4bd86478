import { request, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { minimalSchool } from '../../support/request-bodies.ts';
import { limits, openTestDatabase, openTestApp, send, sharedPort, sharedTestApp } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();
const me = await createProvider();
const port = await sharedPort();

const overSocket = (options: RequestOptions) =>
  new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent: false, ...options }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
      incoming.on('end', () => resolve({ status: incoming.statusCode, text })).on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });

/** Response to a raw request. */
const overWire = (sent: string) =>
  new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.on('close', () => resolve(text)).on('error', reject);
  });

test('a repeated key header is rejected', async () => {
  for (const path of ['/v2/schools', '/schools']) {
    const response = await overSocket({ path, headers: { 'x-api-key': [me.apiKey, me.apiKey] } });
    expect(response.status).toBe(401);
    expect(response.text).toContain('Wrong API Key');
  }
});

test('a too long header gets a JSON error', async () => {
  const response = await overWire(`GET /v2/schools HTTP/1.1\r\nhost: a\r\nx-api-key: ${'x'.repeat(100_000)}\r\n\r\n`);
  expect(response).toMatch(/^HTTP\/1\.1 431 [^]*application\/json; charset=utf-8[^]*\{"error":"[^"]+"\}$/);
});

test('a too long request gets the error format of its interface', async () => {
  const said = 'Request Header Fields Too Large';
  const bodies = {
    '/v2/courses': { error: said },
    '/schools': { status: 'failure', error: said },
    ...Object.fromEntries(
      ['/v2/booking', '/v2/vouchers/validate/x', '/v2/campaigns/validate/x'].map((path) => [
        path,
        { successful: false, errors: [{ code: 'headers_too_large', message: said }], error: said },
      ]),
    ),
  };
  for (const [path, body] of Object.entries(bodies)) {
    const response = await overWire(`GET ${path}?a=${'x'.repeat(60_000)} HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(response.split('\r\n\r\n')[1]!), path).toEqual(body);
  }
});

test('a request with more than 100 headers is rejected', async () => {
  const withHeaders = (count: number) => ({
    'x-api-key': me.apiKey,
    ...Object.fromEntries(Array.from({ length: count - 3 }, (_, n) => [`x-${n}`, '1'])),
  });
  // In addition to host and connection.
  for (const path of ['/v2/schools', '/schools', '/live'])
    expect((await overSocket({ path, headers: withHeaders(100) })).status, path).toBe(200);
  const { status, text } = await overSocket({ path: '/v2/schools', headers: withHeaders(101) });
  expect([status, JSON.parse(text)]).toEqual([431, { error: 'There are more than 100 headers' }]);
  const old = await overSocket({ path: '/schools', headers: withHeaders(101) });
  expect([old.status, old.text]).toEqual([431, expect.stringContaining('There are more than 100 headers')]);
  const page = await overSocket({ path: '/my/sign-in/none', headers: withHeaders(101) });
  expect([page.status, page.text]).toEqual([431, expect.stringContaining('<html')]);
});

test.each([
  'nonsense\r\n\r\n',
  'GET /v2/schools HTTP/1.1\r\nx-request-id: a\rb: c\r\n\r\n',
  'GET /\0 HTTP/1.1\r\n\r\n',
])('malformed HTTP gets a JSON error: %j', async (sent) => {
  expect(await overWire(sent)).toMatch(/^HTTP\/1\.1 400 [^]*\{"error":"[^"]+"\}$/);
});

const everywhere = [
  '/v2/courses',
  '/v2/schools',
  '/v2/nothing',
  '/schools',
  '/schools/x',
  '/courses',
  '/live',
  '/ready',
  '/x',
];

test.each(['abc', 'A-b_c.9', '550e8400-e29b-41d4-a716-446655440000', 'x'.repeat(64)])(
  'a valid request id is echoed: %s',
  async (id) => {
    for (const url of everywhere)
      expect((await me.get(url, { 'x-request-id': id })).headers['x-request-id'], url).toBe(id);
  },
);

test.each(['', ' ', 'a b', 'x'.repeat(200), 'a\r\nset-cookie: b=1', 'a\nb', 'ø', '<script>', 'a,b', '${x}'])(
  'an invalid request id is replaced: %j',
  async (id) => {
    for (const url of everywhere) {
      const { headers } = await me.get(url, { 'x-request-id': id });
      expect(headers['x-request-id'], url).toMatch(/^[\w.-]{8,64}$/);
      expect(headers['x-request-id']).not.toBe(id);
      expect(headers).not.toHaveProperty('set-cookie');
    }
  },
);

test('every response has a unique request id', async () => {
  const ids = await Promise.all(everywhere.map(async (url) => (await me.get(url)).headers['x-request-id']));
  expect(new Set(ids).size).toBe(everywhere.length);
});

test.each([
  ['?limt=1', 'limt'],
  ['?limt=1&page=1&Page=2&since=3', 'limt, Page, since'],
  ['?x[]=1&y[a]=2', 'x, y[a]'],
  ['?a%20b=1&%0d%0aset-cookie:x=1&c%00=1&%F0%9F%9A%91=1&ok=1', 'ok'],
  ['?%0d%0ax=1', undefined],
  [`?${'x'.repeat(100)}=1`, 'x'.repeat(100)],
  [`?${'x'.repeat(101)}=1&ok=1`, 'ok'],
  ['?limit=1&include[]=products&tag_match=all', undefined],
  ['', undefined],
])('GET /v2/courses%s ignores %s', async (query, ignored) => {
  const { status, headers } = await me.get(`/v2/courses${query}`);
  expect(status).toBe(200);
  expect(headers['x-ignored-parameters']).toBe(ignored);
  expect(headers).not.toHaveProperty('set-cookie');
});

test('at most ten ignored parameters are named', async () => {
  const query = Array.from({ length: 30 }, (_, index) => `p${index}=1`).join('&');
  const { headers } = await me.get(`/v2/durations?${query}`);
  expect(String(headers['x-ignored-parameters']).split(', ')).toEqual(
    Array.from({ length: 10 }, (_, index) => `p${index}`),
  );
});

test.each(['/v2/schools', '/v2/durations', '/v2/course-tags', '/schools'])(
  '%s names ignored parameters',
  async (url) => {
    expect((await me.get(`${url}?limit=1`)).headers['x-ignored-parameters']).toBe('limit');
  },
);

test.each([
  ['GET', '/v2/courses', undefined, 200],
  ['GET', '/v2/schools', undefined, 200],
  ['GET', '/v2/durations', undefined, 200],
  ['GET', '/v2/course-tags', undefined, 200],
  ['POST', '/v2/courses', { title: 'Headers' }, 201],
  ['POST', '/v2/courses', {}, 400],
  ['PUT', '/v2/schools', minimalSchool, 200],
  ['GET', '/v2/nothing', undefined, 404],
  ['DELETE', '/v2/courses', undefined, 405],
  ['GET', '/v2/courses?limit=0', undefined, 400],
  ['GET', '/schools', undefined, 200],
  ['POST', '/courses', { title: 'Headers too' }, 200],
  ['POST', '/schools', {}, 400],
  ['GET', '/courses/1', undefined, 404],
] as const)('%s %s %j: JSON that shared caches may not store', async (method, url, body, status) => {
  for (const key of [me.apiKey, 'wrong']) {
    const response = await me.request(method)(url, body, { 'x-api-key': key });
    expect(response).toMatchObject({
      status: key === me.apiKey ? status : 401,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'private, no-cache',
        vary: 'Accept-Encoding, Accept-Language, X-API-Key',
      },
    });
  }
});

test.each(['/live', '/ready', '/openapi.json'])('%s needs no key', async (url) => {
  const response = await send(app, { url });
  expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
});

test('invalid keys are rate-limited by IP address, valid ones are not', async () => {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    limits: { ...limits, invalidKeysPerMinute: 3 },
  });
  onTestFinished(testApp.close);
  const provider = await testApp.createProvider();
  const wrong = (url: string, remoteAddress: string) =>
    send(testApp.app, { url, headers: { 'x-api-key': 'wrong' }, remoteAddress });

  for (let turn = 0; turn < 3; turn += 1) expect((await wrong('/v2/courses', '192.0.2.1')).status).toBe(401);
  const [main, older] = [await wrong('/v2/courses', '192.0.2.1'), await wrong('/schools', '192.0.2.1')];
  expect([main.status, older.status]).toEqual([429, 429]);
  expect(Number(main.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(main.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(main.json()).toEqual({ error: expect.any(String) as string });
  expect(older.json()).toEqual({ status: 'failure', error: expect.any(String) as string });

  const headers = { 'x-api-key': provider.apiKey };
  expect((await send(testApp.app, { url: '/v2/courses', headers, remoteAddress: '192.0.2.1' })).status).toBe(200);
  expect((await wrong('/v2/courses', '192.0.2.2')).status).toBe(401);
});

test('a database failure does not leak details', async () => {
  const database = openTestDatabase('postgres', {
    connection: { host: '127.0.0.1', port: 1, user: 'someone' },
    acquireMs: 500,
  });
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const headers = { 'x-api-key': me.apiKey, 'x-request-id': 'mine' };
  for (const url of ['/v2/courses', '/v2/schools', '/v2/durations', '/schools']) {
    const response = await send(testApp.app, { url, headers });
    expect(response, response.text).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.anything() as string, 'x-request-id': 'mine' },
    });
    expect(response.json<{ error: string }>().error).toContain('mine');
    expect(response.text).not.toMatch(/select|api_keys|ECONN|127\.0|\bat |\.ts|\/src/i);
  }
  expect((await send(testApp.app, { url: '/live' })).status).toBe(200);
  expect((await send(testApp.app, { url: '/ready' })).status).toBe(503);
  expect((await send(testApp.app, { url: '/v2/courses', headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
});

test.each([
  ['/v2/courses', 'limt, titel, prise, gatherings'],
  ['/courses', 'limt, titel, prise, gatherings'],
])('POST %s names unknown fields of the body', async (url, names) => {
  const me = await createProvider();
  const fields = { title: 'Typed', titel: 'x', 'a b': 1, id: 7, updated_at: 'x', prise: 1, gatherings: [] };
  const { status, headers } = await me.post(`${url}?limt=1&titel=1`, fields);
  expect([200, 201]).toContain(status);
  expect(headers['x-ignored-parameters']).toBe(names);
});

test('unknown members of lists and objects are named with their path, in each kind of body', async () => {
  const me = await createProvider();
  const url = `/v2/courses/${await me.course()}/coursedates`;
  const whole = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 10:00' };
  const gatherings = [whole, { ...whole, tema: 'x', theme: 'y', id: 7, created_at: 'x', 'a b': 1 }];
  const days = { start_at: '2030-06-10', end_at: '2030-06-10', custom_properties: { any: 'x' } };
  const named = 'gatherings[1].tema';
  for (const sent of [gatherings, JSON.stringify(gatherings)]) {
    const { status, headers } = await me.post(url, { ...days, gatherings: sent });
    expect([status, headers['x-ignored-parameters']]).toEqual([201, named]);
  }
  const form = await send(app, {
    method: 'POST',
    url,
    headers: { 'x-api-key': me.apiKey, 'content-type': 'application/x-www-form-urlencoded' },
    payload:
      'start_at=2030-06-10&end_at=2030-06-10&gatherings[0][date]=2030-06-10&gatherings[0][time_start]=09:00&gatherings[0][time_end]=10:00&gatherings[0][tema]=x',
  });
  expect([form.status, form.headers['x-ignored-parameters']]).toEqual([201, 'gatherings[0].tema']);

  const course = { title: 'Members', tags: [{ title: 'A', titel: 'B' }, 'B'], labels: '[{"titel":' };
  expect((await me.post('/v2/courses', course)).headers['x-ignored-parameters']).toBe('tags[0].titel');
  const booking = { config: { reject_passed: 1 }, participants: [{ firstname: 'A', telephone: '1' }] };
  expect((await me.post('/v2/booking', booking)).headers['x-ignored-parameters']).toBe(
    'config.reject_passed, participants[0].telephone',
  );
});

test('at most ten ignored fields are named, also for a rejected body', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, 'x']));
  const { status, headers } = await me.post('/v2/locations', unknown);
  expect(status).toBe(400);
  expect(headers['x-ignored-parameters']).toBe(Array.from({ length: 10 }, (_, index) => `p${index}`).join(', '));
});

test('sending an item back as it was read ignores no field', async () => {
  const me = await createProvider();
  const created = await me.post('/v2/instructors', { firstname: 'Kari', lastname: 'Nordmann' });
  const { id, ...rest } = created.json<{ id: number }>();
  const { status, headers } = await me.put(`/v2/instructors/${id}`, { id, ...rest });
  expect(status, String(status)).toBe(200);
  expect(headers).not.toHaveProperty('x-ignored-parameters');
});

test('an id in a path with a leading zero is rejected', async () => {
  const me = await createProvider();
  const id = await me.course();
  const { coursedate_id } = (
    await me.post(`/v2/courses/${id}/coursedates`, { start_at: '2030-06-10', end_at: '2030-06-10' })
  ).json<{ coursedate_id: number }>();
  const path = (course: string, date: string) => `/v2/courses/${course}/coursedates/${date}`;
  expect((await me.get(`/v2/courses/${id}`)).status).toBe(200);
  expect((await me.get(path(`${id}`, `${coursedate_id}`))).status).toBe(200);
  for (const wrong of [`/v2/courses/0${id}`, path(`0${id}`, `${coursedate_id}`), path(`${id}`, `00${coursedate_id}`)])
    expect((await me.get(wrong)).status, wrong).toBe(404);
  expect((await me.put(`/v2/courses/0${id}`, { title: 'Other' })).status).toBe(404);
});
