import { mkdirSync, readdirSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execPath } from 'node:process';
import { Client } from 'pg';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { readDatabaseId } from '../../../src/plugins/backup/catalog.ts';
import { backupName, damagedName } from '../../../src/plugins/backup/files.ts';
import { nightlyLock, nightlyJobs } from '../../../src/plugins/backup/nightly.ts';
import { verifyBackup } from '../../../src/plugins/backup/read.ts';
import { findLastBackup } from '../../../src/plugins/backup/runs.ts';
import type { restoreIntoScratch } from '../../../src/plugins/backup/scratch.ts';
import { backupUndecided } from '../../../src/plugins/backup/settings.ts';
import { startJobs } from '../../../src/database/periodic.ts';
import { readConfig } from '../../support/config.ts';
import { runSql } from '../../support/backups.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { fastMinutes } from '../../support/fast-minutes.ts';
import { loadNightly, type DatedOptions } from '../../support/nightly-backup.ts';
import { databaseUrl, startProcess, startServer, temporaryFolder } from '../../support/processes.ts';
import { asAdmin, connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
await testApp.createProvider();
const { pool } = testApp.database;
const databaseId = await readDatabaseId(pool);
const nameAt = (at: string, database = databaseId) => backupName(new Date(at), 'nightly', database);

const runNightly = await loadNightly();

/** The options of a process, in a folder of the test; earlier runs are forgotten. No restore for a test is due. */
async function process(options: Partial<DatedOptions> = {}): Promise<DatedOptions> {
  await pool.query('delete from backup_runs');
  await pool.query(`insert into backup_runs (is_nightly, started_at, finished_at, file, restore_test)
    values (false, '2099-01-01', '2000-01-01', 'tested', 'passed')`);
  return {
    ...{ connection: connectionTo(name), folder: temporaryFolder(), at: '03:15', timezone: 'Europe/Oslo' },
    isEmbedded: false,
    ...{ serviceVersion: '1.2.3', now: '2026-11-26 04:00+01' },
    ...options,
  };
}
const runs = () => runSql<{ file: string | null }>(name, 'select * from backup_runs where is_nightly order by id');
const inTurn = async (options: DatedOptions, ...times: string[]) => {
  const made = [];
  for (const now of times) made.push((await runNightly({ ...options, now })) !== undefined);
  return made;
};

test('one backup a night, verified, restored for a test once a week, and recorded', async () => {
  const options = await process();
  await pool.query('delete from backup_runs');
  expect(await findLastBackup(pool)).toEqual({ ageSeconds: null, lastError: null, lastRestoreTest: null, file: null });
  const made = (await runNightly(options))!;
  expect(made).toMatchObject({ error: null, restoreTest: 'passed', test: { differences: 0 }, deleted: [] });
  expect(readdirSync(options.folder)).toEqual([nameAt('2026-11-26T03:00:00Z')]);
  await verifyBackup(made.file!);
  expect(await runs()).toMatchObject([{ is_nightly: true, file: made.file, error: null, restore_test: 'passed' }]);
  expect(await findLastBackup(pool)).toMatchObject({ lastError: null, lastRestoreTest: 'passed' });

  const times = ['2026-11-26 04:01+01', '2026-11-27 03:14+01', '2026-11-27 03:15+01', '2026-11-27 23:00+01'];
  expect(await inTurn(options, ...times)).toEqual([false, false, true, false]);
  // Nights without a running process are made up once.
  expect(await inTurn(options, '2026-12-02 12:00+01', '2026-12-02 13:00+01')).toEqual([true, false]);
  expect((await runs()).map((run) => (run as { restore_test?: string }).restore_test)).toEqual(['passed', null, null]);
  expect((await runNightly({ ...options, now: '2026-12-03 03:15+01' }))!.restoreTest).toBe('passed');
  const { rows } = await pool.query(`select from pg_database where datname like '${name}%test'`);
  expect(rows).toEqual([]);
});

test('the time is local, also on the nights of a change of the clocks', async () => {
  const options = await process({ at: '02:30' });
  const spring = ['2026-03-28 01:29Z', '2026-03-28 01:30Z', '2026-03-29 01:29Z', '2026-03-29 01:30Z'];
  expect(await inTurn(options, ...spring)).toEqual([true, true, false, true]);
  expect(await inTurn(options, '2026-03-30 00:29Z', '2026-03-30 00:30Z')).toEqual([false, true]);
  await pool.query('delete from backup_runs where is_nightly');
  const autumn = ['2026-10-25 00:29Z', '2026-10-25 01:30Z', '2026-10-25 02:30Z', '2026-10-26 01:30Z'];
  expect(await inTurn(options, ...autumn)).toEqual([true, true, false, true]);
});

test('two processes make one backup, by the lock', async () => {
  const options = await process();
  const both = await Promise.all([runNightly(options), runNightly(options)]);
  expect(both.filter(Boolean)).toHaveLength(1);
  expect(await runs()).toHaveLength(1);

  const other = new Client(connectionTo(name));
  await other.connect();
  await other.query('select pg_advisory_lock(hashtextextended($1, 0))', [nightlyLock]);
  expect(await inTurn(options, '2026-11-27 03:15+01')).toEqual([false]);
  await other.end();
  await expect.poll(() => inTurn(options, '2026-11-27 03:15+01')).toEqual([true]);
});

test('a server with an external database warns at its start until BACKUP_AT is set or off', async () => {
  for (const [env, warns] of [
    [{}, true],
    [{ BACKUP_AT: 'off' }, false],
    [{ BACKUP_AT: 'elsewhere' }, false],
    [{ BACKUP_AT: '03:00' }, false],
  ] as const) {
    const server = await startServer({ DATABASE_URL: databaseUrl(name), DATA_DIR: temporaryFolder(), ...env });
    expect(server.output().includes(backupUndecided), JSON.stringify(env)).toBe(warns);
    server.child.kill('SIGTERM');
    await server.ended;
  }
});

test('two processes of `backup --nightly` make one backup', async () => {
  const { folder } = await process();
  const env = { DATABASE_URL: databaseUrl(name), DATA_DIR: temporaryFolder(), BACKUP_DIR: folder, BACKUP_AT: '00:00' };
  const command = [execPath, ...fastMinutes, 'dist/cli.js', 'backup', '--nightly'];
  const both = await Promise.all([1, 2].map(() => startProcess(command, env, 'A backup is made each night')));
  const output = () => both.map((one) => one.output()).join('');
  await expect.poll(output).toContain('Made and verified');
  // Several more times at which each looks whether one is due.
  await new Promise((done) => setTimeout(done, 1_000));
  for (const { child } of both) child.kill('SIGTERM');
  expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(output().match(/Made and verified/g)).toHaveLength(1);
  expect(both.map(({ errors }) => errors())).toEqual(['', '']);
  const backups = readdirSync(folder).filter((name) => name.endsWith('.zip'));
  expect([backups.length, (await runs()).length]).toEqual([1, 1]);
});

/** A backup, and what happens while it waits for a lock of a table. */
async function runMeanwhile(options: DatedOptions, work: () => unknown) {
  const locker = new Client(connectionTo(name));
  await locker.connect();
  await locker.query('begin; lock table courses in access exclusive mode');
  const made = runNightly(options);
  made.catch(() => undefined);
  const part = new RegExp(`^${nameAt('2026-11-26T03:00:00Z')}\\.[0-9a-f]+\\.part$`);
  await expect.poll(() => readdirSync(options.folder).some((file) => part.test(file))).toBe(true);
  await work();
  await locker.end();
  return made;
}

const cutLock = () =>
  runSql(
    name,
    `select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database
      where locktype = 'advisory' and mode = 'ExclusiveLock' and datname = current_database()`,
  );

test('a backup whose lock is lost meanwhile is recorded, and not made again', async () => {
  const options = await process();
  const made = await runMeanwhile(options, async () => expect(await cutLock()).toHaveLength(1));
  expect(made).toMatchObject({ error: null });
  expect(await runs()).toMatchObject([{ error: null, file: expect.any(String) as string }]);
  expect(await inTurn(options, '2026-11-26 05:30+01')).toEqual([false]);
});

test('an attempt that was killed is repeated an hour later, without its unfinished file', async () => {
  const options = await process();
  const stopping = new AbortController();
  const left = `${nameAt('2026-11-26T03:00:00Z')}.0123abcd.part`;
  const others = [
    `${nameAt('2026-11-26T03:00:00Z', 'ffffffff')}.0123abcd.part`,
    `${backupName(new Date(), 'manual', databaseId)}.0123abcd.part`,
    nameAt('2025-01-01T03:00:00Z', 'ffffffff'),
  ].sort();
  for (const file of others) writeFileSync(join(options.folder, file), '');
  const killed = runMeanwhile({ ...options, signal: stopping.signal }, () => {
    writeFileSync(join(options.folder, left), '');
    stopping.abort(new Error('killed'));
  });
  await expect(killed).rejects.toThrow('killed');
  expect(await runs()).toMatchObject([{ finished_at: null, file: null, error: null }]);
  expect(await inTurn(options, '2026-11-26 04:01+01', '2026-11-26 05:01+01')).toEqual([false, true]);
  expect(await runs()).toMatchObject([{ error: 'interrupted' }, { error: null }]);
  expect(readdirSync(options.folder).sort()).toEqual([...others, nameAt('2026-11-26T04:01:00Z')].sort());
  const manual = join(
    options.folder,
    others.find((file) => file.includes('manual'))!,
  );
  utimesSync(manual, new Date(), new Date(Date.now() - 2 * 86_400_000));
  await runNightly({ ...options, now: '2026-11-28 04:00+01' });
  expect(readdirSync(options.folder).filter((file) => file.includes('manual'))).toEqual([]);
});

test('a failure is recorded and tried again within ten minutes, and older backups stay', async () => {
  const options = await process();
  await runNightly({ ...options, now: '2026-11-01 04:00+01' });
  const before = readdirSync(options.folder);
  const { ageSeconds } = await findLastBackup(pool);
  // No file can have the name of a folder.
  const folder = join(options.folder, nameAt('2026-11-26T03:00:00Z'));
  expect(await runMeanwhile(options, () => mkdirSync(folder))).toMatchObject({ error: 'EISDIR', file: null });
  rmdirSync(folder);
  expect(readdirSync(options.folder)).toEqual(before);
  const last = await findLastBackup(pool);
  expect(last.lastError).toBe('EISDIR');
  expect(last.ageSeconds).toBeGreaterThanOrEqual(ageSeconds!);
  expect(await inTurn(options, '2026-11-26 04:07+01', '2026-11-26 04:09+01')).toEqual([false, true]);
  expect(await findLastBackup(pool)).toMatchObject({ lastError: null });
});

/** Adds a character to the file of a backup before a statement. */
const damageBefore = (statement: string) =>
  replaceIn(
    `damage-before-${statement}`,
    /backup\/nightly\.ts$/,
    statement,
    `await import('node:fs').then(({ appendFileSync }) => appendFileSync(file, 'x')); ${statement}`,
  );

test('a file that does not verify gets another name and is no backup; one such file stays', async () => {
  const options = await process();
  const runDamaged = await loadNightly(damageBefore('const rows = '));
  writeFileSync(join(options.folder, damagedName(nameAt('2026-11-25T03:00:00Z'))), '');
  expect(await runDamaged(options)).toMatchObject({
    file: null,
    error: expect.stringMatching(/is damaged/) as string,
  });
  expect(readdirSync(options.folder)).toEqual([damagedName(nameAt('2026-11-26T03:00:00Z'))]);
});

test('a restore for a test that fails is recorded, tried again the next night, and leaves no database', async () => {
  const options = await process();
  await pool.query('delete from backup_runs');
  const isLeft = async () =>
    (await pool.query(`select from pg_database where datname like '${name}_backup_test_%'`)).rows.length > 0;
  // A test that was killed has left its database.
  await asAdmin(`create database ${name}_backup_test_${databaseId}`);
  const runDamaged = await loadNightly(damageBefore('const tested = '));
  const failed = (await runDamaged(options))!;
  expect(failed).toMatchObject({ error: null, restoreTest: 'failed' });
  expect(String((failed.test as { cause: unknown }).cause)).toMatch(/is damaged/);
  expect(await findLastBackup(pool)).toMatchObject({ lastError: null, lastRestoreTest: 'failed' });
  expect(await isLeft()).toBe(false);
  const next = (await runNightly({ ...options, now: '2026-11-27 04:00+01' }))!;
  expect(next).toMatchObject({ restoreTest: 'passed' });
});

test('the restore for a test is skipped where the disk of the embedded database has no room for it', async () => {
  const options = await process();
  const { file } = (await runNightly(options))!;
  const large = replaceIn('large', /backup\/scratch\.ts$/, 'neededSpace = 1.5', 'neededSpace = 1e12');
  const module: unknown = await import(resolve(await bundle('src/plugins/backup/scratch.ts', [large])));
  const { restoreIntoScratch: restore } = module as { restoreIntoScratch: typeof restoreIntoScratch };
  expect(await restore(options.connection, file!, { timezone: options.timezone, isEmbedded: true })).toEqual({
    skipped: 'the disk has too little free space',
  });
});

test('old backups that cannot be deleted are no failure of the backup', async () => {
  const options = await process();
  // A folder is not deleted as a file is.
  for (const day of Array.from({ length: 80 }, (_, n) => n))
    mkdirSync(join(options.folder, nameAt(new Date(Date.UTC(2026, 7, 1 + day)).toISOString())));
  const made = (await runNightly(options))!;
  expect(made).toMatchObject({ error: null, pruneCause: expect.any(Error) as Error });
  expect(await runs()).toMatchObject([{ file: made.file, error: null }]);
});

/** The lines of a log while the check of every minute runs `times` times. */
async function logOf(env: Record<string, string>, times: number) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const add = (first: unknown, message?: unknown) => void lines.push(String(message ?? first));
  const config = readConfig({ BACKUP_AT: '00:00', BACKUP_DIR: temporaryFolder(), ...env });
  const connection = { connectionString: config.DATABASE_URL };
  const log = { info: add, warn: add, error: add };
  const stop = startJobs(nightlyJobs({ config, connection, log }), log);
  for (let n = 0; n < times; n += 1) {
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    await new Promise((done) => setTimeout(done, 150));
  }
  stop();
  return lines;
}

test('a database that cannot be reached, and a backup that fails, are logged once', async () => {
  await process();
  expect(await logOf({ DATABASE_URL: databaseUrl('no_such_database') }, 3)).toEqual([
    expect.stringMatching(/^The nightly backup could not be made: .*no_such_database/),
  ]);
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await logOf({ DATABASE_URL: databaseUrl(name), BACKUP_DIR: file }, 3)).toEqual([
    expect.stringMatching(/^The nightly backup failed, and is tried again in ten minutes; older .* kept: /),
  ]);
});

test('the restore for a test is skipped where the role may not create databases', async () => {
  const role = `runtime_${name}`;
  await asAdmin(`create role ${role} login password 'pw'`);
  onTestFinished(async () => {
    await runSql(name, `drop owned by ${role}`);
    await asAdmin(`drop role ${role}`);
  });
  await runSql(
    name,
    `grant usage on schema public, drizzle to ${role}; grant select on all tables in schema drizzle to ${role};
      grant select, insert, update, delete on all tables in schema public to ${role};
      grant usage, select on all sequences in schema public to ${role}`,
  );
  const options = await process({ connection: { ...connectionTo(name), user: role, password: 'pw' } });
  await pool.query('delete from backup_runs');
  const made = (await runNightly(options))!;
  expect(made).toMatchObject({ error: null, restoreTest: 'skipped' });
  expect(made.test).toEqual({ skipped: 'the role of DATABASE_URL may not create databases' });
});
