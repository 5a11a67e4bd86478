import { findLastBackup } from './runs.ts';
import { backupSettings } from './settings.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';

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
