import { connect, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { AppOptions } from '../../../src/app.ts';
import { createUser } from '../../support/orders.ts';
import { createUserToken, visitor } from '../../support/pages.ts';
import { openTestDatabase, openTestApp, send, settings } from '../../support/test-app.ts';

const publicUrl = 'https://school.example/booking';
const hsts = 'max-age=31536000';

async function openApp(options: Partial<AppOptions> = {}) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    settings: { ...settings, publicUrl },
    ...options,
  });
  onTestFinished(testApp.close);
  return testApp;
}

test('with a PUBLIC_URL of https every response has Strict-Transport-Security', async () => {
  const { app, createProvider } = await openApp();
  const me = await createProvider();
  const userId = await createUser(me);
  const anyone = visitor(app);
  const responses = [
    await me.get('/v2/courses'),
    await me.get('/v2/courses', { 'if-none-match': '*' }),
    await me.get('/courses'),
    await me.post('/v2/courses', {}),
    await me.post('/v2/booking', {}),
    await send(app, { url: '/v2/courses' }),
    await send(app, { method: 'OPTIONS', url: '/v2/courses' }),
    ...(await Promise.all(
      ['/', '/live', '/ready', '/docs', '/openapi.json', '/v2/none', '/none', '/%'].map((url) => send(app, { url })),
    )),
    await anyone.get('/my'),
    await anyone.get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`),
  ];
  expect(responses.map(({ headers }) => headers['strict-transport-security'])).toEqual(responses.map(() => hsts));

  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
    socket.setEncoding('utf8').on('data', (part: string) => (received += part));
    socket.on('close', () => resolve(received)).on('error', reject);
  });
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\nstrict-transport-security: max-age=31536000\r\n[^]*\r\n\r\n\{/);
});

test('over plain http no response has Strict-Transport-Security', async () => {
  const { app, createProvider } = await openApp({ settings });
  const me = await createProvider();
  for (const response of [await me.get('/v2/courses'), await visitor(app).get('/my'), await send(app, { url: '/%' })])
    expect(response.headers).not.toHaveProperty('strict-transport-security');
});

async function openHttpsApp(options: Partial<AppOptions> = {}) {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const testApp = await openApp({ requireHttps: true, trustProxy: ['192.0.2.7'], logger, ...options });
  const warnings = () =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ level }) => level === 40);
  return { ...testApp, warnings };
}
type HttpsApp = Awaited<ReturnType<typeof openHttpsApp>>;

const sendFrom = ({ app }: HttpsApp, remoteAddress: string, url: string, headers: Record<string, string>) =>
  send(app, { url, headers, remoteAddress });

test('with REQUIRE_HTTPS a key over plain http is 403 in the words of its interface, and in the log', async () => {
  const testApp = await openHttpsApp();
  const me = await testApp.createProvider();
  const key = { 'x-api-key': me.apiKey };
  const message = 'Use https: an API key must not be sent over plain http';
  const bodies = {
    '/v2/courses': { error: message },
    '/courses': { status: 'failure', error: message },
    '/v2/vouchers/validate/x': {
      successful: false,
      errors: [{ code: 'forbidden', message }],
      error: message,
    },
  };
  for (const [url, body] of Object.entries(bodies)) {
    const response = await sendFrom(testApp, '192.0.2.7', url, { ...key, 'x-forwarded-proto': 'http' });
    expect([response.status, response.json()], url).toEqual([403, body]);
  }
  const { rows } = await testApp.database.pool.query<{ id: number }>('select id from api_keys where provider_id = $1', [
    me.id,
  ]);
  // One line, although there were three requests.
  expect(testApp.warnings()).toMatchObject([
    { provider: me.id, key: rows[0]!.id, msg: 'An API key was sent over plain http: rotate it' },
  ]);
});

test('with REQUIRE_HTTPS only a trusted proxy tells the protocol, by its last value', async () => {
  const testApp = await openHttpsApp();
  const me = await testApp.createProvider();
  const key = { 'x-api-key': me.apiKey };
  const statusOf = async (address: string, headers: Record<string, string>) =>
    (await sendFrom(testApp, address, '/v2/courses', { ...key, ...headers })).status;
  expect(await statusOf('192.0.2.7', { 'x-forwarded-proto': 'https' })).toBe(200);
  expect(await statusOf('192.0.2.7', { 'x-forwarded-proto': 'https, http' })).toBe(403);
  expect(await statusOf('192.0.2.7', {})).toBe(403);
  expect(await statusOf('203.0.113.9', { 'x-forwarded-proto': 'https' })).toBe(403);
  // Probes and documents carry no key.
  for (const url of ['/live', '/ready', '/openapi.json'])
    expect((await sendFrom(testApp, '203.0.113.9', url, {})).status, url).toBe(200);
});

test('without REQUIRE_HTTPS a key over plain http is accepted', async () => {
  const testApp = await openHttpsApp({ requireHttps: false });
  const me = await testApp.createProvider();
  const headers = { 'x-api-key': me.apiKey, 'x-forwarded-proto': 'http' };
  expect((await sendFrom(testApp, '192.0.2.7', '/v2/courses', headers)).status).toBe(200);
  expect(testApp.warnings()).toEqual([]);
});

test('with REQUIRE_HTTPS pages over plain http redirect to https, and forms are refused', async () => {
  const testApp = await openHttpsApp();
  const { app } = testApp;
  const me = await testApp.createProvider();
  const path = `/my/password/${await createUserToken(me, 'password', await createUser(me))}`;
  const page = await sendFrom(testApp, '192.0.2.7', path, { 'x-forwarded-proto': 'http' });
  expect([page.status, page.headers['location']]).toEqual([308, `${publicUrl}${path}`]);
  const post = (protocol: string) =>
    send(app, {
      ...{ method: 'POST', url: path, remoteAddress: '192.0.2.7', payload: 'password=fjord+and+forest' },
      headers: { 'x-forwarded-proto': protocol, 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await post('http')).status).toBe(403);
  // The link was not used up.
  expect((await post('https')).status).toBe(303);
});
