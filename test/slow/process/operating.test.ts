import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { migrateDatabase } from '../../../src/database/migrate.ts';
import { releases } from '../../../src/database/releases.ts';
import { describeError } from '../../../src/database/describe-error.ts';
import { openEmbeddedDatabase } from '../../../src/embedded-postgres/index.ts';
import { Client, DatabaseError } from 'pg';
import { runCli, startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { asAdmin, openTestDatabase, openTestApp, ownDatabase } from '../../support/test-app.ts';

test('a role without DDL rights starts on a migrated database', async () => {
  const name = await ownDatabase();
  const role = `rows_only_${name}`;
  const admin = openTestDatabase(name, { poolSize: 1 });
  await admin.pool.query(`create role ${role} login password 'rows'`);
  await admin.pool.query(`grant usage on schema drizzle to ${role}`);
  await admin.pool.query(`grant select on drizzle.__drizzle_migrations to ${role}`);
  await admin.pool.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
  await admin.pool.query(`grant usage on all sequences in schema public to ${role}`);
  onTestFinished(async () => {
    await admin.pool.query(`drop owned by ${role}`);
    await admin.pool.query(`drop role ${role}`);
    await admin.close();
  });
  const connection = { ...inject('server'), database: name, user: role, password: 'rows' };
  expect(await migrateDatabase(connection)).toEqual({ applied: 0 });

  const url = new URL(databaseUrl(name));
  url.username = role;
  url.password = 'rows';
  const key = 'key-of-the-first-provider-0123456789';
  const first = { BOOTSTRAP_PROVIDER: 'First', BOOTSTRAP_API_KEY: key };
  const server = await startServer({ DATABASE_URL: url.href, MIGRATE_ON_START: 'true', ...first });
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  const body = new URLSearchParams({ title: 'First aid' });
  const request = { method: 'POST', headers: { 'x-api-key': key }, body };
  expect((await fetch(`${server.url}/v2/courses`, request)).status).toBe(201);
});

test('`migrate` and a start refuse a database that lacks a migration before the latest, as `/ready` does', async () => {
  const name = await ownDatabase();
  const admin = openTestDatabase(name, { poolSize: 1 });
  onTestFinished(admin.close);
  const env = { DATABASE_URL: databaseUrl(name) };
  expect(await runCli(['migrate'], env)).toMatchObject({ code: 0, stdout: 'Already up to date\n' });
  const readRows = async () => (await admin.pool.query('select * from drizzle.__drizzle_migrations order by id')).rows;
  const reason = 'The migration 0003_drop-distributed-change-feed is missing: another one was applied in its place';

  // The latest is pending too, and is not applied either.
  for (const condition of ['id = 4', 'id > 5']) {
    await admin.pool.query(`delete from drizzle.__drizzle_migrations where ${condition}`);
    const rows = await readRows();
    expect(await runCli(['migrate'], env)).toMatchObject({ code: 1, stdout: '', stderr: `error: ${reason}\n` });
    expect(await readRows()).toEqual(rows);
  }
  const migrating = await startServer({ ...env, MIGRATE_ON_START: 'true' });
  expect([await migrating.ended, migrating.errors()]).toEqual([1, `The server could not start: ${reason}\n`]);
  const server = await startServer({ ...env, MIGRATE_ON_START: 'false' });
  const ready = await fetch(`${server.url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', reason }]);
});

test('a server and the command line accept a database of two later releases, and refuse one of three', async () => {
  const name = await ownDatabase();
  const admin = openTestDatabase(name, { poolSize: 1 });
  onTestFinished(admin.close);
  const env = { DATABASE_URL: databaseUrl(name), MIGRATE_ON_START: 'true' };
  const store = (all: string[]) => admin.pool.query('update service_state set releases = $1', [all]);
  const { rows } = await admin.pool.query('select releases from service_state');
  expect(rows).toEqual([{ releases }]);

  await store([...releases, '8.1', '8.2']);
  const server = await startServer(env);
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  expect(await runCli(['provider', 'list'], env)).toMatchObject({ code: 0 });

  await store([...releases, '8.1', '8.2', '9.0']);
  const refused = await startServer(env);
  const text =
    `the database was migrated by version 9.0, 3 releases after this one, ${releases.at(-1)}; ` +
    'a server runs on a database of at most 2 later releases: install 9.0';
  expect([await refused.ended, refused.errors()]).toEqual([1, `The server could not start: ${text}\n`]);
  for (const arguments_ of [['provider', 'list'], ['migrate']]) {
    const command = await runCli(arguments_, env);
    expect([command.code, command.stderr]).toEqual([1, expect.stringContaining(text)]);
  }
});

test('/ready names a read-only database', async () => {
  const name = await ownDatabase();
  await asAdmin(`alter database ${name} set default_transaction_read_only = on`);
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(testApp.close);
  const response = await testApp.app.inject('/ready');
  expect([response.statusCode, response.json()]).toEqual([
    503,
    { status: 'not ready', reason: 'the database is read-only' },
  ]);
});

test('/ready names a standby', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const open = () => openEmbeddedDatabase({ dataDir, fsync: false, settings: { wal_level: 'replica' } });
  const primary = await open();
  const client = new Client(primary.connection);
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  await client.end();
  await migrateDatabase(primary.connection);
  await primary.stop();
  const { data_directory: home } = rows[0]!;
  const { uid, gid } = statSync(home);
  writeFileSync(join(home, 'standby.signal'), '');
  chownSync(join(home, 'standby.signal'), uid, gid);

  const standby = await open();
  onTestFinished(() => standby.stop());
  const testApp = await openTestApp(openTestDatabase('postgres', { connection: standby.connection }));
  onTestFinished(testApp.close);
  const answer = await testApp.app.inject('/ready');
  expect([answer.statusCode, answer.json()]).toEqual([
    503,
    { status: 'not ready', reason: 'the database is a read-only standby' },
  ]);
});

test('an unavailable lock is explained', () => {
  const error = new DatabaseError('canceling statement due to lock timeout', 0, 'error');
  error.code = '55P03';
  expect(describeError(error)).toBe('another transaction holds a lock that this needs; try again later');
});

test('SIGHUP does not stop the server', async () => {
  const server = await startServer({ DATABASE_URL: databaseUrl(inject('shared')) });
  server.child.kill('SIGHUP');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await fetch(`${server.url}/live`)).status).toBe(200);
});
