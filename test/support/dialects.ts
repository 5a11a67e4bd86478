import fc from 'fast-check';

/** The three ways to send a write. */
export const dialects = ['form', 'multipart', 'json'] as const;
export type Dialect = (typeof dialects)[number];
export type Fields = Record<string, unknown>;

export const contentTypes: Record<Dialect, string> = {
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary=edge',
  json: 'application/json',
};

/** Field names and values as PHP encodes them: `tags[0][title]`, `true` as 1, null as an empty string. */
export function toPairs(value: unknown, name = ''): [string, string][] {
  if (value === undefined) return [];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, part]) => toPairs(part, name === '' ? key : `${name}[${key}]`));
  }
  if (value === null) return [[name, '']];
  if (typeof value === 'boolean') return [[name, value ? '1' : '0']];
  return [[name, `${value as string | number}`.toWellFormed()]];
}

export const encodeForm = (pairs: [string, string][]) =>
  pairs.map(([name, text]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text)}`).join('&');

const quoted = (name: string) => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
export const encodeMultipart = (pairs: [string, string][]) =>
  `${pairs
    .map(([name, text]) => `--edge\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`)
    .join('')}--edge--\r\n`;

/** Infinity as `1e400`, which `JSON.stringify` cannot produce. */
const jsonOf = (fields: Fields) =>
  JSON.stringify(fields, (_name, value: unknown) => (value === Infinity ? '\u0001e400' : value)).replaceAll(
    '"\\u0001e400"',
    '1e400',
  );

export function encodeBody(dialect: Dialect, fields: Fields) {
  if (dialect === 'json') return jsonOf(fields);
  return dialect === 'form' ? encodeForm(toPairs(fields)) : encodeMultipart(toPairs(fields));
}

export const contentTypeHeader = (dialect: Dialect) => ({ 'content-type': contentTypes[dialect] });

/** Values that commonly break services. */
export const hostileValues: unknown[] = [
  ...['\0', 'a\0b', '\uD800', '\uFFFD', '2147483648', '9007199254740993', '9223372036854775808', '1e400', '-1', '0'],
  ...['2026-02-30', '0000-01-01', '9999-12-31', '10000-01-01', 'infinity', '-infinity', 'now', 'NaN', '%ff', '%', '+'],
  ...['__proto__', 'constructor', 'a[__proto__][x]', '[]', '{}', '[[', '{"__proto__":{"x":1}}', '[{"id":1e400}]'],
  ...['👩‍👩‍👧‍👦', 'а', 'Ａ', '\u202E', '\u0000', 'ß', 'İ', "'; drop table courses; --", "' or 1=1", '${1}', '$1', '\\', '"'],
  ...['x'.repeat(70_000), '🚑'.repeat(300), ' ', '\t', '\u00A0', '', ',', ',,,', '1,2,x', 'true', '../../etc/passwd'],
  ...[
    true,
    false,
    null,
    0,
    -1,
    1.5,
    1e400,
    2 ** 31,
    9007199254740993,
    2 ** 63,
    [],
    {},
    [[]],
    [null],
    { a: { b: { c: 1 } } },
    ['a', 'a'],
  ],
];
export const hostileValue = fc.constantFrom(...hostileValues);
