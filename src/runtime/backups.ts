import { runNightly, type Nightly } from '../backup/nightly.ts';
import type { Config } from '../config.ts';
import { classifyError } from '../database/errors.ts';
import { describeError } from './describe-error.ts';
import type { Log } from './log.ts';
import type { Store } from './store.ts';
import { packageVersion } from './version.ts';

type BackupLog = Pick<Log, 'info' | 'warn' | 'error'>;

const intervalMs = 60_000;

/**
 * Makes the nightly backup, in one of all processes; a missed one within a minute of the start. Returns a function that
 * stops it.
 */
export function startBackups(config: Config, { connection }: Pick<Store, 'connection'>, log: BackupLog) {
  const { BACKUP_AT: at, BACKUP_DIR: folder, TIMEZONE: timezone } = config;
  if (at === 'off') return () => undefined;
  const stopping = new AbortController();
  const options = { connection, folder, at, timezone, serviceVersion: packageVersion(), signal: stopping.signal };
  let running: Promise<void> | undefined;
  const check = async () => {
    const result = await runNightly(options);
    if (result) report(result, log);
  };
  const timer = setInterval(() => {
    running ??= check()
      .catch((error: unknown) => {
        if (!stopping.signal.aborted && classifyError(error)?.kind !== 'unavailable')
          log.error(`The nightly backup failed: ${describeError(error)}`);
      })
      .finally(() => (running = undefined));
  }, intervalMs);
  return () => {
    clearInterval(timer);
    stopping.abort(new Error('the server stops'));
  };
}

function report({ file, bytes, rows, elapsedMs, deleted = [], cause, test }: Nightly, log: BackupLog) {
  if (cause !== undefined) {
    log.error(
      `The nightly backup failed, and is tried again in an hour; older backups are kept: ${describeError(cause)}`,
    );
    return;
  }
  const seconds = Math.round(elapsedMs / 1_000);
  log.info({ file, bytes, rows, seconds, deleted: deleted.length }, 'Made and verified the nightly backup');
  if (test === undefined) return;
  if ('skipped' in test) log.warn(`The weekly restore of a backup for a test was skipped: ${test.skipped}`);
  else if ('cause' in test) log.error(`The backup could not be restored for a test: ${describeError(test.cause)}`);
  else if (test.differences > 0)
    log.error(`The restored backup has ${test.differences} stored counters that differ from a recount: run \`doctor\``);
  else log.info('Restored the backup for a test: all rows and counters are right');
}
