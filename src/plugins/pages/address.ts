/** Escapes `%` in a malformed URL below /my, such as a link damaged by a mail program, so that it gets our error page. */
export function escapeInvalidPath(address: string): string {
  const [path = '', ...query] = address.split('?');
  if (!/^\/my(\/|$)/.test(path) || canBeDecoded(path)) return address;
  return [path.replaceAll('%', '%25'), ...query].join('?');
}

function canBeDecoded(path: string) {
  try {
    return Boolean(decodeURI(path));
  } catch {
    return false;
  }
}
