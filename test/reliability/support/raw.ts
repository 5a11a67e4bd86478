import { once } from 'node:events';
import { connect } from 'node:net';

/** `status` 0: the connection ended, or patience did, without an answer. `took`: from the first byte sent to the answer. */
export type Reply = { status: number; took: number; sent: number };

/** Sends bytes as they are, until there is an answer; for what no decent client sends. */
export async function sendRaw(port: number, parts: Iterable<string | Buffer>, patience = 10_000): Promise<Reply> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let answer = '';
  const ending = new AbortController();
  const over = new Promise<number>((done) => {
    const end = () => {
      ending.abort();
      done(performance.now());
    };
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (answer.includes('\r\n')) end();
    });
    socket.on('error', end).on('close', end);
    setTimeout(end, patience).unref();
  });
  await once(socket, 'connect').catch(() => undefined);
  const begun = performance.now();
  let sent = 0;
  for (const part of parts) {
    if (ending.signal.aborted) break;
    sent += part.length;
    if (!socket.write(part)) await Promise.race([once(socket, 'drain').catch(() => undefined), over]);
  }
  const took = (await over) - begun;
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), took, sent };
}

/** The first lines of a request. */
export const headOf = (method: string, path: string, headers: Record<string, string>) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A request whose body says how long it is. */
export const whole = (method: string, path: string, headers: Record<string, string>, body: string | Buffer = '') => [
  headOf(method, path, body.length > 0 ? { ...headers, 'content-length': String(Buffer.byteLength(body)) } : headers),
  body,
];

/** A request whose body does not say it: a part again and again. */
export function* chunked(method: string, path: string, headers: Record<string, string>, part: Buffer, times: number) {
  yield headOf(method, path, { ...headers, 'transfer-encoding': 'chunked' });
  const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  for (let n = 0; n < times; n += 1) yield chunk;
  yield '0\r\n\r\n';
}
