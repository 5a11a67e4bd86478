import fp from 'fastify-plugin';
import { pino } from 'pino';
import { afterAll, expect, inject, test } from 'vitest';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import type { AppOptions } from '../../../src/app.ts';
import type { RequestLogMode } from '../../../src/http/request-log.ts';
import { bookingBody, createBookableDate, person } from '../../support/booking.ts';
import { limits, openTestApp, openTestDatabase } from '../../support/test-app.ts';

type Line = Record<string, unknown>;

async function openLoggedApp(requestLog: RequestLogMode, options: Partial<AppOptions> = {}) {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const database = openTestDatabase(inject('shared'));
  const testApp = await openTestApp(database, { logger, requestLog, trustProxy: ['127.0.0.1'], ...options });
  afterAll(testApp.close);
  return { ...testApp, lines, logged: () => lines.map((line) => JSON.parse(line) as Line) };
}

const logged = await openLoggedApp('errors');

test('a refused request leaves one line with its code and fields', async () => {
  const me = await logged.createProvider();
  const headers = { 'x-request-id': 'call-of-14-02', 'x-forwarded-for': '203.0.113.9' };
  const response = await me.post('/v2/courses', { level: 'secret-level' }, headers);
  expect([response.status, response.headers['x-request-id']]).toEqual([400, 'call-of-14-02']);
  const { rows } = await logged.database.pool.query<{ id: number }>('select id from api_keys where provider_id = $1', [
    me.id,
  ]);
  expect(logged.logged().filter(({ reqId }) => reqId === 'call-of-14-02')).toEqual([
    {
      ...{ level: 30, time: expect.any(Number), reqId: 'call-of-14-02', method: 'POST', route: '/v2/courses' },
      ...{ address: '203.0.113.9', provider: me.id, key: rows[0]!.id, status: 400, ms: expect.any(Number) },
      ...{ bytes: Buffer.byteLength(response.text), code: 'field_invalid', fields: ['title', 'level'] },
      msg: 'POST /v2/courses 400',
    },
  ]);
});

test('a line says why without fields, by a fixed text', async () => {
  const me = await logged.createProvider();
  await me.post('/v2/courses', '{"title": "secret', { 'content-type': 'application/json' });
  await me.get('/v2/courses/999999999');
  await me.get('/no/such/secret');
  await logged.app.inject({ url: '/v2/courses?title=secret', headers: { 'x-api-key': 'wrong' } });
  const lines = logged.logged().slice(-4);
  expect(lines.map(({ route, status, code, reason }) => [route, status, code, reason])).toEqual([
    ['/v2/courses', 400, 'field_invalid', 'The body is not valid JSON'],
    ['/v2/courses/:id', 404, 'resource_not_found', 'Course not found'],
    ['unknown path', 404, 'resource_not_found', 'There is nothing at this path'],
    ['/v2/courses', 401, 'unauthorized', 'Wrong API Key'],
  ]);
});

test('a refused booking is logged with every code, and no value of it', async () => {
  const me = await logged.createProvider();
  const { dateId } = await createBookableDate(me);
  const one = person({
    firstname: 'Solveig',
    lastname: 'Secretsen',
    email: 'solveig@secret.example',
    phone: '99887766',
  });
  const bad = bookingBody(dateId, {
    currency: 'XYZW',
    participants: [
      { ...one, email: 'no address' },
      { ...one, comment: {} },
    ],
  });
  expect((await me.post('/v2/booking', bad)).status).toBe(400);
  expect(logged.logged().at(-1)).toMatchObject({
    ...{ route: '/v2/booking', code: 'field_invalid,participant_email_invalid_empty' },
    fields: ['currency', 'participants[0].email', 'participants[1].comment'],
  });
  await me.get('/v2/search-users?email=solveig@secret.example&limit=none');
  await me.post('/v2/check-user-credentials', { username: 'solveig@secret.example', password: 'secret-Pa55word' });
  const text = logged.lines.join('');
  for (const value of [
    'Solveig',
    'Secretsen',
    'solveig',
    '99887766',
    'XYZW',
    'no address',
    'secret',
    me.apiKey,
    me.title,
  ])
    expect(text.toLowerCase()).not.toContain(value.toLowerCase());
});

test('the trace id of a valid traceparent is logged', async () => {
  const me = await logged.createProvider();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const send = async (traceparent: string) => {
    await me.get('/v2/courses/999999999', { traceparent });
    return logged.logged().at(-1)!['trace'];
  };
  expect(await send(`00-${traceId}-00f067aa0ba902b7-01`)).toBe(traceId);
  for (const invalid of [
    ...['secret', `ff-${traceId}-00f067aa0ba902b7-01`, `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ...[`00-${traceId}-${'0'.repeat(16)}-01`, `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`],
  ])
    expect(await send(invalid)).toBeUndefined();
});

test('successful requests are logged with `all` only, none with `off`', async () => {
  const [all, off] = [await openLoggedApp('all'), await openLoggedApp('off')];
  for (const one of [all, off, logged]) {
    const me = await one.createProvider();
    one.lines.length = 0;
    await me.get('/v2/locations');
    await me.get('/v2/locations?limit=x');
  }
  expect(all.logged().map(({ status }) => status)).toEqual([200, 400]);
  expect(all.logged()[0]).not.toHaveProperty('code');
  expect(logged.logged().map(({ status }) => status)).toEqual([400]);
  expect(off.lines).toEqual([]);
});

test('aborted and unreadable requests are logged', async () => {
  await logged.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = logged.app.server.address() as AddressInfo;
  const garbage = connect(port, '127.0.0.1').end('GARBAGE secret\r\n\r\n');
  await expect.poll(() => logged.logged().at(-1)).toMatchObject({ msg: 'unreadable request', status: 400 });
  garbage.destroy();
  const me = await logged.createProvider();
  const received = once(logged.app.server, 'request');
  const aborting = connect(port, '127.0.0.1');
  aborting.write(`POST /v2/courses HTTP/1.1\r\nhost: x\r\nx-api-key: ${me.apiKey}\r\ncontent-length: 50\r\n\r\ntitle`);
  await received;
  aborting.destroy();
  await expect.poll(() => logged.logged().some(({ aborted }) => aborted === true)).toBe(true);
  expect(logged.lines.join('')).not.toContain('secret');
});

test('a request whose connection is closed has no address, and causes no error', async () => {
  const tracing = fp(async (app) => {
    app.addHook('onRequest', (request, _reply, done) => {
      request.raw.socket.once('close', () => done()).destroy();
    });
  });
  const closed = await openLoggedApp('all', { parts: [{ instrumentation: tracing }] });
  await closed.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = closed.app.server.address() as AddressInfo;
  for (const path of ['/ready', '/v2/courses'])
    connect(port, '127.0.0.1').write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await expect.poll(() => closed.logged().filter(({ aborted }) => aborted === true).length).toBe(2);
  await closed.app.close();
  expect(closed.logged().filter(({ level }) => (level as number) > 30)).toEqual([]);
});

test('a slow statement is logged by its name, without parameters', async () => {
  const slow: { statement: string; ms: number }[] = [];
  const { database } = logged;
  database.onSlowStatement((statement) => slow.push(statement));
  const before = database.counters.slowStatements;
  await Promise.all([
    database.pool.query({ name: 'a_slow_one', text: 'select pg_sleep($1)', values: [0.6] }),
    // Sent in the same write: its wait for the first is not its own time.
    database.pool.query({ name: 'a_fast_one', text: 'select 1' }),
  ]);
  await database.pool.query({ text: 'select pg_sleep(0.6), $1 from courses limit 1', values: ['secret'] });
  expect(slow).toEqual([
    { statement: 'a_slow_one', ms: expect.any(Number) },
    { statement: expect.stringMatching(/^select courses \(q_.{27}\)$/), ms: expect.any(Number) },
  ]);
  expect(slow[0]!.ms).toBeGreaterThanOrEqual(500);
  expect(database.counters.slowStatements).toBe(before + 2);
});

test('of the refused requests of an address ten get a line, and the others one with their number', async () => {
  const own = await openLoggedApp('errors', { limits: { ...limits, publicRequestsPerMinute: 5 } });
  const from = (address: string, url: string, headers = {}) =>
    own.app.inject({ url, headers: { 'x-forwarded-for': address, ...headers } });
  for (let n = 0; n < 7; n += 1) await from('203.0.113.1', '/nothing');
  for (let n = 0; n < 30; n += 1) await from('203.0.113.1', '/v2/courses', { 'x-api-key': 'wrong' });
  await from('203.0.113.2', '/v2/courses');
  // With a valid key each failure has a line.
  const me = await own.createProvider();
  for (let n = 0; n < 12; n += 1) await me.get('/v2/courses/999999999', { 'x-forwarded-for': '203.0.113.1' });
  const statuses = (address: string) =>
    own.logged().flatMap((line) => (line['address'] === address && 'status' in line ? [line['status']] : []));
  const notFound = Array<number>(12).fill(404);
  expect(statuses('203.0.113.1')).toEqual([404, 404, 404, 404, 404, 429, 429, 401, 401, 401, ...notFound]);
  expect(statuses('203.0.113.2')).toEqual([401]);
  await own.app.close();
  expect(own.logged().filter(({ count }) => count !== undefined)).toEqual([
    expect.objectContaining({ address: '203.0.113.1', count: 27, msg: '27 more requests refused in a minute' }),
  ]);
});
