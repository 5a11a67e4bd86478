import type { IncomingMessage } from 'node:http';
import { parse } from 'fast-querystring';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../core/errors.ts';

type Query = Record<string, unknown>;

const maxParameters = 300;
/** Marks a query with too many parameters; see `assertParameterCount`. */
const tooManyParameters: Query = Object.freeze(Object.create(null) as Query);

/** Parses `a[]=1&a[]=2` and `a[0]=1&a[1]=2` as the list `a`. */
export function parseQuery(text: string): Query {
  if (hasMoreParts(text, maxParameters)) return tooManyParameters;
  const flat = parse(replaceInvalidUtf8(text)) as Query;
  if (!/\[|%5b/i.test(text)) return flat;

  const query = Object.create(null) as Query;
  for (const [key, value] of Object.entries(flat)) {
    const name = /^([^[\]]+)\[\d*\]$/.exec(key)?.[1];
    if (name === undefined && !(key in query)) query[key] = value;
    else append(query, name ?? key, value);
  }
  return query;
}

/** Mutates the list: a copy per parameter would take quadratic time. */
function append(query: Query, name: string, value: unknown) {
  const list = Array.isArray(query[name]) ? query[name] : name in query ? [query[name]] : [];
  if (Array.isArray(value)) for (const item of value) list.push(item);
  else list.push(value);
  query[name] = list;
}

/** True if a query or form has more than `count` parts between ampersands. */
export function hasMoreParts(text: string, count: number) {
  let parts = 1;
  for (let at = text.indexOf('&'); at !== -1 && parts <= count; at = text.indexOf('&', at + 1)) parts += 1;
  return parts > count;
}

/** Throws if the query had too many parameters. `parseQuery` runs in the router, where an error has no response. */
export function assertParameterCount(query: unknown) {
  if (query === tooManyParameters) throw new Problem('invalid', `The query has more than ${maxParameters} parameters`);
}

/** Replaces undecodable names and values by U+FFFD, which no parameter accepts; the parser would pass them through. */
export const replaceInvalidUtf8 = (text: string) =>
  isDecodable(text) ? text : text.replace(/[^&=]+/g, (part) => (isDecodable(part) ? part : '%EF%BF%BD'));

/** True if each escape of the text is that of a character. */
function isDecodable(text: string) {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

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
