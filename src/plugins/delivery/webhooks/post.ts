import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { parseTarget, resolveTarget, TargetError, type CallPolicy } from './outgoing-target.ts';
import { toOneLine } from '../../../core/text.ts';

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

/**
 * Sends one POST request to an address that the policy allows, and only to it: the name is not looked up again. Follows
 * no redirects. Never throws.
 */
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

/** For work that does not watch the signal itself. */
const rejectOnAbort = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
  ]);
