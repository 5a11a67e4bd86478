import { Gauge } from 'prom-client';
import type { CreateArea } from './area.ts';

export const backupMetrics: CreateArea = (register, { lastBackupAt }) => {
  const age = new Gauge({
    name: 'booking_backup_age_seconds',
    help: 'Time since the last good backup; absent without one, or where another program makes backups',
    registers: [register],
  });
  return {
    async refresh() {
      const at = await lastBackupAt?.().catch(() => null);
      if (at) age.set((Date.now() - at.getTime()) / 1_000);
      else age.remove();
    },
  };
};
