import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseError } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { restoreIntoScratch } from '../../../src/plugins/backup/scratch.ts';
import { classifyError, isPreparedStatementError } from '../../../src/core/database-errors.ts';
import { openStore } from '../../../src/database/store.ts';
import { readConfig } from '../../support/config.ts';
import { runCli, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { openTestApp, settings, sharedTestApp } from '../../support/test-app.ts';

async function oneConnection({ port }: { port?: number } = {}) {
  const reported: string[] = [];
  const DATABASE_URL = port === undefined ? databaseUrl(inject('shared')) : urlOf(port);
  const { database } = await openStore(
    readConfig({ DATABASE_URL, TIMEZONE: settings.timezone }),
    ({ message }) => void reported.push(...(message.includes('pooler') ? [message] : [])),
    { poolSize: 1 },
  );
  const testApp = await openTestApp(database);
  onTestFinished(testApp.close);
  const me = await testApp.createProvider();
  const requests = async (n: number) => {
    const created = await me.post('/v2/locations', { title: `Tag ${n} ${Math.random()}` });
    return [created.status, (await me.get('/v2/course-tags')).status, (await me.get('/v2/courses')).status];
  };
  for (let n = 0; n < 3; n += 1) await requests(n);
  const names = async () =>
    (await database.pool.query<{ name: string }>('select name from pg_prepared_statements')).rows.map(
      ({ name }) => name,
    );
  return { database, me, reported, requests, names };
}

/** The URL of the test database at another port. */
function urlOf(port: number) {
  const url = new URL(databaseUrl(inject('shared')));
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}

test('requests succeed after the session lost its prepared statements', async () => {
  const { database, reported, requests, names } = await oneConnection();
  const before = await requests(0);
  expect(before.every((status) => status < 300)).toBe(true);
  expect((await names()).length).toBeGreaterThan(2);
  await database.pool.query('deallocate all');
  expect(await requests(1)).toEqual(before);
  expect(reported).toEqual([]);
});

const advice = /continuing without them: PgBouncer 1\.21 or newer needs max_prepared_statements$/;

test('requests succeed on pooled sessions with foreign prepared statements', async () => {
  const { database, reported, requests, names } = await oneConnection();
  const before = await requests(0);
  const known = await names();
  for (let n = 1; n <= 4; n += 1) {
    await database.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    for (const name of known) await database.pool.query(`prepare "${name}" as select 1`);
    expect(await requests(n)).toEqual(before);
  }
  expect(reported).toEqual([expect.stringMatching(advice)]);
  await database.pool.query('deallocate all');
  expect(await requests(5)).toEqual(before);
  expect(await names()).toEqual([]);
});

type Pooler = {
  /** Sends a process id of its own in the handshake. */
  ownIds?: boolean;
  /** Names of statements that it refuses to prepare. */
  used?: Set<string>;
};

/** A proxy in front of the test server that behaves like a pooler. */
async function portBefore({ ownIds = false, used = new Set() }: Pooler) {
  const { host = '', port = 5432 } = inject('server');
  const proxy = createServer((client) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    client.on('error', () => server.destroy()).on('close', () => server.destroy());
    client.on('data', (data: Buffer) => {
      const name = preparedNames(data).find((one) => used.delete(one));
      if (name === undefined) server.write(data);
      else client.end(nameInUse);
    });
    server.on('error', () => client.destroy());
    server.on('data', (data: Buffer) => {
      const greeting = data.indexOf(Buffer.from('K\0\0\0\x0c', 'latin1'));
      if (ownIds && greeting >= 0) data.writeInt32BE(123, greeting + 5);
      client.write(data);
    });
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  onTestFinished(() => void proxy.close());
  return (proxy.address() as AddressInfo).port;
}

/** The names in the Parse messages of whole messages; none in the start-up message, which has no type. */
function preparedNames(data: Buffer) {
  const names: string[] = [];
  for (let at = 0; data[at] !== 0 && at + 5 <= data.length; at += 1 + data.readInt32BE(at + 1)) {
    if (data[at] === 0x50) names.push(data.toString('utf8', at + 5, data.indexOf(0, at + 5)));
  }
  return names;
}

/** PgBouncer's response when a client prepares a name twice. */
const fields = 'SFATAL\0C08P01\0Mprepared statement name is already in use\0\0';
const nameInUse = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([4 + fields.length]), Buffer.from(fields)]);

test.each([
  ['a write at its lock', /^lock_provider$/],
  ['a write at its audit entry', /^record_change$/],
  ['a read', /^(authenticate|r_.*)$/],
])('requests succeed when PgBouncer finds a name in use: %s', async (_where, pattern) => {
  const used = new Set<string>();
  const { database, me, reported, requests, names } = await oneConnection({ port: await portBefore({ used }) });
  const before = await requests(0);
  expect(before.every((status) => status < 300)).toBe(true);
  const taken = (await names()).filter((name) => pattern.test(name));
  expect(taken).not.toEqual([]);
  for (let n = 1; n <= 3; n += 1) {
    expect(reported).toEqual([]);
    await database.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    used.add(taken[n % taken.length]!);
    expect(await requests(n)).toEqual(before);
    expect(used.size).toBe(0);
  }
  expect(reported).toEqual([expect.stringMatching(advice)]);
  expect((await me.get('/v2/locations')).json()).toHaveLength(7);
});

test('another protocol error of a pooler is 503', () => {
  const error = new DatabaseError('server conn crashed?', 0, 'error');
  error.code = '08P01';
  expect([classifyError(error), isPreparedStatementError(error)]).toEqual([{ kind: 'unavailable' }, false]);
});

test('a restore for a test is skipped through a pooler, whose sessions keep their settings', async () => {
  const connectionString = urlOf(await portBefore({ ownIds: true }));
  const options = { timezone: settings.timezone, isEmbedded: false };
  expect(await restoreIntoScratch({ connectionString }, 'unused.zip', options)).toEqual({
    skipped: 'DATABASE_URL names a pooler, not PostgreSQL itself',
  });
});

test('import rejects a transaction pooler', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const file = join(temporaryFolder(), 'tags.ndjson');
  writeFileSync(file, JSON.stringify({ kind: 'tag', ref: 't', title: 'Tag' }));
  const importOver = async (ownIds: boolean) => {
    const DATABASE_URL = urlOf(await portBefore({ ownIds }));
    const { code, stderr } = await runCli(['import', file, '--provider', String(me.id)], { DATABASE_URL });
    return [code, stderr];
  };
  expect(await importOver(true)).toEqual([
    1,
    'error: This command needs a direct connection: DATABASE_URL must name PostgreSQL, not a pooler\n',
  ]);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
  expect(await importOver(false)).toEqual([0, '']);
});
