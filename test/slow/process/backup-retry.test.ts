import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { verifyBackup } from '../../../src/plugins/backup/read.ts';
import { runSql } from '../../support/backups.ts';
import { hourly, loadNightly } from '../../support/nightly-backup.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase } from '../../support/test-app.ts';

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
await testApp.createProvider();

const [runNightly, runHourly] = [await loadNightly(), await loadNightly(hourly)];

const due = Date.parse('2026-11-26T03:15:00+01:00');
const minute = 60_000;

/**
 * Minutes between the end of a cause and the backup, looked for each minute as a server does. The folder of the backups
 * is a file until then, so that no backup can be written.
 */
async function minutesUntilBackup(run: typeof runNightly, causeMinutes: number) {
  await runSql(name, 'delete from backup_runs');
  // No restore for a test is due.
  await runSql(
    name,
    `insert into backup_runs (is_nightly, started_at, finished_at, file, restore_test)
      values (false, '2099-01-01', '2000-01-01', 'tested', 'passed')`,
  );
  const folder = join(temporaryFolder(), 'backups');
  writeFileSync(folder, '');
  const options = {
    ...{ connection: connectionTo(name), folder, at: '03:15', timezone: 'Europe/Oslo', serviceVersion: '1.2.3' },
    isEmbedded: false,
  };
  for (let n = 0; n < causeMinutes + 90; n += 1) {
    if (n === causeMinutes) {
      rmSync(folder);
      mkdirSync(folder);
    }
    const made = await run({ ...options, now: new Date(due + n * minute).toISOString() });
    if (made?.file == null) continue;
    await verifyBackup(made.file);
    expect(readdirSync(folder)).toHaveLength(1);
    return n - causeMinutes;
  }
  expect(existsSync(folder)).toBe(true);
  return Infinity;
}

test.each([1, 5, 9, 12, 40])(
  'a nightly backup is made within ten minutes of the end of a cause that lasted for %i minutes',
  async (causeMinutes) => {
    expect(await minutesUntilBackup(runNightly, causeMinutes)).toBeLessThanOrEqual(10);
    const failed = `select from backup_runs where is_nightly and error is not null`;
    expect((await runSql(name, failed)).length).toBeGreaterThan(0);
  },
);

test('one that is tried again each hour is made later', async () => {
  expect(await minutesUntilBackup(runHourly, 5)).toBeGreaterThan(10);
});
