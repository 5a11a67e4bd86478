import { erasuresJobs } from './erasures.ts';
import { runNightly, type Nightly } from './nightly.ts';
import type { ScratchResult } from './scratch.ts';
import { describeError } from '../../database/describe-error.ts';
import type { Log } from '../../core/log.ts';
import type { Job } from '../../database/periodic.ts';
import type { ServerContext } from '../../interfaces/plugin/define-plugin.ts';
import { packageVersion } from '../../core/version.ts';
import { backupSettings } from './settings.ts';

type BackupLog = Pick<Log, 'info' | 'warn' | 'error'>;

const intervalMs = 60_000;

type JobContext = Pick<ServerContext, 'config' | 'connection'> & { log: BackupLog };

/** The jobs of a process that makes backups. */
export const backupJobs = (context: JobContext & Pick<ServerContext, 'database'>): Job[] => [
  ...nightlyJobs(context),
  ...erasuresJobs(context),
];

/** Makes the nightly backup, in one of all processes; a missed one within a minute of the start. */
export function nightlyJobs({ config, connection, log }: JobContext): Job[] {
  const { TIMEZONE: timezone, isEmbedded } = config;
  const { nightlyAt: at, BACKUP_DIR: folder } = config.of(backupSettings);
  if (at === undefined) return [];
  const options = { connection, folder, at, timezone, isEmbedded, serviceVersion: packageVersion() };
  let lastCause: string | undefined;
  const run = async (signal: AbortSignal) => {
    try {
      const result = await runNightly({ ...options, signal });
      if (result) report(result, log);
      lastCause = undefined;
    } catch (error) {
      const cause = describeError(error);
      // It is tried every minute.
      if (!signal.aborted && cause !== lastCause) log.error(`The nightly backup could not be made: ${cause}`);
      lastCause = cause;
    }
  };
  return [{ name: 'The nightly backup', intervalMs, isDelayed: true, run }];
}

function report(nightly: Nightly, log: BackupLog) {
  const { file, bytes, rows, elapsedMs, deleted = [], cause, pruneCause, test } = nightly;
  if (cause !== undefined) {
    log.error(
      `The nightly backup failed, and is tried again in ten minutes; older backups are kept: ${describeError(cause)}`,
    );
    return;
  }
  const seconds = Math.round(elapsedMs / 1_000);
  log.info({ file, bytes, rows, seconds, deleted: deleted.length }, 'Made and verified the nightly backup');
  if (pruneCause !== undefined) log.error(`Obsolete backups could not be deleted: ${describeError(pruneCause)}`);
  if (test !== undefined) reportTest(test, log);
}

function reportTest(test: ScratchResult, log: BackupLog) {
  if ('skipped' in test) {
    log.warn(`The weekly restore of a backup for a test was skipped: ${test.skipped}`);
    return;
  }
  if (test.notDropped !== undefined)
    log.warn(`The database of the test could not be dropped: ${describeError(test.notDropped)}`);
  if ('cause' in test) log.error(`The backup could not be restored for a test: ${describeError(test.cause)}`);
  else if (test.differences > 0)
    log.error(`The restored backup has ${test.differences} stored counters that differ from a recount: run \`doctor\``);
  else log.info('Restored the backup for a test: all rows and counters are right');
}
