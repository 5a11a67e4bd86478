import { Type } from '@sinclair/typebox';
import { join } from 'node:path';
import { defineSettings } from '../../core/config.ts';
import { text } from '../../core/config/declare.ts';
import { must } from '../../core/config/checks.ts';

const backupTime = must('be a time of day such as 03:15, off or elsewhere', (value) =>
  /^(([01]\d|2[0-3]):[0-5]\d|off|elsewhere)$/.test(value),
);

export const backupSettings = defineSettings({
  variables: {
    BACKUP_AT: Type.Optional(
      text(
        'When a backup is made each night, such as `03:15` in `TIMEZONE`; `elsewhere`: `backup --nightly` in another process makes it; or `off`; default `03:15` with the embedded database, else `off`',
        { check: backupTime },
      ),
    ),
    BACKUP_DIR: Type.Optional(text('Folder of the backups; default `backups` in `DATA_DIR`')),
  },
  after: { BACKUP_AT: 'DATA_DIR' },
  toValues(variables, { DATA_DIR, isEmbedded }) {
    const { BACKUP_AT = isEmbedded ? '03:15' : 'off', BACKUP_DIR = join(DATA_DIR, 'backups') } = variables;
    return {
      ...{ ...variables, BACKUP_AT, BACKUP_DIR },
      /** This process makes a backup, or one beside it. */
      hasBackups: BACKUP_AT !== 'off',
      /** Local time such as `03:15` at which this process makes one. */
      nightlyAt: BACKUP_AT === 'off' || BACKUP_AT === 'elsewhere' ? undefined : BACKUP_AT,
      /** Nothing is set, and only the embedded database has a default time. */
      isBackupUndecided: variables.BACKUP_AT === undefined && !isEmbedded,
    };
  },
});

export const backupUndecided =
  'No backup is made: set BACKUP_AT to a time of day, to `elsewhere` where `backup --nightly` makes it, or to `off` where another program does';
