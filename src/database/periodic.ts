import { classifyError } from '../core/database-errors.ts';
import type { Log } from '../core/log.ts';
import type { Database } from './client.ts';
import { describeError } from './describe-error.ts';

export type Job = {
  /** Begins the warning about a failure: `<name> failed: …`. */
  name: string;
  intervalMs: number;
  /** True: first after an interval, not now. */
  isDelayed?: boolean;
  /** Ends early once the signal is aborted. */
  run: (signal: AbortSignal) => Promise<void>;
};

/** A job on the data of all schools, audited as the server's `action`; `src/jobs.ts` lists those of the domains. */
export const auditedJob =
  (name: string, action: string, intervalMs: number, work: (database: Database) => Promise<void>) =>
  (database: Database): Job => {
    const audited = database.withAudit({ actor: 'server', actorId: null, action });
    return { name, intervalMs, run: () => work(audited) };
  };

/** Does not log an unavailable database, which requests and `/ready` report. */
export function warnOfFailure(log: Pick<Log, 'warn'>, name: string, error: unknown) {
  if (classifyError(error)?.kind !== 'unavailable') log.warn(`${name} failed: ${describeError(error)}`);
}

/** Does the work for each item in turn. A failure does not stop the others; the first one is thrown at the end. */
export async function runEach<Item>(items: Item[], work: (item: Item) => Promise<unknown>) {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Starts jobs; returns a function that stops them. */
export function startJobs(jobs: Job[], log: Pick<Log, 'warn'>) {
  const stops = jobs.map((job) => startPeriodic(job, log));
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Runs a job at every interval, never twice at once in a process, and logs failures; returns a function that stops it.
 */
export function startPeriodic({ name, intervalMs, isDelayed = false, run }: Job, log: Pick<Log, 'warn'>) {
  const stopping = new AbortController();
  let isRunning = false;
  const attempt = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await run(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) warnOfFailure(log, name, error);
    } finally {
      isRunning = false;
    }
  };
  if (!isDelayed) void attempt();
  const timer = setInterval(() => void attempt(), intervalMs);
  return () => {
    clearInterval(timer);
    stopping.abort(new Error('the server stops'));
  };
}
