import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpResponse } from './client.ts';

/** `status` 0: the connection closed or timed out without a response. `elapsed`: milliseconds until the status line. */
type RawResponse = { status: number; elapsed: number; sent: number; text: string };

type RawOptions = {
  /** Bytes after which the server can reject the request; the clock starts then. */
  clockFromByte?: number;
  timeoutMs?: number;
  /** Reads until the server closes the connection instead of until the status line. */
  untilClose?: boolean;
};

/** Sends raw bytes and reads the response; for malformed requests. */
export async function sendRaw(
  port: number,
  parts: Iterable<string | Buffer>,
  { clockFromByte = 0, timeoutMs = 10_000, untilClose = false }: RawOptions = {},
): Promise<RawResponse> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let respondedAt = NaN;
  const ending = new AbortController();
  const ended = new Promise<void>((done) => {
    const end = () => {
      ending.abort();
      done();
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n')) return;
      respondedAt ||= performance.now();
      if (!untilClose) end();
    });
    socket.on('error', end).on('close', end);
    setTimeout(end, timeoutMs).unref();
  });
  await once(socket, 'connect').catch(() => undefined);
  let startedAt = performance.now();
  let sent = 0;
  for (const part of parts) {
    if (ending.signal.aborted || respondedAt) break;
    if (sent <= clockFromByte) startedAt = performance.now();
    sent += part.length;
    if (!socket.write(part)) await Promise.race([once(socket, 'drain').catch(() => undefined), ended]);
    // Reads a response between two parts; writes that the kernel takes at once do not return to the event loop.
    await nextTurn();
  }
  await ended;
  socket.destroy();
  const elapsed = (respondedAt || performance.now()) - startedAt;
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), elapsed, sent, text };
}

export function parseResponse({ status, elapsed, text }: RawResponse): HttpResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const lines = head.split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status, elapsed, headers, text: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString() };
}

/** Request line and headers. */
export const requestHead = (method: string, path: string, headers: Record<string, string>) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A request with Content-Length. */
export function requestWithLength(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer = '',
) {
  const bytes = Buffer.from(body);
  const all = bytes.length > 0 ? { ...headers, 'content-length': String(bytes.length) } : headers;
  return [requestHead(method, path, all), ...splitBuffer(bytes)];
}

/** Fits into a socket buffer. */
const maxChunkBytes = 65_536;
const splitBuffer = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / maxChunkBytes) }, (_, n) =>
    bytes.subarray(n * maxChunkBytes, (n + 1) * maxChunkBytes),
  );

/** A chunked request that repeats a part. */
export function* chunkedRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  part: Buffer,
  times: number,
) {
  yield requestHead(method, path, { ...headers, 'transfer-encoding': 'chunked' });
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  for (let n = 0; n < times; n += 1) yield chunk;
  yield '0\r\n\r\n';
}
