import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText, normalizeEmail, normalizeTitle, toStreamSafe } from '../../src/core/text.ts';

/** What the ends lose, by a pattern that takes quadratic time. */
const invisibleEnds =
  /^(?:\s|(?=\p{Default_Ignorable_Code_Point})\p{Cf})+|(?:\s|(?![\u{E0020}-\u{E007F}])(?=\p{Default_Ignorable_Code_Point})\p{Cf})+$/gu;
const characters = [
  ' ',
  '\u00a0',
  '\u200b',
  '\u2060',
  '\ufeff',
  '\u0600',
  '\u{e0067}',
  '\u{e007f}',
  '🏴',
  'x',
  'é',
  '(',
];
const anyText = fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 });

test('a title loses what is invisible at its ends, and nothing else', () => {
  const title = anyText.map((text) => `x${text}x`);
  const ends = fc.tuple(anyText, title, anyText).map((parts) => parts.join(''));
  fc.assert(
    fc.property(ends, (text) => {
      expect(normalizeTitle(text)).toBe(text.replace(invisibleEnds, ''));
    }),
    { numRuns: 2_000 },
  );
});

test('a text that is longer than any title or address is not normalized', () => {
  const blanks = ' '.repeat(510);
  expect([normalizeTitle(blanks), normalizeTitle(` ${blanks}`)]).toEqual(['', ` ${blanks}`]);
  expect([normalizeEmail(blanks.slice(2)), normalizeEmail(blanks)]).toEqual(['', blanks]);
  expect(normalizeTitle(` ${blanks}`, 1_600)).toBe('');
});

test('a joiner follows each 30 combining marks in a row, once', () => {
  const marks = (count: number) => '\u0323\u0301'.repeat(count).slice(0, count);
  expect(toStreamSafe(`x${marks(30)}`)).toBe(`x${marks(30)}`);
  expect(toStreamSafe(`x${marks(70)}y`)).toBe(`x${marks(30)}\u034f${marks(30)}\u034f${marks(10)}y`);
  const title = normalizeTitle(`x${marks(70)}`);
  expect(title).toBe(`x${marks(30)}\u034f${marks(30)}\u034f${marks(10)}`.normalize('NFC'));
  expect([normalizeTitle(title), foldText(title)]).toEqual([title, title]);
});
