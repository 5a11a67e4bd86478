import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { AppOptions } from '../../../src/app.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { deliverySettings } from '../../../src/plugins/delivery/settings.ts';
import { readConfig } from '../../support/config.ts';
import { startServer, databaseUrl } from '../../support/processes.ts';
import {
  limits,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  settings,
  sharedTestApp,
} from '../../support/test-app.ts';

const key = 'chosen-by-the-operator-0123456789';

/** A server process with one provider. */
const startWithKey = async (env: Record<string, string> = {}) =>
  startServer({
    DATABASE_URL: databaseUrl(await ownDatabase()),
    BOOTSTRAP_API_KEY: key,
    BOOTSTRAP_PROVIDER: 'First',
    ...env,
  });

async function worldWith(options: Partial<AppOptions>) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(testApp.close);
  return testApp;
}

/** A raw socket that records what it receives. */
function openSocket(port: number) {
  const socket = connect(port, '127.0.0.1');
  const since = performance.now();
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => (received += part));
  onTestFinished(() => void socket.destroy());
  // These tests write to closed sockets.
  socket.on('error', () => undefined);
  const closed = new Promise<{ received: string; ms: number }>((done) => {
    socket.on('close', () => done({ received, ms: performance.now() - since }));
  });
  return { socket, send: (text: string) => void socket.write(text), received: () => received, closed };
}

const rawPost = (apiKey: string, length: number) =>
  `POST /v2/courses HTTP/1.1\r\nhost: a\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

test('while draining, /ready fails, other requests succeed, and the process exits with 0', async () => {
  const server = await startWithKey({ SHUTDOWN_DRAIN_MS: '1500' });
  const get = (path: string) => fetch(`${server.url}${path}`, { headers: { 'x-api-key': key } });
  expect((await get('/ready')).status).toBe(200);
  const since = performance.now();
  server.child.kill('SIGTERM');
  await expect.poll(async () => (await get('/ready')).status).toBe(503);
  expect(await (await get('/ready')).json()).toEqual({ status: 'not ready', reason: 'draining' });
  const response = await get('/v2/schools');
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  expect((await get('/live')).status).toBe(200);
  expect(await server.ended).toBe(0);
  expect(performance.now() - since).toBeGreaterThan(1_400);
});

test('SIGTERM while a body is still arriving: the request completes', async () => {
  const server = await startWithKey();
  const body = JSON.stringify({ title: 'Slowly sent' });
  const client = openSocket(server.port);
  client.send(rawPost(key, body.length) + body.slice(0, 8));
  await sleep(300);
  server.child.kill('SIGTERM');
  await sleep(500);
  client.send(body.slice(8));
  expect((await client.closed).received).toMatch(/^HTTP\/1\.1 201 [^]*\{"course_id":\d+\}$/);
  expect(await server.ended).toBe(0);
});

const shortly = { requestMs: 600 };

/** A listening test app with short timeouts, checked every two seconds. */
async function startWithShortTimeouts(waits: Partial<typeof limits>) {
  const testApp = await worldWith({ limits: { ...limits, ...waits } });
  await testApp.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = testApp.app.server.address() as AddressInfo;
  return { port, me: await testApp.createProvider() };
}

test.each<[string, Partial<typeof limits>, (apiKey: string) => string]>([
  ['half a header', shortly, () => 'GET /v2/schools HTTP/1.1\r\nhost: a\r\nx-api'],
  ['half a body', shortly, (apiKey) => rawPost(apiKey, 100) + '{"title":"Never'],
])('a client that stops after %s gets 408 and is disconnected', async (_name, waits, sent) => {
  const { port, me } = await startWithShortTimeouts(waits);
  const client = openSocket(port);
  client.send(sent(me.apiKey));
  const { received, ms } = await client.closed;
  expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[^]*\{"error":"Request Timeout"\}$/);
  expect(ms).toBeGreaterThan(550);
  expect(ms).toBeLessThan(600 + 2_000 + 1_500);
  expect((await me.get('/v2/courses')).json()).toEqual([]);
});

test('a client that trickles data is disconnected', async () => {
  const { port, me } = await startWithShortTimeouts(shortly);
  const client = openSocket(port);
  client.send(rawPost(me.apiKey, 100));
  const drip = setInterval(() => client.send(' '), 100);
  const { received, ms } = await client.closed.finally(() => clearInterval(drip));
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  expect(ms).toBeLessThan(600 + 2_000 + 1_500);
});

test('a response slower than the keep-alive timeout is still delivered', async () => {
  const database = openTestDatabase(inject('shared'), { writeMs: 20_000 });
  const testApp = await openTestApp(database, { limits: { ...limits, ...shortly } });
  onTestFinished(testApp.close);
  await testApp.app.listen({ port: 0, host: '127.0.0.1' });
  const me = await testApp.createProvider();
  const existing = database.write([me.id], allAreas, async () => sleep(600 + 3_000 + 1_500));
  const body = JSON.stringify({ title: 'Late' });
  const client = openSocket((testApp.app.server.address() as AddressInfo).port);
  client.send(rawPost(me.apiKey, body.length).replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n') + body);
  expect((await client.closed).received).toMatch(/^HTTP\/1\.1 201 /);
  await existing;
});

test('a client that sends too much gets the error', async () => {
  const server = await startWithKey();
  const length = 50_000_000;
  const head = rawPost(key, length).replace('application/json', 'multipart/form-data; boundary=edge');
  for (let n = 0; n < 5; n += 1) {
    const client = openSocket(server.port);
    client.send(head + 'x'.repeat(length));
    expect((await client.closed).received).toMatch(/^HTTP\/1\.1 413 [^]*\{"error":"The body is too large"\}$/);
  }
});

test('a client that sends a file gets the error after the file', async () => {
  const server = await startWithKey();
  const part = '--edge\r\ncontent-disposition: form-data; name="a"; filename="a.pdf"\r\n\r\n';
  const length = 900_000;
  const head = rawPost(key, length).replace('application/json', 'multipart/form-data; boundary=edge');
  for (let n = 0; n < 5; n += 1) {
    const client = openSocket(server.port);
    // As curl does, it reads once everything is sent.
    client.socket.pause();
    client.send(head + part + 'x'.repeat(length / 2));
    await sleep(500);
    client.send('x'.repeat(length / 2 - part.length));
    await sleep(500);
    client.socket.resume();
    expect((await client.closed).received).toMatch(
      /^HTTP\/1\.1 400 [^]*\{"error":"Files are not accepted, only fields"\}$/,
    );
  }
});

test('a connection serves several requests and is closed once it is idle', async () => {
  const { port, me } = await startWithShortTimeouts({ keepAliveMs: 600 });
  const client = openSocket(port);
  const request = () => client.send(`GET /v2/course-tags HTTP/1.1\r\nhost: a\r\nx-api-key: ${me.apiKey}\r\n\r\n`);
  const responses = () => client.received().split('HTTP/1.1 200 OK').length - 1;
  request();
  await expect.poll(responses).toBe(1);
  await sleep(300);
  request();
  await expect.poll(responses).toBe(2);
  const { ms } = await client.closed;
  expect(ms).toBeGreaterThan(800);
  expect(ms).toBeLessThan(5_000);
});

test('Link uses PUBLIC_URL with its path', async () => {
  const { PUBLIC_URL } = readConfig({ PUBLIC_URL: 'https://booking.example/api/' });
  const me = await (await worldWith({ settings: { ...settings, publicUrl: PUBLIC_URL } })).createProvider();
  const first = await me.course();
  await me.course();
  const { headers } = await me.get('/v2/courses?limit=1', { host: 'elsewhere.example' });
  expect(headers['link']).toBe(`<https://booking.example/api/v2/courses?limit=1&since_id=${first}>; rel="next"`);
});

test('an impossible request timeout is rejected', () => {
  expect(readConfig({ REQUEST_TIMEOUT_MS: '300000' }).REQUEST_TIMEOUT_MS).toBe(300_000);
  expect(() => readConfig({ REQUEST_TIMEOUT_MS: '300001' })).toThrow(
    'REQUEST_TIMEOUT_MS must be a whole number from 1 to 300000',
  );
});

test('a server starts with the longest request timeout', async () => {
  const { app } = await worldWith({ limits: { ...limits, requestMs: 300_000 } });
  await app.listen({ port: 0, host: '127.0.0.1' });
  expect(app.server.headersTimeout).toBe(300_000);
});

test('PUBLIC_URL and CATALOG_URL are normalised like in a browser', () => {
  const config = readConfig({
    PUBLIC_URL: 'HTTPS://Booking.Example:443/Api//',
    CATALOG_URL: 'HTTP://Catalog.Example',
  });
  const { PUBLIC_URL, CATALOG_URL } = config;
  expect([PUBLIC_URL, CATALOG_URL]).toEqual(['https://booking.example/Api', 'http://catalog.example']);
  expect(config.of(deliverySettings).MAIL_FROM).toBe('no-reply@booking.example');
  expect(readConfig({ PORT: '3001' }).PUBLIC_URL).toBe('http://localhost:3001');
  for (const url of ['https://x.example/?a=1', 'https://x.example/#a', 'https://x.example/?', 'mailto:x@x.example'])
    for (const name of ['PUBLIC_URL', 'CATALOG_URL'])
      expect(() => readConfig({ [name]: url })).toThrow(`${name} must be an http or https address without ? and #`);
});

/** Statuses of sequential requests with invalid keys and these forwarded addresses. */
async function wrongKeys(TRUST_PROXY: string, addresses: string[]) {
  const { trustProxy } = readConfig({ TRUST_PROXY });
  const { app } = await worldWith({ trustProxy, limits: { ...limits, invalidKeysPerMinute: 2 } });
  const statuses: number[] = [];
  for (const address of addresses) {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': address };
    statuses.push((await send(app, { url: '/v2/schools', headers, remoteAddress: '192.0.2.7' })).status);
  }
  return statuses;
}
const [one, two] = ['203.0.113.1', '203.0.113.2'];

test('behind a trusted proxy invalid keys count for the forwarded address', async () => {
  const statuses = await wrongKeys('192.0.2.0/24, 10.0.0.1', [one, one, one, two]);
  expect(statuses).toEqual([401, 401, 429, 401]);
});

test('a client cannot spoof its address behind a trusted proxy', async () => {
  const statuses = await wrongKeys('192.0.2.7', [`1.1.1.1, ${one}`, `2.2.2.2, ${one}`, `3.3.3.3, ${one}`]);
  expect(statuses).toEqual([401, 401, 429]);
});

test.each(['', '10.0.0.0/8'])('with TRUST_PROXY %j a forwarded address is ignored', async (trusted) => {
  expect(await wrongKeys(trusted, [one, two, '203.0.113.3'])).toEqual([401, 401, 429]);
});

test('/ redirects to the docs, and the document is OpenAPI 3.1 of this version', async () => {
  const { app } = await sharedTestApp();
  expect((await send(app, { url: '/' })).headers['location']).toBe('/docs');
  const { openapi, info, paths } = (await send(app, { url: '/openapi.json' })).json();
  expect(openapi).toMatch(/^3\.1\./);
  expect(info.version).toBe('test');
  expect(Object.keys(paths as object)).toContain('/v2/courses');
});
