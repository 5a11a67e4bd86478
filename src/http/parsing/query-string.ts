import { parse } from 'fast-querystring';
import { Problem } from '../../core/errors.ts';

type Query = Record<string, unknown>;

const maxParameters = 300;
/** Stands for a query with more parameters than are read; see `assertQueryIsRead`. */
const tooManyParameters: Query = Object.freeze(Object.create(null) as Query);

/** Reads `a[]=1&a[]=2` and `a[0]=1&a[1]=2` as the list `a`; a name without brackets stays as it was sent. */
export function parseQuery(text: string): Query {
  if (hasTooMany(text)) return tooManyParameters;
  const flat = parse(decodable(text)) as Query;
  if (!/\[|%5b/i.test(text)) return flat;

  const query = Object.create(null) as Query;
  for (const [key, value] of Object.entries(flat)) {
    const name = /^([^[\]]+)\[\d*\]$/.exec(key)?.[1];
    if (name === undefined && !(key in query)) query[key] = value;
    else append(query, name ?? key, value);
  }
  return query;
}

/** Adds in place: copying the list for each parameter would take quadratic time. */
function append(query: Query, name: string, value: unknown) {
  const list = Array.isArray(query[name]) ? query[name] : name in query ? [query[name]] : [];
  if (Array.isArray(value)) for (const one of value) list.push(one);
  else list.push(value);
  query[name] = list;
}

/** Counts separators before anything is decoded. */
function hasTooMany(text: string) {
  let separators = 0;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    separators += 1;
    if (separators >= maxParameters) return true;
  }
  return false;
}

/** Throws where a query had too many parameters: the router that parses it cannot answer. */
export function assertQueryIsRead(query: unknown) {
  if (query === tooManyParameters) throw new Problem('invalid', `The query has more than ${maxParameters} parameters`);
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
