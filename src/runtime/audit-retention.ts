import type { Database } from '../database/client.ts';
import { getFailure } from '../database/errors.ts';
import { clearAuditLog } from '../audit/service.ts';
import { describeError } from './describe-error.ts';
import type { Log } from './log.ts';

const everyMs = 60 * 60_000;

/** Clears old entries of the audit log away, now and every hour; answers how to stop that. */
export function startAuditRetention(database: Database, log: Pick<Log, 'warn'>) {
  const clear = () =>
    void clearAuditLog(database).catch((error: unknown) => {
      if (getFailure(error)?.kind !== 'unavailable')
        log.warn(`Old entries of the audit log could not be cleared: ${describeError(error)}`);
    });
  clear();
  const timer = setInterval(clear, everyMs);
  return () => clearInterval(timer);
}
