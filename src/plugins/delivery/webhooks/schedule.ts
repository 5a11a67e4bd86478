import { attemptTimeoutMs } from './attempt.ts';
import { pauseAfter } from '../worker.ts';

const [minute, hour, day] = [60, 3_600, 86_400];

/** All times in seconds, except those that end in `Ms`. */
export const schedule = {
  /** Pauses after the first failures; the last one repeats. */
  retries: [5, 30, 2 * minute, 10 * minute, 30 * minute, hour],
  /** Time since the first failure after which an endpoint is disabled. */
  giveUpAfter: 5 * day,
  /** Longest pause that `Retry-After` may ask for. */
  maxRetryAfter: day,
  /** Until a webhook whose next event is of a newer version has its next turn, if possible in a server of that version. */
  unknownPause: 5,
  attemptTimeoutMs,
  pollMs: 500,
  /** Interval of the renewal of leases. */
  renewMs: 500,
  /** How long a webhook with waiting messages keeps its turn. */
  turnMs: 5_000,
};

type Failure = {
  attempts: number;
  failingSeconds: number;
  statusCode: number | null;
  retryAfterSeconds: number | null;
};

/** Returns the backoff delay in seconds after a failed attempt, or the reason to disable the endpoint. */
export function afterFailure({
  attempts,
  failingSeconds,
  statusCode,
  retryAfterSeconds,
}: Failure): number | 'gone' | 'failing' {
  const { retries, giveUpAfter, maxRetryAfter } = schedule;
  if (statusCode === 410) return 'gone';
  if (failingSeconds >= giveUpAfter) return 'failing';
  return Math.max(pauseAfter(retries, attempts + 1), Math.min(retryAfterSeconds ?? 0, maxRetryAfter));
}
