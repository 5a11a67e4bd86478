import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText } from '../../src/core/text.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();
const foldInDatabase = async (texts: string[]) =>
  (
    await database.pool.query<{ folded: string }>(
      'select fold_text(text) as folded from unnest($1::text[]) with ordinality t (text, place) order by place',
      [texts],
    )
  ).rows.map(({ folded }) => folded);

const blanks = [...Array.from('\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000'), ...range(0x2000, 0x200a)];
const apostrophes = Array.from("'`´ʹʻʼʽʾʿˊˋ՚‘’‛′‵\ua78c＇｀");
const hyphens = Array.from('-\u00ad˗֊־\u2010\u2011‒–—―⁃−⸺⸻﹘﹣－');

function range(from: number, to: number) {
  return Array.from({ length: to - from + 1 }, (_, n) => String.fromCodePoint(from + n));
}
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

test('blanks, apostrophes and hyphens are equal in names, also in runs and at the ends', () => {
  for (const blank of blanks)
    expect([blank, foldText(`${blank}Anne${blank} ${blank}Marie${blank}`)]).toEqual([blank, 'anne marie']);
  for (const sign of apostrophes) expect([sign, foldText(`O${sign}Brien`)]).toEqual([sign, "o'brien"]);
  for (const sign of hyphens) expect([sign, foldText(`ANNE${sign}Marie`)]).toEqual([sign, 'anne-marie']);
  expect(foldText('A\u030Ase  Ødegård')).toBe('åse ødegård');
  expect(new Set(['Anne Marie', 'AnneMarie', 'Anne-Marie', "Anne'Marie", 'Anne\u200bMarie'].map(foldText)).size).toBe(
    5,
  );
});

const characters = range(1, 0x1ffff).filter(isStorable);
/** Characters whose case is of a later Unicode version than the database's. */
const otherCase = await selectByCase();
async function selectByCase() {
  const { rows } = await database.pool.query<{ lower: string }>(
    'select lower(text collate "und-x-icu") as lower from unnest($1::text[]) with ordinality t (text, place) order by place',
    [characters],
  );
  return characters.filter((character, n) => rows[n]!.lower !== character.toLowerCase());
}

test('the database folds each character as the code does', async () => {
  const folded = await foldInDatabase(characters.map((character) => `A${character}b`));
  const different = characters.filter((character, n) => folded[n] !== foldText(`A${character}b`));
  expect(different).toEqual(otherCase);
  expect(different.filter((character) => !/\p{L}/u.test(character))).toEqual([]);
});

test('the database folds texts as the code does', async () => {
  const marks = Array.from('\u0301\u030a\u0323\u0327\u0338\u0345');
  const letters = [
    'a',
    'A',
    'Å',
    'å',
    'İ',
    'ı',
    'I',
    'ß',
    'ẞ',
    'Σ',
    'σ',
    'ς',
    'Ω',
    'ŉ',
    '\u{1d160}',
    '\u{10400}',
    '🎉',
  ];
  const invisible = ['\u200b', '\u200d', '\u2060', '\ufeff', '\u{e0062}'];
  const part = fc.constantFrom(...blanks, ...apostrophes, ...hyphens, ...marks, ...letters, ...invisible);
  const text = fc.oneof(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }).filter(isStorable),
  );
  const sample = ['', ' ', '\u00a0\u00a0', '’', ...fc.sample(text, 1_000)];
  const laterCase = new Set(otherCase);
  const texts = sample.filter((one) => Array.from(one).every((character) => !laterCase.has(character)));
  expect(await foldInDatabase(texts)).toEqual(texts.map(foldText));
  expect(texts.map(foldText).map(foldText)).toEqual(texts.map(foldText));
});

test('texts that are equal without regard to case fold alike', async () => {
  const { rows } = await database.pool.query<{ same: boolean }>(
    `select fold_text(text) = fold_text(lower(text collate "und-x-icu")) as same
      from (select 'AΣ' || chr(n) || 'A' as text from generate_series(1, 55295) n) t`,
  );
  expect(rows.every(({ same }) => same)).toBe(true);
});
