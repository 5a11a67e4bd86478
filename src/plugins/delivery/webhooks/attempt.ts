import { Webhook as Signer } from 'standardwebhooks';
import type { CallPolicy } from '../../../core/outgoing-target.ts';
import { post } from '../../../core/post.ts';
import type { Attempt, Message } from './schema.ts';

export type Endpoint = { url: string; secret: string; previousSecret: string | null };

export const attemptTimeoutMs = 10_000;

/** Signs a message and sends it once. Only a 2xx is a success. */
export async function attemptDelivery(
  endpoint: Endpoint,
  { id, ...content }: Message,
  {
    headers: more,
    ...options
  }: { policy: CallPolicy | undefined; timeoutMs: number; headers?: Record<string, string> },
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

/** The parameters of an attempt in the statements that log it. */
export const toLogValues = ({ messageId, type, statusCode, durationMs, error }: Attempt) => [
  messageId,
  type,
  statusCode,
  durationMs,
  error,
];
