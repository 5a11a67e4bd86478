import { Webhook as Signer } from 'standardwebhooks';
import { pauseAfter } from '../worker.ts';
import type { CallPolicy } from './outgoing-target.ts';
import { post } from './post.ts';
import type { Attempt, Message } from './schema.ts';

export type Endpoint = { url: string; secret: string; previousSecret: string | null };

export const attemptTimeoutMs = 10_000;

/** Signs a message and sends it once. Only a 2xx is a success. */
export async function attemptDelivery(
  endpoint: Endpoint,
  { id, ...content }: Message,
  { headers: more, ...options }: { policy: CallPolicy; timeoutMs: number; headers?: Record<string, string> },
): Promise<Attempt> {
  const body = JSON.stringify(content);
  const headers = {
    ...more,
    'content-type': 'application/json',
    'user-agent': 'course-booking-service',
    ...sign(endpoint, id, body),
  };
  const start = performance.now();
  const result = await post(endpoint.url, { ...options, headers, body });
  const attempt = { messageId: id, type: content.type, durationMs: Math.round(performance.now() - start) };
  if ('error' in result) return { ...attempt, statusCode: null, error: result.error, retryAfterSeconds: null };
  const { status, retryAfter } = result;
  const isSuccess = status >= 200 && status < 300;
  return {
    ...attempt,
    statusCode: status,
    error: isSuccess ? null : `the endpoint answered ${status}`,
    retryAfterSeconds: parseRetryAfter(retryAfter),
  };
}

/** The headers of Standard Webhooks; during a rotation both secrets sign. */
function sign({ secret, previousSecret }: Endpoint, id: string, body: string) {
  const now = new Date();
  const secrets = [secret, ...(previousSecret === null ? [] : [previousSecret])];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((one) => new Signer(one).sign(id, now, body)).join(' '),
  };
}

/** Seconds or a date, as seconds from now; null if absent or malformed. */
export function parseRetryAfter(value: string | undefined) {
  if (value === undefined) return null;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

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
