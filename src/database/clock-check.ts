import { clockWarning, summarizeClocksAhead } from './clock.ts';
import type { Database } from './client.ts';
import { classifyError } from '../core/database-errors.ts';
import { describeError } from './describe-error.ts';
import type { Log } from '../core/log.ts';

const intervalMs = 60_000;

/** Logs a warning about tenant clocks in the future, now and when their number changes. Returns a function that stops it. */
export function startClockCheck({ pool }: Pick<Database, 'pool'>, log: Pick<Log, 'warn'>) {
  let count = 0;
  const check = async () => {
    const ahead = await summarizeClocksAhead(pool);
    const warning = clockWarning(ahead);
    if (warning !== undefined && ahead.count !== count) log.warn(warning);
    count = ahead.count;
  };
  const run = () =>
    void check().catch((error: unknown) => {
      if (classifyError(error)?.kind !== 'unavailable')
        log.warn(`The clocks could not be compared: ${describeError(error)}`);
    });
  run();
  const timer = setInterval(run, intervalMs);
  return () => clearInterval(timer);
}
