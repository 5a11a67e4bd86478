/**
 * An address below /my that a mail program has mangled, such as a link with a `%` at its end, is read as it stands, or no
 * page could say what to do about it.
 */
export function readable(address: string): string {
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
