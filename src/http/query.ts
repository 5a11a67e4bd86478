import { parse } from 'fast-querystring';

type Query = Record<string, unknown>;

/** Reads `a[]=1&a[]=2` and `a[0]=1&a[1]=2` as the list `a`; a name without brackets stays as it was sent. */
export function parseQuery(text: string): Query {
  const flat = parse(decodable(text)) as Query;
  if (!/\[|%5b/i.test(text)) return flat;

  const query = Object.create(null) as Query;
  for (const [key, value] of Object.entries(flat)) {
    const name = /^([^[\]]+)\[\d*\]$/.exec(key)?.[1];
    if (name === undefined) query[key] = key in query ? [query[key], value].flat() : value;
    else query[name] = name in query ? [query[name], value].flat() : [value].flat();
  }
  return query;
}

/** With U+FFFD, which no parameter accepts, for names and values that are no UTF-8: they would be taken as they stand. */
const decodable = (text: string) =>
  isDecodable(text) ? text : text.replace(/[^&=]+/g, (part) => (isDecodable(part) ? part : '%EF%BF%BD'));

function isDecodable(text: string) {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
