import { createHook } from 'node:async_hooks';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, inject, onTestFinished, test } from 'vitest';
import { parseQuery } from '../../../src/http/parsing/query-string.ts';
import { limits, openTestDatabase, openTestApp, send, settings, sharedTestApp } from '../../support/test-app.ts';

const { app } = await sharedTestApp();

async function worldWith(options: Parameters<typeof openTestApp>[1]) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(testApp.close);
  return testApp;
}

const parameters = (count: number) => Array.from({ length: count }, (_, n) => `a[${n}]`).join('&');

test("a query with more than 300 parameters is 400 in the interface's format", async () => {
  expect((await send(app, { url: `/live?${parameters(300)}` })).status).toBe(200);
  for (const url of ['/live', '/v2/courses', '/courses', '/my/sign-in/x']) {
    const { status, text } = await send(app, { url: `${url}?${parameters(301)}` });
    expect(status, url).toBe(400);
    if (!url.startsWith('/my')) expect(text).toContain('The query has more than 300 parameters');
  }
  expect((await send(app, { url: `/courses?${parameters(301)}` })).json()).toMatchObject({ status: 'failure' });
  // Creating an admin user has lists of fields as its format; the list of admin users has the documented one.
  const { text } = await send(app, { url: `/v2/admin-users?${parameters(301)}` });
  expect(JSON.parse(text)).toEqual({ error: 'The query has more than 300 parameters' });
});

/** The number of array elements that `run` reads to copy arrays: by iteration or spreading, or by an array's methods. */
function countCopiedElements(run: () => unknown) {
  const prototype = Array.prototype as unknown as Record<PropertyKey, (this: unknown[], ...args: unknown[]) => unknown>;
  const names = [Symbol.iterator, 'concat', 'slice', 'flat', 'map', 'filter'];
  const originals = names.map((name) => prototype[name]!);
  let copied = 0;
  names.forEach((name, n) => {
    prototype[name] = function count(...args) {
      copied += this.length;
      return originals[n]!.apply(this, args);
    };
  });
  try {
    run();
  } finally {
    names.forEach((name, n) => (prototype[name] = originals[n]!));
  }
  return copied;
}

test.each(['[]', '', '[n]'])('a list of a%s is parsed without a copy for each value', (form) => {
  const count = 300;
  const text = Array.from({ length: count }, (_, n) => `a${form.replace('n', String(n))}=${n}`).join('&');
  expect(parseQuery(text)['a']).toHaveLength(count);
  // A copy for each value would read 45,000 elements.
  expect(countCopiedElements(() => parseQuery(text))).toBeLessThan(10 * count);
});

test('the forms of a list in a query', () => {
  expect({ ...parseQuery('a[]=1&a=2&a[1]=3&b=4&b=5&c[]=6&c[x]=7') }).toEqual({
    a: ['1', '2', '3'],
    b: ['4', '5'],
    c: ['6'],
    'c[x]': '7',
  });
});

test("a body with more than 50,000 values is 400 in the interface's format", async () => {
  const me = await (await sharedTestApp()).createProvider();
  const body = { title: 'Many', tags: Array.from({ length: 50_001 }, () => 1) };
  const [main, older] = [await me.post('/v2/courses', body), await me.post('/courses', body)];
  expect([main.status, older.status]).toEqual([400, 400]);
  expect(main.json()).toEqual({ error: 'The body has more than 50000 values' });
  expect(older.json()).toEqual({ status: 'failure', error: 'The body has more than 50000 values' });
});

test('a body with more than 20,000 named fields is 400, also inside a form text', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '"{[,:\\']));
  // `title` counts as a field, too.
  expect((await me.post('/v2/course-tags', { title: 'Named', ...named(19_999) })).status).toBe(201);
  const refused = [
    await me.post('/v2/course-tags', { title: 'Refused', ...named(20_000) }),
    await me.post('/v2/course-tags', { title: 'Refused', a: { b: named(20_000) } }),
    await me.post('/v2/courses', `title=Refused&tags=${JSON.stringify([named(20_001)])}`, {
      'content-type': 'application/x-www-form-urlencoded',
    }),
  ];
  for (const response of refused)
    expect([response.status, response.json()]).toEqual([400, { error: 'The body has more than 20000 named fields' }]);
  const participants = Array(1_000).fill({ products: Array.from({ length: 220 }, (_, n) => n) });
  for (const sent of [participants, JSON.stringify(participants)]) {
    const response = await me.post('/v2/booking', { coursedate_id: 1, payment_method: 'invoice', participants: sent });
    expect([response.status, response.json<{ error: string }>().error]).toEqual([
      400,
      'The body has more than 50000 values',
    ]);
  }
});

test('a form may repeat a name more than 20 times', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const ids = await Promise.all(
    Array.from({ length: 25 }, async (_, n) => {
      const created = await me.post('/v2/course-tags', { title: `tag ${n}` });
      return created.json<{ id: number }>().id;
    }),
  );
  const payload = `title=Tagged&${ids.map((id) => `tags[]=${id}`).join('&')}`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await me.post('/v2/courses', payload, form)).status).toBe(201);
});

test('/openapi.json is one document with a strong ETag, compressed by Accept-Encoding', async () => {
  const request = (headers: Record<string, string>) => app.inject({ url: '/openapi.json', headers });
  const plain = await request({});
  const document = plain.json<{ servers: unknown }>();
  expect(plain.headers).toMatchObject({ 'cache-control': 'public, max-age=300', vary: 'Accept-Encoding' });
  expect(plain.headers.etag).toMatch(/^"[\w-]{27}"$/);
  expect(document.servers).toMatchObject([{ url: '/' }]);

  const decompress = { gzip: gunzipSync, br: brotliDecompressSync };
  const etags = new Set([plain.headers.etag]);
  for (const encoding of ['gzip', 'br'] as const) {
    const compressed = await request({ 'accept-encoding': encoding });
    expect(compressed.headers['content-encoding']).toBe(encoding);
    expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 8);
    expect(JSON.parse(decompress[encoding](compressed.rawPayload).toString())).toEqual(document);
    const etag = String(compressed.headers.etag);
    etags.add(etag);
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await request({ 'accept-encoding': encoding, 'if-none-match': sent });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    }
  }
  expect(etags.size).toBe(3);
  expect((await request({ 'if-none-match': '"other"' })).statusCode).toBe(200);
});

test('the OpenAPI document is generated once', async () => {
  const { app: own } = await worldWith({});
  let generated = 0;
  const { swagger } = own;
  own.swagger = ((...args: Parameters<typeof swagger>) => {
    generated += 1;
    return swagger(...args);
  }) as typeof swagger;
  for (const encoding of ['identity', 'gzip', 'br', 'gzip'])
    await own.inject({ url: '/openapi.json', headers: { 'accept-encoding': encoding } });
  expect(generated).toBe(1);
  for (const url of ['/docs/json', '/docs/yaml']) {
    const { statusCode, headers } = await own.inject({ url });
    expect([statusCode, headers.location]).toEqual([308, '/openapi.json']);
  }
  expect(generated).toBe(1);
});

test('the document is compressed once per encoding', async () => {
  const { app: own } = await worldWith({});
  let compressions = 0;
  const hook = createHook({ init: (_id, type) => void (compressions += type === 'ZLIB' ? 1 : 0) }).enable();
  onTestFinished(() => void hook.disable());
  const ask = (encoding: string) => own.inject({ url: '/openapi.json', headers: { 'accept-encoding': encoding } });
  await Promise.all(['gzip', 'br', 'gzip', 'br'].map(ask));
  for (const encoding of ['identity', 'gzip', 'br']) expect((await ask(encoding)).statusCode).toBe(200);
  expect(compressions).toBe(2);
});

test('redirects and document contain the base path', async () => {
  const { app: own } = await worldWith({ settings: { ...settings, publicUrl: 'https://school.example/booking' } });
  expect((await send(own, { url: '/' })).headers['location']).toBe('/booking/docs');
  expect((await send(own, { url: '/docs/json' })).headers['location']).toBe('/booking/openapi.json');
  expect((await send(own, { url: '/openapi.json' })).json()).toMatchObject({ servers: [{ url: '/booking' }] });
});

test.each(['/docs/guides/..', '/docs/guides/../x', '/docs/guides/%2e%2e/package.json', '/docs/guides/%2e%2e%2fx'])(
  '%s is 404',
  async (path) => {
    const { app: own } = await worldWith({});
    await own.listen({ host: '127.0.0.1', port: 0 });
    const { port } = own.server.address() as AddressInfo;
    // Over a raw socket: fetch and inject would resolve the dots.
    const response = await new Promise<IncomingMessage>((resolve) => get({ port, path, agent: false }, resolve));
    const body: unknown = await json(response);
    expect([response.statusCode, body]).toEqual([404, { error: 'There is nothing at this path' }]);
  },
);

test('public requests are rate-limited by IP address; keys, /live and /ready are not', async () => {
  const trustProxy = ['127.0.0.1'];
  const testApp = await worldWith({ trustProxy, limits: { ...limits, publicRequestsPerMinute: 5 } });
  const me = await testApp.createProvider();
  const from = (address: string, url: string) =>
    send(testApp.app, { url, headers: { 'x-forwarded-for': address }, remoteAddress: '127.0.0.1' });
  const one = '203.0.113.1';
  for (const url of ['/ready', '/openapi.json', '/docs', '/docs/json', '/my/sign-in/x'])
    expect((await from(one, url)).status, url).not.toBe(429);
  for (const url of ['/metrics', '/openapi.json', '/docs', '/docs/guides/sync', '/my/sign-in/x', '/my/nothing']) {
    const { status, headers } = await from(one, url);
    expect([status, Number(headers['retry-after']) > 0], url).toEqual([429, true]);
  }
  for (const url of ['/live', '/ready']) expect((await from(one, url)).status).toBe(200);
  expect((await from('203.0.113.2', '/ready')).status).toBe(200);
  expect((await me.get('/v2/courses', { 'x-forwarded-for': one })).status).toBe(200);
  for (let n = 0; n < 5; n += 1) await from(`2001:db8::${n}`, '/live');
  expect((await from('2001:db8::ffff', '/docs')).status).toBe(429);
  expect((await from('2001:db8:0:1::1', '/openapi.json')).status).toBe(200);
});

const undecodable = ['/v2/%zz', '/%zz', '/courses/%E0%A4%A', '/v2/booking/%zz', '/docs/%zz'];

test('requests for undecodable paths count by address, behind a trusted proxy too', async () => {
  const { app: own } = await worldWith({
    trustProxy: ['127.0.0.1'],
    limits: { ...limits, publicRequestsPerMinute: undecodable.length },
  });
  const from = (address: string, url: string) =>
    send(own, { url, headers: { 'x-forwarded-for': address }, remoteAddress: '127.0.0.1' });
  for (const url of undecodable) expect((await from('203.0.113.1', url)).status, url).toBe(400);
  const said = 'Too many requests from this address';
  const bodies = {
    '/v2/%zz': { error: said },
    '/courses/%zz': { status: 'failure', error: said },
    '/v2/booking/%zz': {
      successful: false,
      errors: [{ code: 'too_many_requests', message: said }],
      error: said,
    },
    '/v2/participants/%zz/move': { error: said },
    '/v2/participants/%zz': { error: said },
  };
  for (const [url, body] of Object.entries(bodies)) {
    const response = await from('203.0.113.1', url);
    expect([response.status, response.json(), Number(response.headers['retry-after']) > 0]).toEqual([429, body, true]);
  }
  for (const url of ['/docs', '/nothing']) expect((await from('203.0.113.1', url)).status, url).toBe(429);
  expect((await from('203.0.113.2', '/v2/%zz')).status).toBe(400);
});

test('a client that is no trusted proxy cannot choose the address of an undecodable path', async () => {
  const { app: own } = await worldWith({ limits: { ...limits, publicRequestsPerMinute: 1 } });
  const statuses = [];
  for (const address of ['203.0.113.1', '203.0.113.2'])
    statuses.push((await send(own, { url: '/v2/%zz', headers: { 'x-forwarded-for': address } })).status);
  expect(statuses).toEqual([400, 429]);
});

test('OPTIONS counts by address without a limit for publishable keys', async () => {
  const { app: own } = await worldWith({ limits: { ...limits, publicRequestsPerMinute: 3, publishablePerAddress: 0 } });
  const preflight = {
    method: 'OPTIONS',
    headers: { origin: 'https://school.example', 'access-control-request-method': 'GET' },
  } as const;
  for (const [url, status] of [
    ['/v2/courses', 204],
    ['/courses', 405],
    ['/v2/nothing', 404],
  ] as const)
    expect((await send(own, { ...preflight, url })).status, url).toBe(status);
  for (const url of ['/v2/courses', '/courses', '/v2/nothing', '/v2/%zz']) {
    const { status, headers } = await send(own, { ...preflight, url });
    expect([status, Number(headers['retry-after']) > 0], url).toEqual([429, true]);
  }
  expect((await send(own, { ...preflight, url: '/v2/courses', remoteAddress: '203.0.113.2' })).status).toBe(204);
});

test('a 401 has WWW-Authenticate, and a preflight does not count as an invalid key', async () => {
  const { app: own } = await worldWith({ limits: { ...limits, invalidKeysPerMinute: 1 } });
  for (const url of ['/v2/courses', '/schools', '/v2/booking', '/courses']) {
    const preflight = await send(own, { method: 'OPTIONS', url });
    expect([preflight.status, preflight.headers['www-authenticate']], url).toEqual([405, undefined]);
    expect(preflight.headers['allow']).toMatch(/POST|GET/);
  }
  expect((await send(own, { method: 'OPTIONS', url: '/v2/nothing' })).status).toBe(404);
  const wrong = await send(own, { url: '/v2/courses' });
  expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'ApiKey header="X-API-Key"']);
  for (const [method, url] of [
    ['POST', '/v2/booking'],
    ['PUT', '/v2/booking/1/deregister'],
    ['GET', '/schools'],
    ['POST', '/courses'],
  ] as const) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }]) {
      const { status, headers: received } = await send(app, { method, url, headers });
      expect([status, received['www-authenticate']], url).toEqual([401, 'ApiKey header="X-API-Key"']);
    }
  }
});

test('If-None-Match: * is 304 on a list', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const any = await me.get('/v2/courses', { 'if-none-match': '*' });
  expect([any.status, any.text]).toEqual([304, '']);
});
