import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createKey, revokeKey } from '../../../src/domains/school/auth/key-service.ts';
import { execute } from '../../support/booking.ts';
import { freePort } from '../../support/ports.ts';
import {
  connectionTo,
  openTestApp,
  openTestDatabase,
  ownDatabase,
  send,
  type Provider,
  type TestApp,
} from '../../support/test-app.ts';

// The standby is a copy of the database whose courses have another title, and which replays no write.
const primary = await ownDatabase(afterAll);
let standby: string;
let me: Provider;
let courseId: number;
let revocable: { apiKey: string; keyId: number };
let opened: TestApp;

beforeAll(async () => {
  const before = await openTestApp(openTestDatabase(primary));
  me = await before.createProvider();
  courseId = await me.course({ title: 'Read from the primary' });
  revocable = await createKey(await me.ctx(), {});
  await before.close();
  standby = await ownDatabase(afterAll, primary);
  const unguarded = 'set session_replication_role = replica';
  await execute(standby, `${unguarded}; update courses set title = 'Read from the standby'`);
  opened = await openTestApp(openTestDatabase(primary, { readConnection: connectionTo(standby) }));
  afterAll(opened.close);
});

const keyHeaders = () => ({ 'x-api-key': me.apiKey });
let requests = 0;
/** Reads a list whose response is in no cache. */
async function titles(path = '/v2/courses?', { app }: TestApp = opened) {
  const url = `${path}&limit=${(requests += 1)}`;
  const response = await send(app, { url, headers: keyHeaders() });
  expect(response.status).toBe(200);
  return response.json<{ title: string }[]>().map(({ title }) => title);
}

test('a list is read from a standby that has every write of the school', async () => {
  expect(await titles()).toEqual(['Read from the standby']);
  expect(await titles('/v2/courses?include=products')).toEqual(['Read from the standby']);
});

test('items, lists with partners and lists that depend on the time are read from the primary', async () => {
  const { app } = opened;
  const item = await send(app, { url: `/v2/courses/${courseId}`, headers: keyHeaders() });
  expect(item.json<{ title: string }>().title).toBe('Read from the primary');
  expect(await titles('/v2/courses?include_partners=1')).toEqual(['Read from the primary']);
});

test('statements that fail on the standby are run on the primary', async () => {
  await execute(standby, 'alter table courses rename to hidden');
  expect(await titles()).toEqual(['Read from the primary']);
  expect(await titles()).toEqual(['Read from the primary']);
  await execute(standby, 'alter table hidden rename to courses');
  expect(await titles()).toEqual(['Read from the standby']);
});

test('aborted requests give their connections to the standby back', async () => {
  await opened.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = opened.app.server.address() as AddressInfo;
  const aborted = Array.from({ length: 40 }, (_, n) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /v2/courses?limit=${100 + n} HTTP/1.1\r\nhost: x\r\nx-api-key: ${me.apiKey}\r\n\r\n`);
    return new Promise<void>((done) => {
      socket.once('close', () => done());
      setTimeout(() => socket.destroy(), n);
    });
  });
  await Promise.all(aborted);
  await expect.poll(() => titles()).toEqual(['Read from the standby']);
});

test('without a reachable standby the primary is read', async () => {
  const nowhere = { ...connectionTo(standby), port: await freePort() };
  const alone = await openTestApp(openTestDatabase(primary, { readConnection: nowhere }));
  onTestFinished(alone.close);
  for (let n = 0; n < 3; n += 1) expect(await titles('/v2/courses?', alone)).toEqual(['Read from the primary']);
});

test('after a write that the standby has not replayed, the primary is read', async () => {
  const written = await send(opened.app, {
    ...{ method: 'POST', url: '/v2/course-tags', headers: keyHeaders() },
    payload: { title: 'New' },
  });
  expect(written.status).toBeLessThan(300);
  expect(await titles()).toEqual(['Read from the primary']);
});

test('a key that is revoked on the primary is wrong at once', async () => {
  await revokeKey(opened.database, revocable.keyId);
  const { status } = await send(opened.app, { url: '/v2/courses', headers: { 'x-api-key': revocable.apiKey } });
  expect(status).toBe(401);
});
