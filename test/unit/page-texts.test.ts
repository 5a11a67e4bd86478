import { expect, test } from 'vitest';
import { fill, fillCount } from '../../src/plugins/pages/fill.ts';
import { texts } from '../../src/plugins/pages/texts.ts';

type Texts = { [name: string]: string | Texts };

/** The path of each text with its number of placeholders. */
const placeholders = (all: Texts, path = ''): string[] =>
  Object.entries(all).flatMap(([name, text]) =>
    typeof text === 'string'
      ? [`${path}${name} ${text.split('{}').length - 1}`]
      : placeholders(text, `${path}${name}.`),
  );

test('the languages have the same texts with the same placeholders', () => {
  expect(placeholders(texts.no).toSorted()).toEqual(placeholders(texts.en).toSorted());
  expect(placeholders(texts.en)).toContain('sessionsEnded.other 1');
});

test('a value replaces the placeholder as it is', () => {
  expect(fill('Hello, {}', '$& {}')).toBe('Hello, $& {}');
  const plural = { one: 'one browser', other: '{} browsers' };
  expect([0, 1, 2].map((count) => fillCount(plural, count))).toEqual(['0 browsers', 'one browser', '2 browsers']);
});
