import { defineTask, deleteWhere, old } from '../../database/housekeeping.ts';
import { definePlugin } from '../../interfaces/plugin/define-plugin.ts';
import { backupSettings, backupUndecided } from './settings.ts';

/** Backups: by command and each night, and their restore. */
export const backup = definePlugin({
  name: 'backup',
  settings: backupSettings,
  commands: [
    { names: ['backup', 'restore'], load: async () => (await import('./commands.ts')).backupCommands },
    { names: ['erasures'], load: async () => (await import('./erasures-commands.ts')).erasuresCommands },
  ],
  async watched(config) {
    const { backupCheck, backupMetrics } = await import('./watched.ts');
    const folders = { backups: config.of(backupSettings).BACKUP_DIR };
    return { checks: [backupCheck], metrics: [backupMetrics], folders };
  },
  housekeeping: [defineTask('backup_runs', 400, deleteWhere('backup_runs', 'id', old('started_at')))],
  docs: { pages: ['backups'] },
  async server(context) {
    if (context.config.of(backupSettings).isBackupUndecided) context.log.warn(backupUndecided);
    return { periodic: (await import('./nightly.ts')).backupJobs(context) };
  },
});
