import type { Log } from '../../core/log.ts';
import type { Job } from '../periodic.ts';
import type { Standby } from './index.ts';

const intervalMs = 10_000;
/** Time between two warnings. */
const warningMs = 60_000;

/** Logs why the standby is not used, and when it is used again. */
export function standbyJobs(standby: Standby | undefined, log: Pick<Log, 'warn' | 'info'>): Job[] {
  if (!standby) return [];
  let warnedAt = -Infinity;
  let isWarned = false;
  const run = async (signal: AbortSignal) => {
    const { fault, lag } = await standby.examine();
    if (signal.aborted) return;
    if (!fault) {
      if (isWarned) log.info('The standby is used again');
      isWarned = false;
    } else if (performance.now() - warnedAt >= warningMs) {
      warnedAt = performance.now();
      isWarned = true;
      log.warn(
        { hint: fault.hint, lag },
        `Lists are read from the primary, since the standby is not used: ${fault.text}`,
      );
    }
  };
  return [{ name: 'Checking the standby', intervalMs, run }];
}
