import { basename } from 'node:path';
import { byLimit, error, formatAge, hours, skipped, warning } from '../../interfaces/plugin/checks.ts';
import type { Result, SystemCheck } from '../../interfaces/plugin/checks.ts';
import { findLastBackup, type LastBackup } from './runs.ts';
import { backupSettings, backupUndecided } from './settings.ts';

export const backupCheck: SystemCheck = {
  check: 'backup',
  async run({ pool, config }) {
    const { hasBackups, isBackupUndecided } = config.of(backupSettings);
    if (hasBackups) return judgeBackup(await findLastBackup(pool));
    return [
      isBackupUndecided
        ? warning(backupUndecided)
        : skipped('This service makes no backups: check those of the database'),
    ];
  },
};

export function judgeBackup({
  ageSeconds: age,
  lastRestoreTest,
  file,
}: Pick<LastBackup, 'ageSeconds' | 'lastRestoreTest'> & { file?: string | null }): Result[] {
  if (age === null) return [warning('There is no backup')];
  const limits = { warning: 26 * hours, error: 72 * hours };
  const name = file ? ` (${basename(file)})` : '';
  const last = byLimit(age, limits, `The last backup is ${formatAge(age)} old${name}`);
  if (lastRestoreTest !== 'failed' && lastRestoreTest !== 'skipped') return [last];
  const [level, result] = lastRestoreTest === 'failed' ? [error, 'failed'] : [warning, 'was skipped'];
  return [last, level(`The last restore of a backup for a test ${result}; the log has the reason`)];
}
