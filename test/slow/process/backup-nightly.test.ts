import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { runNightly, type NightlyOptions } from '../../../src/backup/nightly.ts';
import { verifyBackup } from '../../../src/backup/read.ts';
import { findLastBackup } from '../../../src/backup/runs.ts';
import { writeBackup } from '../../../src/backup/write.ts';
import { runSql } from '../../support/backups.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { asAdmin, connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
await testApp.createProvider();
const { pool } = testApp.database;

/** The options of a process, in a folder of the test; earlier runs are forgotten. No restore for a test is due. */
async function process(options: Partial<NightlyOptions> = {}): Promise<NightlyOptions> {
  await pool.query('delete from backup_runs');
  await pool.query(`insert into backup_runs (is_nightly, started_at, finished_at, file, restore_test)
    values (false, '2099-01-01', '2000-01-01', 'tested', 'passed')`);
  return {
    ...{ connection: connectionTo(name), folder: temporaryFolder(), at: '03:15', timezone: 'Europe/Oslo' },
    ...{ serviceVersion: '1.2.3', now: '2026-11-26 04:00+01' },
    ...options,
  };
}
const runs = () => runSql<{ file: string | null }>(name, 'select * from backup_runs where is_nightly order by id');
const inTurn = async (options: NightlyOptions, ...times: string[]) => {
  const made = [];
  for (const now of times) made.push((await runNightly({ ...options, now })) !== undefined);
  return made;
};

test('one backup a night, verified, restored for a test once a week, and recorded', async () => {
  const options = await process();
  await pool.query('delete from backup_runs');
  expect(await findLastBackup(pool)).toMatchObject({ ageSeconds: null, lastSuccessAt: null, lastFailureAt: null });
  const made = (await runNightly(options))!;
  expect(made).toMatchObject({ error: null, restoreTest: 'passed', test: { differences: 0 }, deleted: [] });
  expect(readdirSync(options.folder)).toEqual(['booking-nightly-2026-11-26T03-00-00Z.zip']);
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

test('two processes make one backup; without the lock they make two', async () => {
  const options = await process();
  const both = await Promise.all([runNightly(options), runNightly(options)]);
  expect(both.filter(Boolean)).toHaveLength(1);
  expect(await runs()).toHaveLength(1);

  const unlocked = await process({ lock: false });
  const control = [unlocked, { ...unlocked, folder: temporaryFolder() }];
  expect((await Promise.all(control.map(runNightly))).filter(Boolean)).toHaveLength(2);
});

test('a failure is recorded and tried again after an hour, and older backups stay', async () => {
  const write: typeof writeBackup = async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  const options = await process();
  await runNightly({ ...options, now: '2026-11-01 04:00+01' });
  const before = readdirSync(options.folder);
  const failing = { ...options, write };
  const failed = (await runNightly(failing))!;
  expect(failed).toMatchObject({ error: 'ENOSPC', file: null });
  expect(readdirSync(options.folder)).toEqual(before);
  expect(await findLastBackup(pool)).toMatchObject({
    lastError: 'ENOSPC',
    lastSuccessAt: expect.stringMatching(/^2026-11-01/) as string,
  });
  expect(await inTurn(options, '2026-11-26 04:30+01', '2026-11-26 05:01+01')).toEqual([false, true]);
  expect(await findLastBackup(pool)).toMatchObject({ lastError: null });
});

test('a file that does not verify gets another name and is no backup', async () => {
  const options = await process();
  const write: typeof writeBackup = async (connection, file, writeOptions) => {
    const manifest = await writeBackup(connection, file, writeOptions);
    writeFileSync(file, 'x', { flag: 'a' });
    return manifest;
  };
  expect(await runNightly({ ...options, write })).toMatchObject({
    file: null,
    error: expect.stringMatching(/is damaged/) as string,
  });
  expect(readdirSync(options.folder)).toEqual(['booking-nightly-2026-11-26T03-00-00Z.zip.damaged']);
});

test('unfinished files of a killed process are deleted after a day', async () => {
  const options = await process();
  const [old, young] = ['2026-11-20T02-15-00Z', '2026-11-26T02-15-00Z'].map((at) =>
    join(options.folder, `booking-nightly-${at}.zip.part`),
  ) as [string, string];
  for (const file of [old, young]) writeFileSync(file, '');
  utimesSync(old, new Date(), new Date(Date.now() - 2 * 86_400_000));
  await runNightly(options);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
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
