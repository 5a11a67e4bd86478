import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keepSecret } from './secrets.ts';

/**
 * `status` 0: no response, since the connection was refused, cut or timed out; `text` has the reason, prefixed `cut
 * amid: ` if a part of the response had arrived.
 */
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string; took: number };
export type Asked = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Timeout in milliseconds. */
  patience?: number;
};

/** A client with keep-alive connections; never throws. */
export function clientOf(apiKey: string, { sockets = 256 }: { sockets?: number } = {}) {
  keepSecret(apiKey);
  // Shorter than the server's keep-alive timeout, so that a request never meets a closing connection.
  const agent = new Agent({ keepAlive: true, maxSockets: sockets, timeout: 4_000 });
  async function ask(url: string, { method = 'GET', headers = {}, body, patience = 30_000 }: Asked = {}) {
    // After a stall of this process, closed sockets must be removed from the pool first.
    await nextTurn();
    return new Promise<Answer>((done) => {
      const begun = performance.now();
      const over = (status: number, got: IncomingHttpHeaders = {}, text = '') => {
        clearTimeout(limit);
        done({ status, headers: got, text, took: performance.now() - begun });
      };
      let before = 0;
      const cut = (error?: Error) => {
        const isAmid = (sent.socket?.bytesRead ?? 0) > before;
        over(0, {}, `${isAmid ? 'cut amid: ' : ''}${error?.message ?? 'aborted'}`);
      };
      const all = {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      };
      const sent = request(url, { agent, method, headers: all }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => over(answer.statusCode ?? 0, answer.headers, Buffer.concat(parts).toString()));
        answer.on('error', cut);
        answer.on('aborted', cut);
      });
      // The socket may have carried earlier responses.
      sent.on('socket', (socket) => (before = socket.bytesRead));
      sent.on('error', cut);
      sent.end(body);
      // Handles responses that have already arrived first.
      const giveUp = async () => nextTurn().then(() => sent.destroy(new Error('no answer in time')));
      const limit = setTimeout(() => void giveUp(), patience);
    });
  }
  return {
    apiKey,
    ask,
    get: (url: string, more: Asked = {}) => ask(url, more),
    post: (url: string, body: unknown, more: Asked = {}) =>
      ask(url, { method: 'POST', body: JSON.stringify(body), ...more }),
    close: () => agent.destroy(),
  };
}
export type Client = ReturnType<typeof clientOf>;
