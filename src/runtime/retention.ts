import { clearAuditLog } from '../audit/service.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/client.ts';
import { classifyError } from '../database/errors.ts';
import { deleteOldChanges } from '../resources/changes/service.ts';
import { describeError } from './describe-error.ts';
import type { Log } from './log.ts';

const intervalMs = 60 * 60_000;

/** Deletes old entries of the audit log and of the change feed now and every hour. Returns a function that stops it. */
export function startRetention(config: Config, database: Database, log: Pick<Log, 'warn'>) {
  const tasks = {
    'the audit log': () => clearAuditLog(database),
    'the change feed': () => deleteOldChanges(database, config.EVENTS_RETENTION_DAYS),
  };
  const clear = () => {
    for (const [name, run] of Object.entries(tasks))
      void run().catch((error: unknown) => {
        if (classifyError(error)?.kind !== 'unavailable')
          log.warn(`Old entries of ${name} could not be deleted: ${describeError(error)}`);
      });
  };
  clear();
  const timer = setInterval(clear, intervalMs);
  return () => clearInterval(timer);
}
