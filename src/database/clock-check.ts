import { clockWarning, summarizeClocksAhead } from './clock.ts';
import type { Database } from './client.ts';
import type { Log } from '../core/log.ts';
import { startPeriodic } from './periodic.ts';

const intervalMs = 60_000;

/** Logs a warning about tenant clocks in the future, now and when their number changes. Returns a function that stops it. */
export function startClockCheck({ pool }: Pick<Database, 'pool'>, log: Pick<Log, 'warn'>) {
  let count = 0;
  const run = async () => {
    const ahead = await summarizeClocksAhead(pool);
    const warning = clockWarning(ahead);
    if (warning !== undefined && ahead.count !== count) log.warn(warning);
    count = ahead.count;
  };
  return startPeriodic({ name: 'Comparing the clocks', intervalMs, run }, log);
}
