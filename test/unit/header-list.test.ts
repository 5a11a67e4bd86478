import { expect, test } from 'vitest';
import { cutList } from '../../src/core/header-list.ts';
import { preferredLanguage } from '../../src/core/reference/language.ts';

test('a list of choices is cut behind a value', () => {
  expect(cutList('a, b')).toBe('a, b');
  expect(cutList('ab,'.repeat(5_000))).toBe(`${'ab,'.repeat(166)}ab`);
  expect([cutList('x'.repeat(501)), cutList(`${'x'.repeat(501)},no`), cutList(undefined)]).toEqual(
    Array(3).fill(undefined),
  );
  expect(cutList('')).toBe('');
});

test('languages behind the bound do not count', () => {
  const long = 'xx;q=0.1,'.repeat(1_000);
  expect(preferredLanguage(`no,${long}`, 'en')).toBe('no');
  expect(preferredLanguage(`${long}no`, 'en')).toBe('en');
  expect(preferredLanguage('x'.repeat(10_000), 'no')).toBe('no');
});
