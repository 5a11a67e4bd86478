import { expect, test } from 'vitest';
import {
  formatTimestamp,
  formatExactTimestamp,
  parseTimestamp,
  parseStoredTimestamp,
} from '../../src/core/timestamps.ts';
import { Nullable, OneOf } from '../../src/core/schema/types.ts';
import { toSlug } from '../../src/core/catalog-urls.ts';
import { parseQuery } from '../../src/http/parsing/query-string.ts';
import { preferredLanguage } from '../../src/core/reference/language.ts';

test.each([
  ['2026-03-29', '2026-03-29 00:00:00'],
  ['2026-03-29 10:00', '2026-03-29 10:00:00'],
  ['2026-03-29 10:00:05', '2026-03-29 10:00:05'],
  ['2026-03-29T10:00:05', '2026-03-29 10:00:05'],
  ['2026-03-29T10:00:05.123456Z', '2026-03-29 10:00:05.123456+00:00'],
  ['2026-03-29T10:00:00+02:00', '2026-03-29 10:00:00+02:00'],
  ['2026-03-29T10:00:00 02:00', '2026-03-29 10:00:00+02:00'],
  ['2026-03-29 10:00:00 +02:00', '2026-03-29 10:00:00+02:00'],
  ['2026-03-29 10:00:00 -02:00', '2026-03-29 10:00:00-02:00'],
  ['2026-03-29 10:00:00  02:00', '2026-03-29 10:00:00+02:00'],
  ['2026-03-29 10:00:00-0330', '2026-03-29 10:00:00-03:30'],
  ['2028-02-29', '2028-02-29 00:00:00'],
])('%s is parsed as %s', (text, read) => expect(parseTimestamp(text)).toBe(read));

test.each([
  '',
  'now',
  '2026-02-29',
  '2026-04-31',
  '2026-00-10',
  '0000-01-01',
  '10000-01-01',
  '26-01-01',
  '2026-1-1',
  '2026-01-01 24:00',
  '2026-01-01 10:60',
  '2026-01-01T10:00:00+15:00',
  '2026-01-01 10',
  '2026-01-01 10:00:00.1234567890',
  '2026-01-01 10:00:00   02:00',
  '2026-01-01 10:00:00 + 02:00',
  ' 2026-01-01',
  '2026-01-01\n',
])('%j is not a timestamp', (text) => expect(parseTimestamp(text)).toBeUndefined());

test('stored timestamps have a four-digit year in every time zone', () => {
  for (const text of ['0001-01-02T23:59:59Z', '0001-01-01T00:00:00+14:00', '9999-12-30', '9999-12-31T23:59:59Z', 'now'])
    expect(parseStoredTimestamp(text), text).toBeUndefined();
  for (const text of ['0001-01-03', '9999-12-29 23:59:59', '2026-03-29T10:00:00+02:00'])
    expect(parseStoredTimestamp(text)).toBe(parseTimestamp(text));
});

test.each([
  ['2026-07-01 09:00:00.123456+02', '2026-07-01T09:00:00+02:00', '2026-07-01T09:00:00.123456+02:00'],
  ['2026-01-01 09:00:00+01', '2026-01-01T09:00:00+01:00', '2026-01-01T09:00:00+01:00'],
  ['2026-01-01 09:00:00.5+05:45', '2026-01-01T09:00:00+05:45', '2026-01-01T09:00:00.5+05:45'],
  ['1800-01-01 00:00:00+00:19:32', '1800-01-01T00:00:00+00:19', '1800-01-01T00:00:00+00:19'],
  ['2026-01-01 09:00:00-03', '2026-01-01T09:00:00-03:00', '2026-01-01T09:00:00-03:00'],
  ['2026-01-01 09:00:00.25-03:30', '2026-01-01T09:00:00-03:30', '2026-01-01T09:00:00.25-03:30'],
  ['1860-01-01 09:00:00-03:30:52', '1860-01-01T09:00:00-03:30', '1860-01-01T09:00:00-03:30'],
])('%s is shown as %s', (stored, shown, exact) =>
  expect([formatTimestamp(stored), formatExactTimestamp(stored)]).toEqual([shown, exact]),
);

test.each([
  ['a=1&b=2', { a: '1', b: '2' }],
  ['a[]=1', { a: ['1'] }],
  ['a[]=1&a[]=2', { a: ['1', '2'] }],
  ['a%5B0%5D=1&a%5B1%5D=2', { a: ['1', '2'] }],
  ['a=1&a=2', { a: ['1', '2'] }],
  ['a=1&a[]=2', { a: ['1', '2'] }],
  ['a[b]=1', { 'a[b]': '1' }],
  ['a[]=1&b=x%26y', { a: ['1'], b: 'x&y' }],
  ['__proto__[]=1&a=2', { a: '2', ['__proto__']: ['1'] }],
])('the query %s', (text, query) =>
  expect(Object.entries(parseQuery(text)).sort()).toEqual(Object.entries(query).sort()),
);

test.each([
  ['Førstehjelp på jobb', 'forstehjelp-pa-jobb'],
  ['Åse & Ærlig', 'ase-and-aerlig'],
  ['TypeScript 5', 'typescript-5'],
  ['中文', 'course'],
])('the slug of %s is %s', (title, slug) => expect(toSlug(title)).toBe(slug));

test.each([
  [undefined, 'en', 'en'],
  [undefined, 'no', 'no'],
  ['nb', 'en', 'no'],
  ['fr', 'no', 'no'],
  ['en', 'no', 'en'],
  ['*', 'no', 'no'],
  ['fr, nn;q=0.2', 'en', 'no'],
  ['garbage;;q=x', 'en', 'en'],
] as const)('Accept-Language %s with default %s prefers %s', (header, fallback, language) =>
  expect(preferredLanguage(header, fallback)).toBe(language),
);

test('a nullable enum accepts null', () => {
  expect(Nullable(OneOf([1, 2]))).toMatchObject({ type: ['integer', 'null'], enum: [1, 2, null] });
});
