import { isDecodable } from './query-string.ts';

/** Escapes `%` in a malformed URL below one of `prefixes`, such as a link damaged by a mail program, so that it gets the error page there. */
export function escapeInvalidPath(address: string, prefixes: string[]): string {
  const [path = '', ...query] = address.split('?');
  const isBelow = prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return !isBelow || isDecodable(path) ? address : [path.replaceAll('%', '%25'), ...query].join('?');
}
