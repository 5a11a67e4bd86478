import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { registerSecret } from './secrets.ts';

/**
 * `status` 0: no response, since the connection was refused, cut or timed out; `text` has the reason, prefixed
 * `cut within a response: ` if a part of the response had arrived.
 */
export type HttpResponse = { status: number; headers: IncomingHttpHeaders; text: string; elapsed: number };
export type RequestOptions = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Timeout in milliseconds. */
  timeoutMs?: number;
};

/** A client with keep-alive connections; never throws. */
export function createClient(apiKey: string, { sockets = 256 }: { sockets?: number } = {}) {
  registerSecret(apiKey);
  // Shorter than the server's keep-alive timeout, so that a request never meets a closing connection.
  const agent = new Agent({ keepAlive: true, maxSockets: sockets, timeout: 4_000 });
  async function send(url: string, { method = 'GET', headers = {}, body, timeoutMs = 30_000 }: RequestOptions = {}) {
    // After a stall of this process, closed sockets must be removed from the pool first.
    await nextTurn();
    return new Promise<HttpResponse>((resolve) => {
      const startedAt = performance.now();
      const settle = (status: number, responseHeaders: IncomingHttpHeaders = {}, text = '') => {
        clearTimeout(timer);
        resolve({ status, headers: responseHeaders, text, elapsed: performance.now() - startedAt });
      };
      let bytesBefore = 0;
      const fail = (error?: Error) => {
        const isPartial = (outgoing.socket?.bytesRead ?? 0) > bytesBefore;
        settle(0, {}, `${isPartial ? 'cut within a response: ' : ''}${error?.message ?? 'aborted'}`);
      };
      const allHeaders = {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      };
      const outgoing = request(url, { agent, method, headers: allHeaders }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => settle(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString()));
        response.on('error', fail);
        response.on('aborted', fail);
      });
      // The socket may have carried earlier responses.
      outgoing.on('socket', (socket) => (bytesBefore = socket.bytesRead));
      outgoing.on('error', fail);
      outgoing.end(body);
      // Handles responses that have already arrived first.
      const abort = async () => nextTurn().then(() => outgoing.destroy(new Error('response timeout')));
      const timer = setTimeout(() => void abort(), timeoutMs);
    });
  }
  return {
    apiKey,
    send,
    get: (url: string, options: RequestOptions = {}) => send(url, options),
    post: (url: string, body: unknown, options: RequestOptions = {}) =>
      send(url, { method: 'POST', body: JSON.stringify(body), ...options }),
    close: () => agent.destroy(),
  };
}
export type Client = ReturnType<typeof createClient>;
