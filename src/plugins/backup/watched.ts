import { basename } from 'node:path';
import { byLimit, error, formatAge, hours, skipped, warning } from '../../interfaces/plugin/checks.ts';
import type { Result, SystemCheck } from '../../interfaces/plugin/checks.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';
import { findLastBackup, type LastBackup } from './runs.ts';
import { backupSettings, backupUndecided } from './settings.ts';

export const backupCheck: SystemCheck = {
  check: 'backup',
  async run({ pool, config }) {
    const { hasBackups, isBackupUndecided } = config.of(backupSettings);
    if (hasBackups) return assessBackup(await findLastBackup(pool));
    return [
      isBackupUndecided
        ? warning(backupUndecided)
        : skipped('This service makes no backups: check those of the database'),
    ];
  },
};

type Assessed = Pick<LastBackup, 'ageSeconds' | 'lastRestoreTest'> & { file?: string | null };
export function assessBackup({ ageSeconds: age, lastRestoreTest, file }: Assessed): Result[] {
  if (age === null) return [warning('There is no backup')];
  const limits = { warning: 26 * hours, error: 72 * hours };
  const name = file ? ` (${basename(file)})` : '';
  const last = byLimit(age, limits, `The last backup is ${formatAge(age)} old${name}`);
  if (lastRestoreTest !== 'failed' && lastRestoreTest !== 'skipped') return [last];
  const [level, result] = lastRestoreTest === 'failed' ? [error, 'failed'] : [warning, 'was skipped'];
  return [last, level(`The last restore of a backup for a test ${result}; the log has the reason`)];
}

export const backupMetrics: CreateArea = ({ gauge }, { database, config }) => {
  const age = gauge(
    'booking_backup_age_seconds',
    'Time since the last good backup; absent without one, or where another program makes backups',
  );
  const failed = gauge('booking_backup_failed', '1 if the last backup failed, such as on a full disk, else 0');
  const testFailed = gauge(
    'booking_backup_restore_test_failed',
    '1 if the last restore of a backup for a test failed, else 0',
  );
  const help = '1 if this process, or one beside it, makes the nightly backup, else 0';
  gauge('booking_backup_configured', help).set(config.of(backupSettings).hasBackups ? 1 : 0);
  return {
    async refresh() {
      const last = await within(findLastBackup(database.pool)).catch(() => undefined);
      if (last?.ageSeconds == null) age.remove();
      else age.set(last.ageSeconds);
      if (!last) return;
      failed.set(last.lastError === null ? 0 : 1);
      testFailed.set(last.lastRestoreTest === 'failed' ? 1 : 0);
    },
  };
};
