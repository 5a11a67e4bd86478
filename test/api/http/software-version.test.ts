import { connect, type AddressInfo } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createOrder, createUser } from '../../support/orders.ts';
import { signedInVisitor } from '../../support/pages.ts';
import { limits, openTestDatabase, openTestApp, send, type TestResponse } from '../../support/test-app.ts';

const version = '7.65.43';

async function openNamedTestApp() {
  const rate = { perSecond: 1, burst: 1_000 };
  const options = { version, limits: { ...limits, rate, invalidKeysPerMinute: 3 } };
  const testApp = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(testApp.close);
  return { ...testApp, me: await testApp.createProvider() };
}

/** Header names that disclose the software or its version. */
const names = ['server', 'x-powered-by', 'via', 'x-aspnet-version', 'x-generator', 'x-runtime'];
const software = new RegExp(
  [version, process.versions.node, '0\\.1\\.0'].map((one) => one.replaceAll('.', '\\.')).join('|') +
    '|fastify|node\\.js|express|postgres',
  'i',
);

test('no response header names the software or its version', async () => {
  const { app, me } = await openNamedTestApp();
  const userId = await createUser(me);
  const { participantIds } = await createOrder(me, { courseId: await me.course(), users: [userId] });
  const browser = await signedInVisitor(app, me, userId);
  const { etag } = (await me.get('/v2/courses')).headers;
  const wrongKeys: TestResponse[] = [];
  for (let turn = 0; turn < 4; turn += 1) wrongKeys.push(await me.get('/v2/courses', { 'x-api-key': 'wrong' }));
  const responses = [
    await me.get('/v2/courses'),
    await me.get('/v2/courses', { 'if-none-match': String(etag) }),
    await me.post('/v2/courses', {}),
    await me.get('/v2/nothing'),
    await me.request('DELETE')('/v2/courses'),
    await me.post('/v2/courses', '<a/>', { 'content-type': 'text/xml' }),
    await me.post('/v2/courses', { title: 'x'.repeat(2_000_000) }),
    await me.post('/v2/booking', {}),
    await me.get('/schools'),
    await me.post('/courses', {}),
    ...wrongKeys,
    await me.get('/live'),
    await me.get('/ready'),
    await me.get('/'),
    await me.get('/docs'),
    await me.get('/nothing'),
    await me.get('/%ff'),
    await browser.get('/my'),
    await browser.get(`/my/courses/${participantIds[0]!}`),
    await browser.get(`/my/courses/${participantIds[0]!}/calendar.ics`),
    await browser.get('/my/nothing'),
    await browser.get('/my/sign-in/none'),
  ];
  expect(new Set(responses.map(({ status }) => status))).toEqual(
    new Set([200, 302, 304, 400, 401, 404, 405, 410, 413, 415, 429]),
  );
  for (const { status, headers, text } of responses) {
    expect(Object.keys(headers).filter((name) => names.includes(name))).toEqual([]);
    expect(JSON.stringify(headers)).not.toMatch(software);
    expect(text, String(status)).not.toMatch(software);
  }
});

test('the OpenAPI document has the interface version in its text only', async () => {
  const { app } = await openNamedTestApp();
  for (const url of ['/openapi.json']) {
    const { text, headers } = await send(app, { url });
    expect(text).toContain(version);
    expect(JSON.stringify(headers)).not.toMatch(software);
    expect(text.replaceAll(version, '')).not.toMatch(software);
  }
});

test('errors for malformed HTTP do not name the software or its version', async () => {
  const { app } = await openNamedTestApp();
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const rawResponse = (sent: string) =>
    new Promise<string>((done, failed) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(sent));
      socket.setEncoding('utf8').on('data', (part: string) => (received += part));
      socket.on('close', () => done(received)).on('error', failed);
    });
  for (const sent of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`]) {
    const received = await rawResponse(sent);
    expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(received).not.toMatch(software);
    expect(received).not.toMatch(/^(server|x-powered-by|via):/im);
  }
});
