import { Gauge } from 'prom-client';
import { findLastBackup } from './runs.ts';
import { backupSettings } from './settings.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';

export const backupMetrics: CreateArea = (register, { database, config }) => {
  const makesBackups = config !== undefined && config.of(backupSettings).BACKUP_AT !== 'off';
  const age = new Gauge({
    name: 'booking_backup_age_seconds',
    help: 'Time since the last good backup; absent without one, or where another program makes backups',
    registers: [register],
  });
  const failed = new Gauge({
    name: 'booking_backup_failed',
    help: '1 if the last backup failed, such as on a full disk, else 0',
    registers: [register],
  });
  const testFailed = new Gauge({
    name: 'booking_backup_restore_test_failed',
    help: '1 if the last restore of a backup for a test failed, else 0',
    registers: [register],
  });
  new Gauge({
    name: 'booking_backup_configured',
    help: '1 if this process, or one beside it, makes the nightly backup, else 0',
    registers: [register],
  }).set(makesBackups ? 1 : 0);
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
