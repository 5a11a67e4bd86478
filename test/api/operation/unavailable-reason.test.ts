import { DrizzleQueryError } from 'drizzle-orm/errors';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, connect } from 'node:tls';
import { Client, type Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { Problem } from '../../../src/core/errors.ts';
import type { DatabaseOptions } from '../../../src/database/client.ts';
import { createKeyedQueue } from '../../../src/database/keyed-queue.ts';
import { unavailableReason } from '../../../src/database/describe-error.ts';
import { createAuthority, createCertificate } from '../../support/certificates.ts';
import { waitForBlocked } from '../../support/locks.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { succeeds } from '../../support/programs.ts';
import { asAdmin, connectionTo, openTestDatabase } from '../../support/test-app.ts';

const shared = inject('shared');

/** Runs work with a database of those options. */
async function withDatabase(options: Partial<DatabaseOptions>, work: (pool: Pick<Pool, 'query'>) => Promise<unknown>) {
  const database = openTestDatabase(shared, options);
  return work(database.pool).finally(() => database.close());
}
const failing = (text: string, options: Partial<DatabaseOptions> = {}) =>
  withDatabase(options, (pool) => pool.query(text));
const raising = (code: string) => failing(`do $$ begin raise exception using errcode = '${code}'; end $$`);

/** Work of one key that waits in a queue of these limits, behind other work. */
async function waitInQueue(waiting: number) {
  const enqueue = createKeyedQueue({ slots: 1, waiting, waitMs: 20 });
  let finish!: () => void;
  const other = new Promise<void>((done) => (finish = done));
  void enqueue([1], () => other);
  await enqueue([1], () => Promise.resolve()).finally(finish);
}

/** A write whose statements are short, and together take longer than it may. */
async function writeTooLong() {
  const database = openTestDatabase(shared, { writeMs: 50, statementMs: 2_000 });
  const write = database.writeNewProvider(null, async ({ tx }) => {
    for (;;) await tx.$client.query('select pg_sleep(0.02)');
  });
  await write.finally(() => database.close());
}

async function useAllConnections() {
  // acquireMs is the time limit of a new connection too.
  const holder = new Client(connectionTo(shared));
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("select pg_advisory_lock(hashtext('use all connections'))");
  await withDatabase({ poolSize: 1, acquireMs: 2_000 }, async (pool) => {
    const blocked = pool.query("select pg_advisory_xact_lock(hashtext('use all connections'))");
    await waitForBlocked(holder, 1);
    await pool
      .query('select 1')
      .finally(() => holder.query("select pg_advisory_unlock(hashtext('use all connections'))"));
    await blocked;
  });
}

/** The server does not answer, as in a network without an error. */
async function askSilentDatabase() {
  const client = new Client({ ...connectionTo(shared), query_timeout: 50 });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('select pg_sleep(0.3)').finally(() => client.end());
}

async function connectToClosedPort() {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  await failing('select 1', { connection: { host: '127.0.0.1', port, user: 'x', database: 'x' } });
}

async function useUnknownCertificate() {
  const folder = temporaryFolder();
  const authority = createAuthority(folder, 'authority');
  const { certificate, key } = createCertificate(folder, 'server', authority, 'IP:127.0.0.1');
  const server = createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await new Promise((_done, failed) => connect({ host: '127.0.0.1', port }).on('error', failed));
}

async function selectWithoutRight() {
  const role = `reader_${process.pid}`;
  await asAdmin(`create role ${role} login password 'pw'`);
  onTestFinished(() => asAdmin(`drop role ${role}`));
  await failing('select from courses', { connection: { ...connectionTo(shared), user: role, password: 'pw' } });
}

const endOwnConnection = () => failing('select pg_terminate_backend(pg_backend_pid())');

test.each<[reason: string, what: string, fail: () => Promise<unknown>]>([
  ['queue_full', 'a full queue', () => waitInQueue(0)],
  ['queue_timeout', 'a wait in a queue', () => waitInQueue(1)],
  ['transaction_timeout', 'a long transaction', writeTooLong],
  ['no_free_connection', 'a pool in use', useAllConnections],
  ['statement_timeout', 'a canceled statement', () => failing('select pg_sleep(1)', { statementMs: 50 })],
  ['statement_timeout', 'a silent database', askSilentDatabase],
  ['disk_full', 'a full disk', () => raising('53100')],
  ['too_many_connections', 'no free connection of the server', () => raising('53300')],
  ['contention', 'a serialization failure', () => raising('40001')],
  ['contention', 'a deadlock', () => raising('40P01')],
  ['contention', 'a lock timeout', () => raising('55P03')],
  ['connection', 'a closed port', connectToClosedPort],
  ['connection', 'a terminated connection', endOwnConnection],
  ['not_migrated_or_granted', 'no database', () => failing('select 1', { connection: connectionTo('no_such_one') })],
  ['not_migrated_or_granted', 'no table', () => failing('select from no_such_table')],
  ['not_migrated_or_granted', 'no function', () => failing('select no_such_function()')],
  ['not_migrated_or_granted', 'no right', selectWithoutRight],
  ['other', 'an error of the code', () => Promise.reject(new Error('the queue was full'))],
])('%s: %s', async (reason, _what, fail) => {
  const error: unknown = await fail().then(
    () => expect.unreachable('it must fail'),
    (thrown: unknown) => thrown,
  );
  expect(unavailableReason(Problem.unavailable('Later', error)), String(error)).toBe(reason);
  // As the query builder wraps it.
  const wrapped = new DrizzleQueryError('select 1', [], error as Error);
  expect(unavailableReason(Problem.unavailable('Later', wrapped))).toBe(reason);
});

test.runIf(succeeds('openssl version'))('certificate: of an unknown authority', async () => {
  const error = await useUnknownCertificate().catch((thrown: unknown) => thrown);
  expect(unavailableReason(Problem.unavailable('Later', error)), String(error)).toBe('certificate');
});

test('a problem without a cause, and a response without a problem', () => {
  expect(unavailableReason(Problem.unavailable('The voucher was spent'))).toBe('other');
  expect(unavailableReason(null)).toBe('not_ready');
});
