import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { Webhook as Signer } from 'standardwebhooks';
import { toOneLine } from '../../../core/text.ts';
import { pauseAfter } from '../worker.ts';
import { parseTarget, resolveTarget, TargetError, type CallPolicy } from './outgoing-target.ts';
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
  /** The pause of a webhook whose next event is of a newer version; a server of that version may have its next turn. */
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
export function afterFailure(failure: Failure): number | 'gone' | 'failing' {
  const { attempts, failingSeconds, statusCode, retryAfterSeconds } = failure;
  const { retries, giveUpAfter, maxRetryAfter } = schedule;
  if (statusCode === 410) return 'gone';
  if (failingSeconds >= giveUpAfter) return 'failing';
  return Math.max(pauseAfter(retries, attempts + 1), Math.min(retryAfterSeconds ?? 0, maxRetryAfter));
}

type PostOptions = {
  policy: CallPolicy;
  headers: Record<string, string>;
  body: string;
  /** Limits the whole call, with the name's resolution, until the status of the response. */
  timeoutMs: number;
};
/** The response's status, or the reason why there is none. */
type PostResult = { status: number; retryAfter?: string | undefined } | { error: string };

/** Limits for reading a response body, after which the connection is closed. */
const drainLimit = { bytes: 65_536, ms: 1_000 };

/** Sends a POST request to the allowed address alone, without another look-up or redirects. Never throws. */
export async function post(url: string, { policy, headers, body, timeoutMs }: PostOptions): Promise<PostResult> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const { signal } = timeout;
  try {
    const host = parseTarget(url);
    if (host === null) throw new TargetError('the address is not valid');
    const addresses = await rejectOnAbort(signal, resolveTarget(host, policy));
    return await rejectOnAbort(signal, send(url, { signal, headers, body, lookup: createLookup(addresses) }));
  } catch (error) {
    return { error: signal.aborted ? `no response within ${timeoutMs / 1000} s` : toOneLine(error) };
  } finally {
    clearTimeout(timer);
  }
}

type SendOptions = { signal: AbortSignal; headers: Record<string, string>; body: string; lookup: LookupFunction };

function send(url: string, { signal, headers, body, lookup }: SendOptions) {
  const { request } = url.toLowerCase().startsWith('https:') ? https : http;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise<PostResult>((resolve, reject) => {
    const options = { method: 'POST', signal, lookup, headers: { ...headers, ...length } };
    // Without an agent the connection is new, made to an address that was checked just now.
    const outgoing = request(url, { ...options, agent: false });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const { statusCode = 0, headers } = response;
      resolve({ status: statusCode, retryAfter: headers['retry-after'] });
      drain(response);
    });
    outgoing.end(body);
  });
}

/** Lets the receiver end its response, within limits, then closes the connection. The status counts without it. */
function drain(response: IncomingMessage) {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), drainLimit.ms).unref();
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= drainLimit.bytes) response.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(timer));
}

/** Resolves every name to the checked addresses. */
const createLookup = (addresses: string[]): LookupFunction => {
  const entries = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all }, callback) =>
    all === true ? callback(null, entries) : callback(null, entries[0]!.address, entries[0]!.family);
};

/** Ends the wait for work that does not watch the signal itself. */
const rejectOnAbort = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
  ]);
