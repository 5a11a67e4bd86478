import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer } from './client.ts';

/** `status` 0: the connection closed or timed out without a response. `took`: milliseconds until the status line. */
export type Reply = { status: number; took: number; sent: number; text: string };

type Sending = {
  /** Bytes after which the server can reject the request; the clock starts then. */
  from?: number;
  patience?: number;
  /** Reads until the server closes the connection instead of until the status line. */
  whole?: boolean;
};

/** Sends raw bytes and reads the response; for malformed requests. */
export async function sendRaw(
  port: number,
  parts: Iterable<string | Buffer>,
  { from = 0, patience = 10_000, whole: isWhole = false }: Sending = {},
): Promise<Reply> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let answered = NaN;
  const ending = new AbortController();
  const over = new Promise<void>((done) => {
    const end = () => {
      ending.abort();
      done();
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n')) return;
      answered ||= performance.now();
      if (!isWhole) end();
    });
    socket.on('error', end).on('close', end);
    setTimeout(end, patience).unref();
  });
  await once(socket, 'connect').catch(() => undefined);
  let begun = performance.now();
  let sent = 0;
  for (const part of parts) {
    if (ending.signal.aborted || answered) break;
    if (sent <= from) begun = performance.now();
    sent += part.length;
    if (!socket.write(part)) await Promise.race([once(socket, 'drain').catch(() => undefined), over]);
  }
  await over;
  socket.destroy();
  const took = (answered || performance.now()) - begun;
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), took, sent, text };
}

export function answerIn({ status, took, text }: Reply): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const lines = head.split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status, took, headers, text: Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString() };
}

/** Request line and headers. */
export const headOf = (method: string, path: string, headers: Record<string, string>) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A request with Content-Length. */
export function whole(method: string, path: string, headers: Record<string, string>, body: string | Buffer = '') {
  const bytes = Buffer.from(body);
  const all = bytes.length > 0 ? { ...headers, 'content-length': String(bytes.length) } : headers;
  return [headOf(method, path, all), ...piecesOf(bytes)];
}

/** Fits into a socket buffer. */
const piece = 65_536;
const piecesOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / piece) }, (_, n) => bytes.subarray(n * piece, (n + 1) * piece));

/** A chunked request that repeats a part. */
export function* chunked(method: string, path: string, headers: Record<string, string>, part: Buffer, times: number) {
  yield headOf(method, path, { ...headers, 'transfer-encoding': 'chunked' });
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  for (let n = 0; n < times; n += 1) yield chunk;
  yield '0\r\n\r\n';
}
