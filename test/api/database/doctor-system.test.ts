import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { backupApplication } from '../../../src/database/client.ts';
import { assessBackup } from '../../../src/plugins/backup/watched.ts';
import { backupSettings } from '../../../src/plugins/backup/settings.ts';
import { assessMails, assessWebhooks, mailConditions } from '../../../src/plugins/delivery/watched.ts';
import { assessClock, checkSystem, listChecks, assessRole } from '../../../src/plugins/operations/doctor/system.ts';
import { loadWatched } from '../../../src/interfaces/plugin/define-plugin.ts';
import { formatAge, type CheckContext, type Finding } from '../../../src/interfaces/plugin/checks.ts';
import { assessConnections, assessTables, assessTransactions } from '../../../src/plugins/operations/doctor/load.ts';
import { findBroken } from '../../../src/plugins/operations/doctor/promises.ts';
import { assessCollations, assessSettings, assessVersion } from '../../../src/plugins/operations/doctor/server.ts';
import { plugins } from '../../../src/plugins.ts';
import { readConfig } from '../../support/config.ts';
import { asAdmin, connectionTo, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const config = readConfig({ DATABASE_URL: 'postgres://booking@localhost/booking', BACKUP_AT: 'off' });
const systemChecks = listChecks(await loadWatched(plugins, config));

async function openOwn(options: Parameters<typeof openTestDatabase>[1] = {}, name?: string) {
  const database = openTestDatabase(name ?? (await ownDatabase()), options);
  onTestFinished(() => database.close());
  return database;
}

const examine = async (context: Pick<CheckContext, 'pool'> & Partial<CheckContext>) =>
  checkSystem({ config, ...context }, listChecks(await loadWatched(plugins, context.config ?? config)));
const levelsOf = (findings: Finding[]) =>
  Object.fromEntries(findings.map(({ check, level }) => [check, level]).reverse() as [string, string][]);

test('a database as documented has no error but fsync, which the tests switch off', async () => {
  const name = await ownDatabase();
  const { pool } = await openOwn({}, name);
  const backup = new Client({ ...connectionTo(name), application_name: backupApplication });
  await backup.connect();
  onTestFinished(() => backup.end());
  await backup.query('begin');
  await backup.query('select pg_sleep(1)');
  const findings = await examine({ pool });
  expect(findings.find(({ check }) => check === 'transactions')?.message).toBe('No transaction is open for long');
  const faults = findings.filter(({ level }) => level === 'error').map(({ check }) => check);
  expect(
    faults.filter((check) => check !== 'server settings'),
    JSON.stringify(findings),
  ).toEqual([]);
  expect(levelsOf(findings)).toMatchObject({
    ...{ 'server version': 'ok', encoding: 'ok', collation: 'ok', 'time zone data': 'ok', clock: 'ok' },
    ...{ migrations: 'ok', connections: 'ok', tables: 'ok', transactions: 'ok', backup: 'skipped', mail: 'ok' },
    configuration: 'warning',
  });
  // Nothing is found without a standby.
  const names = systemChecks.map(({ check }) => check).filter((check) => check !== 'standby');
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(names));
});

test('a role of few rights gets a finding for each check, and no check fails', async () => {
  const name = await ownDatabase();
  const role = `few_${name}`;
  await asAdmin(`create role ${role} login password 'x'`);
  const owner = new Client(connectionTo(name));
  await owner.connect();
  onTestFinished(async () => {
    await owner.query(`drop owned by ${role}`);
    await owner.end();
    await asAdmin(`drop role ${role}`);
  });
  await owner.query('begin; select 1');
  const { pool } = await openOwn({ connection: { ...inject('server'), database: name, user: role, password: 'x' } });
  const bare = await examine({ pool });
  expect(bare.filter(({ message }) => message.startsWith('The check failed'))).toEqual([]);
  expect(levelsOf(bare)).toMatchObject({ 'server version': 'ok', encoding: 'ok', connections: 'ok', mail: 'skipped' });
  expect(bare.find(({ message }) => message.includes('cannot be seen'))?.level).toBe('skipped');

  await owner.query('rollback');
  const [, grants] = /```sql\n(grant usage on schema[^`]+)```/.exec(readFileSync('docs/operate/operating.md', 'utf8'))!;
  await owner.query(grants!.replaceAll('booking_runtime', role));
  const roleOf = async (mustMigrate: boolean) => {
    const findings = await examine({ pool, config: { ...config, MIGRATE_ON_START: mustMigrate } });
    return findings.find(({ check }) => check === 'role');
  };
  expect(await roleOf(false)).toMatchObject({ level: 'ok' });
  expect(await roleOf(true)).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('MIGRATE_ON_START') as string,
  });
  await owner.query(`revoke delete on outbox from ${role}`);
  expect(await roleOf(false)).toMatchObject({ level: 'error', message: `The role ${role} lacks delete on outbox` });
});

test('an empty database has pending migrations, and the other checks say that they need tables', async () => {
  const name = `booking_bare_${process.pid}`;
  await asAdmin(`create database ${name} template template0`);
  onTestFinished(() => asAdmin(`drop database ${name} with (force)`));
  const findings = await examine(await openOwn({}, name));
  expect(levelsOf(findings)).toMatchObject({ migrations: 'error', mail: 'skipped', role: 'skipped', clock: 'skipped' });
});

test('a webhook that waits, the lack of a backup and a stored clock ahead are found', async () => {
  const database = await openOwn();
  await database.pool.query(waitingWebhook);
  await database.pool.query(`update service_state set changed_at = now() + interval '1 hour'`);
  const findings = await examine({
    pool: database.pool,
    config: readConfig({ DATABASE_URL: 'postgres://booking@localhost/booking', BACKUP_AT: '03:15' }),
  });
  expect(findings).toContainEqual(expect.objectContaining({ check: 'clock', level: 'warning' }));
  expect(levelsOf(findings)).toMatchObject({ webhooks: 'warning', backup: 'warning' });
  const unencrypted = { level: 'warning', message: '1 webhooks send personal data over plain http' };
  expect(findings).toContainEqual(expect.objectContaining(unencrypted));
});

/** One with an event that is an hour old; without foreign keys. */
const waitingWebhook = `begin;
  set local session_replication_role = replica;
  insert into providers (id, title, slug, created_at, updated_at) overriding system value
    values (1, 'A', 'a', now(), now());
  insert into webhooks (provider_id, url, host, secret, position, position_clock, due_at, created_at, updated_at)
    values (1, 'http://a.example', 'a.example', 'x', 0, 0, now(), now(), now());
  insert into events (provider_id, at, resource, change, resource_id)
    values (1, now() - interval '61 minutes', 'tag', 'created', 1);
  commit`;

const levels = (results: { level: string }[]) => results.map(({ level }) => level);

test('an old version is an error, one that was not tested a warning', () => {
  const level = (major: number) => assessVersion(major, `${major}.1`).level;
  expect([14, 15, 16, 17, 18, 19].map(level)).toEqual(['error', 'ok', 'ok', 'ok', 'ok', 'warning']);
  expect(assessVersion(18, '18.4')).toEqual({ level: 'ok', message: 'PostgreSQL 18.4' });
});

test('settings that lose data are errors', () => {
  const right = { synchronous_commit: 'on', fsync: 'on', full_page_writes: 'on', autovacuum: 'on' };
  expect(levels(assessSettings(right))).toEqual(['ok']);
  expect(levels(assessSettings({ ...right, synchronous_commit: 'remote_write' }))).toEqual(['ok']);
  expect(levels(assessSettings({ ...right, synchronous_commit: 'off', full_page_writes: 'off' }))).toEqual([
    'error',
    'warning',
  ]);
  expect([assessSettings({ ...right, fsync: 'off' }), assessSettings({ ...right, fsync: 'off' }, true)]).toMatchObject([
    [{ level: 'error' }],
    [{ level: 'warning' }],
  ]);
});

test('the last backup is judged by its age, and by its restore for a test', () => {
  const judge = (ageSeconds: number | null, lastRestoreTest: 'passed' | 'failed' | 'skipped' | null = null) =>
    levels(assessBackup({ ageSeconds, lastRestoreTest }));
  expect([judge(null), judge(3_600), judge(100_000, 'passed'), judge(300_000)]).toEqual([
    ...[['warning'], ['ok'], ['warning'], ['error']],
  ]);
  expect([judge(3_600, 'failed'), judge(3_600, 'skipped')]).toEqual([
    ['ok', 'error'],
    ['ok', 'warning'],
  ]);
});

test('a changed collation version is a warning, a missing collation an error', () => {
  const icu = { name: 'und-x-icu', stored: '1', actual: '1' };
  expect(levels(assessCollations([{ name: 'database', stored: null, actual: null }, icu]))).toEqual(['ok']);
  expect(levels(assessCollations([{ name: 'database', stored: '2.30', actual: '2.31' }, icu]))).toEqual(['warning']);
  expect(assessCollations([{ ...icu, actual: '2' }])[0]!.message).toContain('alter collation pg_catalog."und-x-icu"');
  expect(levels(assessCollations([]))).toEqual(['error']);
});

test('the clock is judged beyond the time of the round trip', () => {
  expect(assessClock(-3_000, 1_500).level).toBe('ok');
  expect(assessClock(-3_000, 500)).toEqual({
    level: 'warning',
    message: "The database's clock is 2 seconds behind that of this machine",
  });
  expect(assessClock(120_000, 0).level).toBe('error');
});

test('the tightest limit of connections counts', () => {
  const found = { usable: 97, used: 20, ofService: 10, ofRole: 10, roleLimit: -1, ofDatabase: 12, databaseLimit: -1 };
  expect(assessConnections(found, 4)).toMatchObject([
    { level: 'ok', message: expect.stringMatching(/^20 of 97 /) as string },
  ]);
  expect(levels(assessConnections({ ...found, used: 80 }, 4))).toEqual(['warning']);
  expect(levels(assessConnections({ ...found, used: 95 }, 4))).toEqual(['error']);
  expect(assessConnections({ ...found, roleLimit: 12 }, 4)[0]!.message).toMatch(/^10 of 12 connections of the role/);
  expect(levels(assessConnections({ ...found, databaseLimit: 4 }, 4))).toEqual(['error']);
});

test('dead rows and bloat are judged from a size on', () => {
  const table = { name: 'a', live: 100_000, dead: 9_000, bytes: 200e6, expectedBytes: 100e6 };
  expect(levels(assessTables([table]))).toEqual(['ok']);
  expect(levels(assessTables([{ ...table, dead: 60_000 }]))).toEqual(['warning']);
  expect(levels(assessTables([{ ...table, expectedBytes: 50e6 }]))).toEqual(['warning']);
  expect(levels(assessTables([{ ...table, live: 10, dead: 9_000, bytes: 1e6, expectedBytes: 10 }]))).toEqual(['ok']);
});

test('transactions are judged by their age, also prepared ones', () => {
  const none = { seconds: 0, prepared: 0, hidden: 0, frozenAge: 1_000 };
  expect(levels(assessTransactions(none))).toEqual(['ok']);
  expect(assessTransactions({ ...none, prepared: 3_600 })[0]).toEqual({
    level: 'warning',
    message: 'The oldest prepared transaction is 60 minutes old',
  });
  expect(levels(assessTransactions({ ...none, seconds: 90_000, frozenAge: 600_000_000, hidden: 2 }))).toEqual([
    ...['error', 'warning', 'skipped'],
  ]);
});

test('waiting and failed mails are judged', () => {
  expect(levels(assessMails(null, 0))).toEqual(['ok']);
  expect(levels(assessMails(1_000, 2))).toEqual(['warning', 'warning']);
  expect(levels(assessMails(30_000, 0))).toEqual(['error']);
});

test('late webhooks are judged; one whose endpoint fails is a warning only', () => {
  const state = (name: 'working' | 'failing', oldestSeconds: number | null) => ({
    state: name,
    count: 1,
    oldestSeconds,
  });
  expect(levels(assessWebhooks([]))).toEqual(['ok']);
  expect(levels(assessWebhooks([state('working', 60)]))).toEqual(['ok']);
  expect(levels(assessWebhooks([state('working', 30_000), state('failing', 30_000)]))).toEqual(['error', 'warning']);
  expect(assessWebhooks([state('failing', 7_300)])[1]!.message).toBe(
    '1 webhooks fail; the oldest event that one has not got is 2 hours old',
  );
});

test('a superuser is a warning, except in the embedded database', () => {
  const role = { name: 'postgres', isSuperuser: true, mayCreate: true };
  const judge = (isEmbedded: boolean) => levels(assessRole(role, [], { isEmbedded, mustMigrate: true }));
  expect([judge(true), judge(false)]).toEqual([['ok'], ['warning']]);
});

test('each promise that the configuration breaks is named', () => {
  const broken = (env: NodeJS.ProcessEnv, isEncrypted = false) =>
    findBroken(readConfig(env), { isEncrypted }, mailConditions);
  const right = {
    ...{ DATABASE_URL: 'postgres://u:p@db.example/x', SMTP_URL: 'smtp://mail', PUBLIC_URL: 'https://x.example' },
    ...{ TRUST_PROXY: '10.0.0.0/8', SHUTDOWN_DRAIN_MS: '5000', RATE_LIMIT_PER_SECOND: '20' },
  };
  expect(broken(right, true)).toEqual([]);
  const named = (env: Record<string, string>, isEncrypted = true) => broken({ ...right, ...env }, isEncrypted);
  expect(named({}, false)).toMatchObject([{ message: expect.stringContaining('sslmode') as string }]);
  expect(named({ DATABASE_URL: 'postgres://u:p@database/x' }, false)).toEqual([]);
  for (const [name, value] of [
    ...[
      ['SMTP_URL', ''],
      ['PUBLIC_URL', ''],
      ['PUBLIC_URL', 'http://x.example'],
      ['TRUST_PROXY', ''],
    ],
    ...[
      ['SHUTDOWN_DRAIN_MS', '0'],
      ['RATE_LIMIT_PER_SECOND', '0'],
      ['EVENTS_RETENTION_DAYS', '6'],
    ],
  ] as const)
    expect(named({ [name]: value }), name).toMatchObject([{ message: expect.stringContaining(name) as string }]);
  expect(named({ SMTP_URL: '' })).toMatchObject([
    { message: expect.stringMatching(/^Mails wait: no mail server is set/) },
  ]);
  const toFiles = { SMTP_URL: '', MAIL_TO_FILES: 'true' };
  expect(named(toFiles)).toMatchObject([{ message: expect.stringContaining('mails are files') as string }]);
  expect(broken({ NODE_ENV: 'production', DATABASE_URL: 'embedded' })[0]!.message).toContain('DATABASE_URL');
});

test('ages are in a unit of which there are at least two', () => {
  expect([0, 1, 119, 120, 7_199, 7_200, 180_000].map(formatAge)).toEqual([
    ...['0 seconds', '1 second', '119 seconds', '2 minutes', '119 minutes', '2 hours', '2 days'],
  ]);
});

test('docs/operate/operating.md lists each check of doctor', () => {
  const page = readFileSync('docs/operate/operating.md', 'utf8');
  expect(systemChecks.filter(({ check }) => !page.includes(`\n- **${check}**: `))).toEqual([]);
});

test('a database elsewhere without a decision on backups is a warning until there is one', async () => {
  const { pool } = await openOwn();
  const levelWith = async (env: NodeJS.ProcessEnv) =>
    (await examine({ pool, config: readConfig(env) })).find(({ check }) => check === 'backup');
  const external = { DATABASE_URL: 'postgres://booking@localhost/booking' };
  expect(await levelWith(external)).toMatchObject({
    level: 'warning',
    message: expect.stringContaining('set BACKUP_AT') as string,
  });
  expect(await levelWith({ ...external, BACKUP_AT: 'off' })).toMatchObject({ level: 'skipped' });
  const isUndecided = (env: NodeJS.ProcessEnv) => readConfig(env).of(backupSettings).isBackupUndecided;
  expect([isUndecided({ ...external, BACKUP_AT: '02:00' }), isUndecided({})]).toEqual([false, false]);
});
