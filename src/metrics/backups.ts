import { Gauge } from 'prom-client';
import { findLastBackup } from '../backup/runs.ts';
import { within, type CreateArea } from './area.ts';

export const backupMetrics: CreateArea = (register, { database }) => {
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
  return {
    async refresh() {
      const last = await within(findLastBackup(database.pool)).catch(() => undefined);
      if (last?.ageSeconds == null) age.remove();
      else age.set(last.ageSeconds);
      if (last) failed.set(last.lastError === null ? 0 : 1);
    },
  };
};
