import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { isDecodable } from './query-string.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Tells whether an undecodable path of a request leads to a page. */
    pathRepairs: ((request: IncomingMessage, path: string) => boolean)[];
  }
}

export const isBelow = (prefix: string, path: string) => path === prefix || path.startsWith(`${prefix}/`);

/** The path and query of a target that has a scheme and a host (RFC 9112, 3.2.2), which proxies may send. */
const toOriginForm = (target: string) => target.replace(/^https?:\/\/[^/?#]*\/?/i, '/');

/** Escapes `%` in a malformed URL, such as a link damaged by a mail program, where that gets an error page. */
export function escapeInvalidPath(request: IncomingMessage, repairs: FastifyInstance['pathRepairs']): string {
  const url = toOriginForm(request.url ?? '/');
  const [path = '', ...query] = url.split('?');
  if (isDecodable(path) || !repairs.some((isRepaired) => isRepaired(request, path))) return url;
  return [path.replaceAll('%', '%25'), ...query].join('?');
}
