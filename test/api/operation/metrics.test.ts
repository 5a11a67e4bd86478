import { once } from 'node:events';
import { statfsSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { recordResult, recordStart, type RestoreTest } from '../../../src/plugins/backup/runs.ts';
import { openAdminServer } from '../../../src/plugins/operations/metrics/routes.ts';
import { hashPassword } from '../../../src/domains/school/auth/password-service.ts';
import { bookingBody, createBookableDate, person } from '../../support/booking.ts';
import { invite, smtpError, startMailServer, startWorker, switchMails } from '../../support/mail.ts';
import { waitForBlocked } from '../../support/locks.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';
import { createMeasured } from '../../support/metrics.ts';

const token = 'a-token-of-the-metrics';

async function openMeasuredApp(name = inject('shared'), folders?: Record<'data' | 'backups', string>) {
  const database = openTestDatabase(name);
  const { metrics, parts } = await createMeasured({ database, ...(folders && { folders }) }, token);
  const testApp = await openTestApp(database, { parts });
  return { ...testApp, metrics, read: async () => toValues(await metrics.render()) };
}

function newGate() {
  let open!: () => void;
  const gate = new Promise<null>((resolve) => (open = () => resolve(null)));
  return { gate, open };
}

/** Values by series, labels in the order of the text. */
const toValues = (text: string) =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );

const measured = await openMeasuredApp();
afterAll(measured.close);

test('requests are counted by route template, never by path', async () => {
  const me = await measured.createProvider();
  const courseId = await me.course();
  await me.get(`/v2/courses/${courseId}`);
  await me.get('/v2/courses/999999999');
  await me.get('/v2/courses?limit=x');
  await me.request('DELETE')('/v2/course-tags');
  await me.request('PROPFIND')('/v2/course-tags');
  await me.get('/no/such/path-4711');
  const values = await measured.read();
  const requests = (method: string, route: string, status: string) =>
    values[`booking_http_requests_total{method="${method}",route="${route}",status="${status}"}`];
  expect(requests('GET', '/v2/courses/:id', '2xx')).toBe(1);
  expect(requests('GET', '/v2/courses/:id', '4xx')).toBe(1);
  expect(requests('POST', '/v2/courses', '2xx')).toBe(1);
  expect(requests('GET', '/v2/courses', '4xx')).toBe(1);
  expect(requests('other', '/v2/course-tags', '4xx')).toBe(1);
  expect(requests('other', 'unknown', '4xx')).toBeGreaterThanOrEqual(1);
  expect(values['booking_http_request_duration_seconds_count{method="GET",route="/v2/courses/:id"}']).toBe(2);
  const text = Object.keys(values).join('\n');
  for (const part of ['4711', '999999999', me.title, me.apiKey]) expect(text).not.toContain(part);
  expect([...text.matchAll(/route="([^"]*)"/g)].filter(([, route]) => /\d/.test(route!.replace('/v2', '')))).toEqual(
    [],
  );
});

test('bookings, refusals and promotions are counted once they are committed', async () => {
  const me = await measured.createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  const before = await measured.read();
  const key = { 'idempotency-key': `metrics-${dateId}` };
  const first = bookingBody(dateId);
  const booked = await me.post('/v2/booking', first, key);
  expect(booked.status).toBe(201);
  expect((await me.post('/v2/booking', first, key)).status).toBe(201);
  expect((await me.post('/v2/booking', bookingBody(dateId))).status).toBe(400);
  const waiting = bookingBody(dateId, { config: { waiting_list_when_full: true }, participants: [person(), person()] });
  expect((await me.post('/v2/booking', waiting)).status).toBe(201);
  const { booking_id } = booked.json<{ summary: { booking_id: string } }>().summary;
  expect((await me.put(`/v2/booking/${booking_id}/deregister`, {})).status).toBe(200);
  const after = await measured.read();
  const grown = (name: string) => after[name]! - (before[name] ?? 0);
  expect(grown('booking_bookings_total')).toBe(2);
  expect(grown('booking_waiting_list_promotions_total')).toBe(1);
  expect(grown('booking_bookings_refused_total{code="no_seats_available"}')).toBe(1);
});

test('only the attempt that commits is counted, and the others as retries', async () => {
  const me = await measured.createProvider();
  const ctx = await me.ctx();
  const before = await measured.read();
  let attempts = 0;
  await ctx.write(['people'], async ({ tx }) => {
    tx.countEvents('promotions', 7);
    if ((attempts += 1) === 1) await tx.$client.query("do $$ begin raise exception using errcode = '40001'; end $$");
  });
  await ctx.write(['people'], async ({ tx }) => {
    tx.countEvents('promotions', 100);
    tx.rollBack();
  });
  const after = await measured.read();
  const grown = (name: string) => after[name]! - before[name]!;
  expect(attempts).toBe(2);
  expect(grown('booking_waiting_list_promotions_total')).toBe(7);
  expect(grown('booking_database_retries_total{reason="serialization_failure"}')).toBe(1);
});

test('the cache, the queues and the connections are read at the scrape', async () => {
  const me = await measured.createProvider();
  const before = await measured.read();
  await me.get('/v2/locations');
  await me.get('/v2/locations');
  const after = await measured.read();
  const grown = (name: string) => after[name]! - before[name]!;
  expect(grown('booking_response_cache_lookups_total{result="miss"}')).toBe(1);
  expect(grown('booking_response_cache_lookups_total{result="hit"}')).toBe(1);
  expect(grown('booking_response_cache_bytes')).toBeGreaterThan(1_000);
  expect(grown('booking_queue_started_total{queue="lists"}')).toBe(1);
  expect(after['booking_queue_waiting{queue="writes"}']).toBe(0);
  expect(after['booking_database_connections_max']).toBe(4);
  expect(after['booking_database_up']).toBe(1);
  expect(after['booking_database_round_trip_seconds']).toBeGreaterThan(0);
  expect(after['booking_events_total']).toBeGreaterThanOrEqual(0);
});

test('the free space and the size of each disk are those of the operating system', async () => {
  const folder = temporaryFolder();
  const app = await openMeasuredApp(inject('shared'), { data: folder, backups: join(folder, 'later', 'made') });
  const { bsize, blocks } = statfsSync(folder);
  const found = await app.read();
  for (const place of ['data', 'backups']) {
    expect(found[`booking_disk_size_bytes{place="${place}"}`]).toBe(blocks * bsize);
    expect(found[`booking_disk_free_bytes{place="${place}"}`]).toBeGreaterThan(0);
    expect(found[`booking_disk_free_bytes{place="${place}"}`]).toBeLessThan(blocks * bsize);
  }
  await app.close();
});

test('waits in a queue and responses with 503 are counted by reason', async () => {
  const { app, read } = measured;
  const me = await measured.createProvider();
  const ctx = await me.ctx();
  const { gate, open } = newGate();
  const write = ctx.write(['people'], async ({ tx }) => tx.rollBack(await gate));
  const second = me.post('/v2/course-tags', { title: 'Waits' });
  await expect.poll(async () => (await read())['booking_queue_waiting{queue="writes"}'], { interval: 100 }).toBe(1);
  expect((await read())['booking_queue_longest_wait_seconds{queue="writes"}']).toBeGreaterThan(0);
  open();
  await Promise.all([write, second]);
  expect((await read())['booking_queue_wait_seconds_total{queue="writes"}']).toBeGreaterThan(0);

  const broken = { pool: { query: () => Promise.reject(new Error('timeout exceeded when trying to connect')) } };
  const other = await openMeasuredApp();
  Object.assign(other.database, broken);
  const unavailable = await other.app.inject({ url: '/ready' });
  expect(unavailable.statusCode).toBe(503);
  expect((await other.read())['booking_http_unavailable_total{reason="not_ready"}']).toBe(1);
  expect((await other.read())['booking_database_up']).toBe(0);
  expect((await other.read())['booking_outbox_unsent']).toBeUndefined();
  // Each application counts its own requests only.
  expect((await read())['booking_http_unavailable_total{reason="not_ready"}']).toBeUndefined();
  expect(app).not.toBe(other.app);
  await other.close();
});

test('the age of the last good backup is absent until there is one, and a failure is 1 until the next', async () => {
  const one = await openMeasuredApp(await ownDatabase());
  const read = async () => {
    const values = await one.read();
    return ['age_seconds', 'failed', 'restore_test_failed'].map((name) => values[`booking_backup_${name}`]);
  };
  const { pool } = one.database;
  const record = async (ageMs: number, error: string | null, restoreTest: RestoreTest | null = null) => {
    const id = await recordStart(pool, true, new Date(Date.now() - ageMs).toISOString());
    const result = error === null ? { file: 'x.zip', bytes: 1 } : { file: null, bytes: null };
    await recordResult(pool, id, { elapsedMs: 0, restoreTest, error, ...result });
  };
  expect(await read()).toEqual([undefined, 0, 0]);
  await record(9_000_000, null, 'failed');
  await record(6_000_000, null);
  expect(await read()).toEqual([expect.closeTo(6_000, -3), 0, 1]);
  await record(3_000_000, 'there is no space left on the disk', 'passed');
  expect(await read()).toEqual([expect.closeTo(6_000, -3), 1, 0]);
  // One that runs counts neither way.
  await recordStart(pool, true, new Date().toISOString());
  expect(await read()).toEqual([expect.closeTo(6_000, -3), 1, 0]);
  await one.close();
});

test('scrapes at the same time share their values, and a total is absent while the database is away', async () => {
  const texts = await Promise.all([measured.metrics.render(), measured.metrics.render(), measured.metrics.render()]);
  expect(texts.map((text) => [...text.matchAll(/^booking_outbox_unsent \d+$/gm)].length)).toEqual([1, 1, 1]);
  expect(toValues(texts[0])['booking_backup_configured']).toBe(0);
  const other = await openMeasuredApp();
  expect((await other.read())['booking_events_total']).toBeGreaterThanOrEqual(0);
  const { pool } = other.database;
  Object.assign(other.database, { pool: { query: () => Promise.reject(new Error('away')) } });
  expect((await other.read())['booking_events_total']).toBeUndefined();
  Object.assign(other.database, { pool });
  await other.close();
});

test('a refused mail is counted, and waits in the outbox', async () => {
  const one = await openMeasuredApp(await ownDatabase());
  const me = await one.createProvider();
  await switchMails(me, { address_refused: false });
  await invite(me, 'ase@people.example');
  await invite(me, 'nobody@people.example');
  await one.database.pool.query(`update outbox set created_at = now() - interval '100 seconds'`);
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('ase') ? smtpError(451, '4.3.0 Later') : smtpError(550, '5.1.1 No such user')),
  });
  startWorker(one, { to: server.url });
  let values: Record<string, number> = {};
  const attempts = (result: string) => values[`booking_mail_attempts_total{result="${result}"}`];
  const read = async () => {
    values = await one.read();
    const counts = ['sent', 'dropped', 'retried', 'refused', 'failed', 'postponed'].map(attempts);
    return [...counts, values['booking_outbox_unsent']];
  };
  // A failure is counted before it is stored.
  await expect.poll(read).toEqual([0, 0, 1, 1, 0, 0, 1]);
  expect(values['booking_outbox_oldest_seconds']).toBeGreaterThanOrEqual(100);
  expect(values['booking_outbox_oldest_seconds']).toBeLessThan(1_000);
  await one.close();
});

test('an aborted request has a status of its own', async () => {
  const one = await openMeasuredApp();
  const me = await one.createProvider();
  await one.app.listen({ port: 0, host: '127.0.0.1' });
  const received = once(one.app.server, 'request');
  const aborting = connect((one.app.server.address() as AddressInfo).port, '127.0.0.1');
  aborting.write(`POST /v2/courses HTTP/1.1\r\nhost: x\r\nx-api-key: ${me.apiKey}\r\ncontent-length: 50\r\n\r\ntitle`);
  await received;
  aborting.destroy();
  const series = 'booking_http_requests_total{method="POST",route="/v2/courses",status="aborted"}';
  await expect.poll(async () => (await one.read())[series]).toBe(1);
  await one.close();
});

test('connections by state, statements that wait for one, and slow statements', async () => {
  const database = openTestDatabase(inject('shared'), { poolSize: 1 });
  const { metrics, parts } = await createMeasured({ database });
  const { close } = await openTestApp(database, { parts });
  const values = async () => {
    // As at a scrape, without its statements, which would wait too.
    Object.assign(database, { pool: { query: () => Promise.reject(new Error('away')) } });
    const read = toValues(await metrics.render());
    return ['{state="in_use"}', '{state="idle"}', '_waiting'].map((end) => read[`booking_database_connections${end}`]);
  };
  const { pool } = database;
  const holder = new Client(connectionTo(inject('shared')));
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("select pg_advisory_lock(hashtext('connections by state'))");
  const blocked = pool.query("select pg_advisory_xact_lock(hashtext('connections by state'))");
  await waitForBlocked(holder, 1);
  const waiting = pool.query('select 1');
  await expect.poll(values).toEqual([1, 0, 1]);
  // The limit of a slow statement is half a second.
  await waitForBlocked(holder, 1, 0.6);
  await holder.query("select pg_advisory_unlock(hashtext('connections by state'))");
  await Promise.all([blocked, waiting]);
  await expect.poll(values).toEqual([0, 1, 0]);
  expect(toValues(await metrics.render())['booking_database_slow_statements_total']).toBeGreaterThanOrEqual(1);
  await close();
});

test('passwords that wait for the hashing of others', async () => {
  const queue = (values: Record<string, number>) =>
    ['waiting', 'running', 'started_total', 'wait_seconds_total'].map(
      (name) => values[`booking_queue_${name}{queue="passwords"}`]!,
    );
  const before = queue(await measured.read());
  const hashes = Promise.all([1, 2, 3].map((key) => hashPassword('Long enough 1', key)));
  const during = await measured.read();
  expect(queue(during).slice(0, 2)).toEqual([1, 2]);
  expect(during['booking_queue_longest_wait_seconds{queue="passwords"}']).toBeGreaterThan(0);
  await hashes;
  const after = queue(await measured.read());
  expect([after[0], after[1], after[2]! - before[2]!]).toEqual([0, 0, 3]);
  expect(after[3]).toBeGreaterThan(before[3]!);
});

test('/metrics on the public port needs the token', async () => {
  const get = (authorization?: string) =>
    measured.app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } });
  for (const wrong of [undefined, '', token, `Bearer ${token}x`, 'Bearer ', `Basic ${token}`]) {
    const refused = await get(wrong);
    expect([refused.statusCode, refused.body.includes('booking_')]).toEqual([401, false]);
  }
  const response = await get(`Bearer ${token}`);
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toContain('text/plain; version=0.0.4');
  const without = await openTestApp(openTestDatabase(inject('shared')));
  expect((await without.app.inject({ url: '/metrics' })).statusCode).toBe(404);
  await without.close();
});

test('the admin port serves /metrics and nothing else', async () => {
  const admin = await openAdminServer({ metrics: measured.metrics, token: undefined, host: '127.0.0.1', port: 0 });
  const response = await fetch(`${admin.listeningOrigin}/metrics`);
  expect([
    response.status,
    (await response.text()).includes('booking_build_info{version="test",commit="unknown"} 1'),
  ]).toEqual([200, true]);
  expect((await fetch(`${admin.listeningOrigin}/v2/courses`)).status).toBe(404);
  await admin.close();
});
