import { deleteWhere, old } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';
import { backupSettings, backupUndecided } from './settings.ts';

/** Backups: by command and each night, and their restore. */
export const backup = definePlugin({
  name: 'backup',
  settings: backupSettings,
  warnings: (config) => (config.of(backupSettings).isBackupUndecided ? [backupUndecided] : []),
  commands: [
    { names: ['backup', 'restore'], load: async () => (await import('./commands.ts')).backupCommands },
    { names: ['erasures'], load: async () => (await import('./erasures-commands.ts')).erasuresCommands },
  ],
  checks: async () => ({ checks: [(await import('./checks.ts')).backupCheck] }),
  metrics: async () => [(await import('./metrics.ts')).backupMetrics],
  folders: (config) => ({ backups: config.of(backupSettings).BACKUP_DIR }),
  housekeeping: [
    {
      table: 'backup_runs',
      days: 400,
      statement: deleteWhere('backup_runs', 'id', old('started_at')),
    },
  ],
  docs: { pages: ['backups'] },
  server: async (context) => ({ periodic: (await import('./nightly-job.ts')).backupJobs(context) }),
});
