import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldSearch } from '../../src/core/text.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();
const foldInDatabase = async (texts: string[]) =>
  (
    await database.pool.query<{ folded: string }>(
      'select fold_search(text) as folded from unnest($1::text[]) with ordinality t (text, place) order by place',
      [texts],
    )
  ).rows.map(({ folded }) => folded);

const letters = Array.from("aAeEoOåÅäöøØœæÆéÉíłđðıħŋŧßþxÜ’'-. 17\u0301\u030a\u0327");
const text = fc.array(fc.constantFrom(...letters), { maxLength: 12 }).map((parts) => parts.join(''));

test.each([
  ['Øvrebø', 'ovrebo', 'oevreboe', 'OVREBØ'],
  ['Håkonsen', 'hakonsen', 'haakonsen', 'HA\u030aKONSEN'],
  ['Ærlig', 'aerlig', 'ÆRLIG'],
  ['Ålesund', 'alesund', 'aalesund'],
  ['Díaz José', 'diaz jose'],
  ['snøbrett', 'snobrett', 'snoebrett'],
  ['Đorđe Łukasz Strauß', 'dorde lukasz strauss'],
  ["O'Brien", 'o’brien', 'O´BRIEN'],
])('%s is equal in a search to %s', (one, ...others) => {
  for (const other of others) expect(foldSearch(other)).toBe(foldSearch(one));
});

test('letters that are no spelling of each other stay different', () => {
  const words = ['rod', 'rud', 'rid', 'aerlig', 'arlig', "o'brien", 'obrien', 'эй'];
  expect(new Set(words.map(foldSearch)).size).toBe(words.length);
});

test('the database folds texts as the code does', async () => {
  const texts = ['', ' ', ...letters, ...fc.sample(text, 1_000)];
  expect(await foldInDatabase(texts)).toEqual(texts.map(foldSearch));
});

test('the start of a word has the start of its form', () => {
  fc.assert(
    fc.property(text, fc.nat(12), (word, length) => {
      const start = word.normalize('NFC').slice(0, length).trimEnd();
      expect(foldSearch(word).startsWith(foldSearch(start).replace(/ $/, ''))).toBe(true);
    }),
  );
});
