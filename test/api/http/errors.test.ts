import { expect, test } from 'vitest';
import { newApiKey } from '../../../src/core/api-key.ts';
import { send, sharedTestApp, type TestResponse } from '../../support/test-app.ts';
import { minimalSchool, contentTypeHeader } from '../../support/request-bodies.ts';

const { app, createProvider } = await sharedTestApp();
const me = await createProvider();
const main = [
  ['GET', '/v2/courses'],
  ['POST', '/v2/courses'],
  ['GET', '/v2/schools'],
  ['PUT', '/v2/schools'],
  ['GET', '/v2/durations'],
  ['GET', '/v2/course-tags'],
] as const;
const older = [
  ['GET', '/schools'],
  ['POST', '/schools'],
  ['POST', '/courses'],
] as const;
const routes = [...main, ...older];
const isOlder = (url: string) => !url.startsWith('/v2');
const wrongKey = (url: string) =>
  isOlder(url) ? { status: 'failure', message: 'Wrong API Key' } : { error: 'Wrong API Key' };
/** Asserts the exact error format of the interface and returns the message. */
function reported(url: string, response: TestResponse) {
  const { error, ...rest } = response.json<{ error: string }>();
  expect(rest).toEqual(isOlder(url) ? { status: 'failure' } : {});
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  return error;
}

const flipped = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
const wrongKeys: Record<string, Record<string, string>> = {
  missing: {},
  empty: { 'x-api-key': '' },
  'a blank': { 'x-api-key': ' ' },
  'a word': { 'x-api-key': 'wrong' },
  'well formed but unknown': { 'x-api-key': newApiKey() },
  'of another service': { 'x-api-key': 'sk_live_51H8abcdefghijklmnopqrstuvwxyz0123456789' },
  'a right key with a wrong checksum': { 'x-api-key': flipped(me.apiKey) },
  'a right key cut short': { 'x-api-key': me.apiKey.slice(0, -1) },
  'a right key and more': { 'x-api-key': `${me.apiKey}0` },
  'a right key in capitals': { 'x-api-key': me.apiKey.toUpperCase() },
  'of 8 kB': { 'x-api-key': 'x'.repeat(8_192) },
  SQL: { 'x-api-key': "' or '1'='1' -- and so on and so on" },
  'in another header': { authorization: `Bearer ${me.apiKey}` },
};
test.each(Object.entries(wrongKeys))('a key that is %s is rejected everywhere', async (_name, headers) => {
  for (const [method, url] of routes) {
    const response = await send(app, { method, url, headers });
    expect({ status: response.status, body: response.json<object>() }, `${method} ${url}`).toEqual({
      status: 401,
      body: wrongKey(url),
    });
  }
});

test('a key in the query string is ignored', async () => {
  expect((await send(app, { url: `/v2/courses?x-api-key=${me.apiKey}&api_key=${me.apiKey}` })).status).toBe(401);
});

test('the key header name is case-insensitive', async () => {
  expect((await send(app, { url: '/v2/schools', headers: { 'X-Api-Key': me.apiKey } })).status).toBe(200);
});

test('an invalid key is reported before body errors', async () => {
  const response = await send(app, {
    method: 'POST',
    url: '/v2/courses',
    headers: contentTypeHeader('json'),
    payload: '{',
  });
  expect(response).toMatchObject({ status: 401, text: '{"error":"Wrong API Key"}' });
});

test.each(['/v2', '/v2/', '/v2/nothing', '/v2/courses/1', '/v2/schools/x/y', '/v2/courses.json', '/V2/courses'])(
  '%s is not found',
  async (url) => {
    const response = await me.get(url);
    expect(response.status).toBe(404);
    expect(response.json()).toEqual({ error: expect.any(String) as string });
  },
);

test.each(['/schools/x', '/schools/1', '/courses/1', '/courses/1/2'])(
  '%s is not found, in the legacy format',
  async (url) => {
    const response = await me.get(url);
    expect(response.status).toBe(404);
    expect(reported(url, response)).toBeTruthy();
  },
);

test.each(['/nowhere', '/schoolsx', '/favicon.ico', '/.env', '/live/x', '/v1/courses'])(
  '%s is not found',
  async (url) => {
    const response = await send(app, { url });
    expect(response.status).toBe(404);
    expect(response.json()).toEqual({ error: expect.any(String) as string });
    expect(response.text).not.toContain(url.slice(1));
  },
);

const allowed: Record<string, string> = {
  '/v2/courses': 'GET, HEAD, POST',
  '/v2/schools': 'GET, HEAD, PUT',
  '/v2/durations': 'GET, HEAD',
  '/v2/course-tags': 'GET, HEAD, POST',
  '/v2/courses/1': 'GET, HEAD, DELETE, PUT',
  '/v2/locations/1': 'GET, HEAD, PUT',
  '/v2/instructors/1': 'GET, HEAD, DELETE, PUT',
  '/v2/customers/1': 'GET, HEAD, PUT',
  '/v2/campaigns': 'GET, HEAD, POST',
  '/v2/campaigns/1': 'GET, HEAD, DELETE, PUT',
  '/v2/vouchers/1': 'GET, HEAD, DELETE, PUT',
  '/schools': 'GET, HEAD, POST',
  '/courses': 'POST',
};
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const refused = Object.entries(allowed).flatMap(([url, allow]) =>
  methods.filter((method) => !allow.split(', ').includes(method)).map((method) => [method, url, allow] as const),
);
test.each(refused)('%s %s is not allowed', async (method, url, allow) => {
  for (const path of [url, `${url}/`, `${url}?a=1`]) {
    const response = await me.request(method)(path);
    expect(response).toMatchObject({ status: 405, headers: { allow } });
    if (method !== 'HEAD') expect(reported(url, response)).toBeTruthy();
  }
});

test.each(['/live', '/ready', '/openapi.json'])('%s allows only reading', async (url) => {
  const response = await send(app, { method: 'POST', url });
  expect(response).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

test.each(['/v2/courses', '/v2/schools', '/v2/durations', '/v2/course-tags', '/schools'])(
  '%s accepts a trailing slash, and HEAD has no body',
  async (url) => {
    const [plain, slash, head] = [await me.get(url), await me.get(`${url}/`), await me.request('HEAD')(url)];
    expect(plain.status).toBe(200);
    expect([slash.status, slash.text]).toEqual([200, plain.text]);
    expect([head.status, head.text]).toEqual([200, '']);
  },
);

test.each(['/v2/courses/', '/courses/'])('POST %s creates a course', async (url) => {
  expect((await me.post(url, { title: `Course ${url}` })).json()).toHaveProperty('course_id');
});

test('Accept is not enforced', async () => {
  const response = await me.get('/v2/schools', { accept: 'text/html' });
  expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
});

const schoolOrder = 'title,org_nr,phone,email_admin,post_address,post_zip,post_city';
const { title, phone, ...withoutTwo } = minimalSchool;
test.each([
  ['PUT', '/v2/schools', {}, `Missing field(s): ${schoolOrder}`],
  ['POST', '/schools', {}, `Missing field(s): ${schoolOrder}`],
  ['PUT', '/v2/schools', withoutTwo, 'Missing field(s): title,phone'],
  ['PUT', '/v2/schools', { ...minimalSchool, active: 'x', email: 'x' }, 'Field(s) not valid: active,email'],
  [
    'POST',
    '/schools',
    { email_admin: 'x', title, phone },
    'Missing field(s): org_nr,post_address,post_zip,post_city. Field(s) not valid: email_admin',
  ],
  ['POST', '/v2/courses', {}, 'Missing field(s): title'],
  ['POST', '/courses', {}, 'Missing field(s): title'],
  ['POST', '/v2/courses', { title, price_value: 'x', level: 4 }, 'Field(s) not valid: level,price_value'],
  [
    'POST',
    '/courses',
    { price_value: 'x', level: 4 },
    'Missing field(s): title. Field(s) not valid: level,price_value',
  ],
  ['POST', '/v2/courses', { title, duration_value: 1 }, 'Missing field(s): duration_unit'],
  ['POST', '/courses', { title, duration_unit: 1 }, 'Missing field(s): duration_value'],
  [
    'POST',
    '/v2/courses',
    { title, tags: [{}, {}], labels: ['x'] },
    'Missing field(s): tags[0].title,tags[1].title. Field(s) not valid: labels',
  ],
] as const)('%s %s with %j', async (method, url, body, text) => {
  const response = await me.request(method)(url, body);
  expect(response.status).toBe(400);
  expect(reported(url, response)).toBe(text);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=x&page=0', 'limit,page'],
  ['limit[]=1', 'limit'],
  ['limit=1&limit=1', 'limit'],
  ['page=1e3', 'page'],
  ['since_id=-1', 'since_id'],
  ['since_id=9007199254740992', 'since_id'],
  ['customer_id=x', 'customer_id'],
  ['created_at_min=2026-02-30', 'created_at_min'],
  ['created_at_max=2026-01-01+24:00', 'created_at_max'],
  ['updated_at_min=now', 'updated_at_min'],
  ['updated_at_max=infinity', 'updated_at_max'],
  ['description_language=xx', 'description_language'],
  ['tag_ids=x', 'tag_ids'],
  ['tag_ids=999999999', 'tag_ids'],
  ['tag_match=both', 'tag_match'],
  ['paginate=2', 'paginate'],
  ['include_partners=maybe', 'include_partners'],
  ['partner_id=0', 'partner_id'],
])('GET /v2/courses?%s is not valid', async (query, names) => {
  const response = await me.get(`/v2/courses?${query}`);
  expect(response).toMatchObject({ status: 400, text: `{"error":"Field(s) not valid: ${names}"}` });
});

test('an unknown include is reported with the supported ones', async () => {
  const response = await me.get('/v2/courses?include[]=course&include[]=products');
  expect(response.status).toBe(400);
  expect(response.json<{ error: string }>().error).toMatch(
    /^Field\(s\) not valid: include\. .*products, provider, completion_min_share$/,
  );
  expect(response.text).not.toMatch(/course\b/);
});

test('an empty parameter counts as not sent', async () => {
  await me.course();
  const names = [
    'limit',
    'page',
    'since_id',
    'customer_id',
    'created_at_min',
    'tag_ids',
    'tag_ids[]',
    'include[]',
    'paginate',
  ];
  const all = await me.get('/v2/courses');
  for (const name of [...names, 'tag_match', 'partner_id', 'include_partners', 'description_language']) {
    const response = await me.get(`/v2/courses?${name}=`);
    expect(response.status, name).toBe(200);
    expect(response.text === all.text, name).toBe(true);
  }
});

const secret = 's3cret-value';
test.each([
  [
    'POST',
    '/v2/courses',
    { title: 'A', level: secret, price_value: secret, tags: [secret], type: secret, [secret]: '1' },
  ],
  ['POST', '/courses', { title: 'A', teaching_language: secret, active: secret }],
  ['PUT', '/v2/schools', { ...minimalSchool, email: secret, active: secret }],
  ['POST', '/schools', { title: secret, email_admin: secret }],
  ['GET', `/v2/courses?limit=${secret}&include=${secret}&created_at_min=${secret}&tag_ids=${secret}`, undefined],
  ['GET', `/v2/${secret}`, undefined],
  ['GET', `/schools/${secret}`, undefined],
] as const)('an error never echoes the input: %s %s', async (method, url, body) => {
  const response = await me.request(method)(url, body);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.text).not.toContain(secret);
});

test.each(['/v2/courses', '/courses'])('an equal active title: POST %s', async (url) => {
  await me.post('/v2/courses', { title: `Equal ${url}` });
  const response = await me.post(url, { title: `  EQUAL ${url} ` });
  expect(response.status).toBe(400);
  expect(reported(url, response)).toMatch(/equal title/);
  expect((await me.post(url, { title: `Equal ${url}`, active: 0 })).status).toBeLessThan(300);
});

test('an unapproved partner and an unknown one get the same error', async () => {
  const other = await createProvider();
  const [known, unknown] = [
    await me.get(`/v2/courses?partner_id=${other.id}`),
    await me.get('/v2/courses?partner_id=999999999'),
  ];
  expect(known).toMatchObject({ status: 403, text: unknown.text });
  expect(unknown.status).toBe(403);
});

test.each(['/v2/%ff', '/schools/%ff', '/courses/%e0%a4', '/%', '/v2/%00', '/v2/courses/%2e%2e'])(
  '%s gets a JSON response',
  async (url) => {
    const response = await me.get(url);
    expect([400, 404]).toContain(response.status);
    expect(response.headers['x-request-id']).toBeTruthy();
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(response.json<object>())).toEqual(
      /^\/(schools|courses)/.test(url) ? ['status', 'error'] : ['error'],
    );
  },
);
