import { request as send, type IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';

/** Addresses of servers to test instead of an app in this process; `TEST_DATABASE_URL` names their database. */
export const remoteBases = process.env['TEST_BASE_URL']?.split(',') ?? [];
export const [remoteBase] = remoteBases;

/** Makes `inject` send its requests to that address. */
export function injectInto(base: string, app: FastifyInstance) {
  const inject = async (options: InjectOptions | string) => toResponse(await exchange(base, toOptions(options)));
  Object.defineProperty(app, 'inject', { value: inject });
}

const toOptions = (options: InjectOptions | string): InjectOptions =>
  typeof options === 'string' ? { url: options } : options;

type Response = { status: number; headers: IncomingHttpHeaders; body: Buffer };

function exchange(base: string, { method = 'GET', url, headers = {}, ...rest }: InjectOptions) {
  const payload = rest.payload ?? rest.body;
  const isRaw = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload);
  const body = isRaw ? payload : JSON.stringify(payload);
  const type = isRaw || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const { hostname, port } = new URL(base);
  const [, host, path = '/'] = /^(?:https?:\/\/([^/]+))?(.*)$/s.exec(url as string)!;
  const all = { ...type, ...(host && { host }), ...headers, ...length } as Record<string, string>;
  return new Promise<Response>((resolve, reject) => {
    const outgoing = send(
      { agent: false, hostname, port, path: encodeUnsafe(path), method, headers: all },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
        );
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const encodeUnsafe = (path: string) => path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);

function toResponse({ status, headers, body }: Response) {
  const text = body.toString();
  const response = { statusCode: status, headers, body: text, payload: text, rawPayload: body };
  return { ...response, json: () => JSON.parse(text) as unknown } as unknown as LightMyRequestResponse;
}
