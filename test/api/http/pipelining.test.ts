import { connect, type AddressInfo } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { limits, openTestApp, openTestDatabase } from '../../support/test-app.ts';

/** An app that listens and records the path of each request that it handles. */
async function openServer(publicRequestsPerMinute = 1_000_000) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), {
    limits: { ...limits, publicRequestsPerMinute },
  });
  onTestFinished(testApp.close);
  const handled: string[] = [];
  testApp.app.server.prependListener('request', ({ url = '' }) => void handled.push(url));
  await testApp.app.listen({ host: '127.0.0.1', port: 0 });
  return { ...testApp, handled, port: (testApp.app.server.address() as AddressInfo).port };
}

const requests = (paths: string[], key?: string) =>
  paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n${key ? `x-api-key: ${key}\r\n` : ''}\r\n`).join('');
const numbered = (count: number, path = '/live') => Array.from({ length: count }, (_, n) => `${path}?n=${n}`);

/** Sends a text; reads until there are as many responses, or the server closes the connection. */
const exchange = (port: number, sent: string, expected = Infinity) =>
  new Promise<{ statuses: number[]; text: string; isClosedByServer: boolean }>((resolve) => {
    let [text, isDone] = ['', false];
    const parse = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (parse().length < expected || isDone) return;
      isDone = true;
      socket.end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ statuses: parse(), text, isClosedByServer: !isDone }));
  });

test.each(['without a key', 'with a key'])('8 and 10 pipelined requests %s are answered in order', async (kind) => {
  const { port, createProvider } = await openServer();
  const key = kind === 'with a key' ? (await createProvider()).apiKey : undefined;
  const path = key ? '/v2/durations' : '/nothing';
  for (const count of [8, 10]) {
    const sent = Array.from({ length: count }, (_, n) =>
      requests([path], key).replace('host: a', `host: a\r\nx-request-id: r${n}`),
    );
    const { statuses, text } = await exchange(port, sent.join(''), count);
    expect(statuses).toEqual(Array(count).fill(key ? 200 : 404));
    expect([...text.matchAll(/x-request-id: (r\d+)/g)].map(([, id]) => id)).toEqual(sent.map((_, n) => `r${n}`));
  }
});

test.each(['/live', '/my/sign-in', '/v2/courses'])(
  'a socket with eleven outstanding requests of %s is destroyed, and none is answered',
  async (path) => {
    const { port } = await openServer();
    for (const count of [11, 2_000]) {
      const { text, isClosedByServer } = await exchange(port, requests(numbered(count, path)));
      expect([text, isClosedByServer]).toEqual(['', true]);
    }
    expect((await exchange(port, requests(['/live']), 1)).statuses).toEqual([200]);
  },
);

test('a flood of 2,000 pipelined requests reaches the server as ten', async () => {
  const { port, handled } = await openServer();
  await exchange(port, requests(numbered(2_000)));
  expect(handled).toEqual(numbered(10));
});

test('requests that are answered do not count as outstanding', async () => {
  const { port } = await openServer();
  const statuses: number[] = [];
  await new Promise<void>((done, failed) => {
    let sent = 0;
    const sendFive = () => void socket.write(requests(numbered(5)));
    const socket = connect(port, '127.0.0.1', sendFive);
    socket.setEncoding('utf8').on('data', (part: string) => {
      for (const [, status] of part.matchAll(/HTTP\/1\.1 (\d+)/g)) statuses.push(Number(status));
      if (statuses.length % 5 !== 0) return;
      if ((sent += 1) === 8) socket.end();
      else sendFive();
    });
    socket.on('close', () => done()).on('error', failed);
  });
  expect(statuses).toEqual(Array(40).fill(200));
});

test('above the limit of an address /live and /ready close the connection, everything else is 429', async () => {
  const { app, port } = await openServer(3);
  const ask = (path: string) => exchange(port, requests([path]), 1);
  for (const path of ['/live', '/nothing', '/']) expect((await ask(path)).statuses).not.toEqual([429]);
  for (const path of ['/nothing', '/', '/openapi.json', '/my/sign-in', '/docs', '/docs/nothing'])
    expect((await ask(path)).statuses, path).toEqual([429]);
  for (const path of ['/live', '/ready']) {
    const { statuses, text } = await exchange(port, requests(Array<string>(8).fill(path)));
    expect(statuses, path).toEqual([200]);
    expect(text.toLowerCase()).toContain('connection: close');
  }
  expect((await app.inject({ method: 'POST', url: '/live' })).statusCode).toBe(429);
  const crossSite = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
  expect((await app.inject({ method: 'POST', url: '/my/sign-in', headers: crossSite })).statusCode).toBe(429);
});
