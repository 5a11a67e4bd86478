import { expect, test } from 'vitest';
import { truncateHeaderList } from '../../src/core/text.ts';
import { preferredLanguage } from '../../src/core/reference/language.ts';

test('a list of choices is cut behind a value', () => {
  expect(truncateHeaderList('a, b')).toBe('a, b');
  expect(truncateHeaderList('ab,'.repeat(5_000))).toBe(`${'ab,'.repeat(166)}ab`);
  expect([
    truncateHeaderList('x'.repeat(501)),
    truncateHeaderList(`${'x'.repeat(501)},no`),
    truncateHeaderList(undefined),
  ]).toEqual(Array(3).fill(undefined));
  expect(truncateHeaderList('')).toBe('');
});

test('languages behind the bound do not count', () => {
  const long = 'xx;q=0.1,'.repeat(1_000);
  expect(preferredLanguage(`no,${long}`, 'en')).toBe('no');
  expect(preferredLanguage(`${long}no`, 'en')).toBe('en');
  expect(preferredLanguage('x'.repeat(10_000), 'no')).toBe('no');
});
