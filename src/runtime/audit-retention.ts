import type { Database } from '../database/client.ts';
import { classifyError } from '../database/errors.ts';
import { clearAuditLog } from '../audit/service.ts';
import { describeError } from './describe-error.ts';
import type { Log } from './log.ts';

const intervalMs = 60 * 60_000;

/** Deletes old audit log entries now and every hour. Returns a function that stops it. */
export function startAuditRetention(database: Database, log: Pick<Log, 'warn'>) {
  const clear = () =>
    void clearAuditLog(database).catch((error: unknown) => {
      if (classifyError(error)?.kind !== 'unavailable')
        log.warn(`Old entries of the audit log could not be deleted: ${describeError(error)}`);
    });
  clear();
  const timer = setInterval(clear, intervalMs);
  return () => clearInterval(timer);
}
