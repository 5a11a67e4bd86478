import { attemptTimeoutMs } from '../../../resources/webhooks/attempt-service.ts';
import { pauseAfter } from '../worker.ts';

/** All times in seconds, except those that end in `Ms`. Tests pass shorter ones. */
export type Schedule = {
  /** Pauses after the first failures; the last one repeats. */
  retries: number[];
  /** Time since the first failure after which an endpoint is disabled. */
  giveUpAfter: number;
  /** Longest pause that `Retry-After` may ask for. */
  maxRetryAfter: number;
  attemptTimeoutMs: number;
  pollMs: number;
  /** Interval of the renewal of leases. */
  renewMs: number;
  /** How long a webhook with waiting messages keeps its turn. */
  turnMs: number;
};

const [minute, hour, day] = [60, 3_600, 86_400];

export const defaultSchedule: Schedule = {
  retries: [5, 30, 2 * minute, 10 * minute, 30 * minute, hour],
  giveUpAfter: 5 * day,
  maxRetryAfter: day,
  attemptTimeoutMs,
  pollMs: 500,
  renewMs: 500,
  turnMs: 5_000,
};

type Failure = {
  attempts: number;
  failingSeconds: number;
  statusCode: number | null;
  retryAfterSeconds: number | null;
};

/** Returns the backoff delay in seconds after a failed attempt, or the reason to disable the endpoint. */
export function afterFailure(
  { attempts, failingSeconds, statusCode, retryAfterSeconds }: Failure,
  { retries, giveUpAfter, maxRetryAfter }: Schedule,
): number | 'gone' | 'failing' {
  if (statusCode === 410) return 'gone';
  if (failingSeconds >= giveUpAfter) return 'failing';
  return Math.max(pauseAfter(retries, attempts + 1), Math.min(retryAfterSeconds ?? 0, maxRetryAfter));
}
