import fc from 'fast-check';
import { toSingleLine } from '../../src/core/text.ts';

/** Valid and invalid values of a field, according to the interface document. */
export type FieldKind = {
  valid: fc.Arbitrary<unknown>;
  /** Rejected in every dialect. */
  invalid: unknown[];
  /** Only expressible in JSON, and rejected. */
  inJson: unknown[];
  /** Expected value in the response, if it differs from the input. */
  shown?: (value: never) => unknown;
};

const unstorable = ['a\0b', '\uD800', 'b\uDC00a', 'K\uFFFDre'];
const lists = [['a'], ['1'], ['1', '2'], { a: '1' }, [{ id: 1 }]];
const inJson = [[], {}, [[]], [null], Infinity];

const oddities = ['<b>x</b>', "';--", '${1}', '100 %', 'a+b&c=d', '\r\nx\n', ' x ', '[1]', '{"a":1}', 'null', '0', '+'];
const storable = (text: string) => text.isWellFormed() && !/[\0\uFFFD]/.test(text);
const anyText = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      ...oddities,
      '__proto__',
      'constructor',
      '2026-02-30',
      '1e400',
      'x'.repeat(maxLength),
      '🚑'.repeat(maxLength),
    ),
  );

const hasVisible = (value: string) => /[^\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(value);

export const text = (maxLength: number): FieldKind => ({
  valid: anyText(maxLength).filter(storable),
  invalid: [...unstorable, ...lists, 'x'.repeat(maxLength + 1), '🚑'.repeat(maxLength + 1)],
  inJson: [...inJson, true, false],
});

/** A single-line text; control characters have a separate test. */
export const line = (maxLength: number): FieldKind => ({
  ...text(maxLength),
  valid: text(maxLength).valid.filter(isLine),
});
const isLine = (value: unknown) => toSingleLine(value as string) === value;

/** Trimmed, and normalised to NFC. */
export const title: FieldKind = {
  ...text(255),
  valid: anyText(255).filter(
    (value) => storable(value) && isLine(value) && hasVisible(value) && value.normalize('NFC').length <= 255,
  ),
  shown: (value: string) => value.trim().normalize('NFC'),
};

export const email: FieldKind = {
  ...text(254),
  valid: fc.constantFrom('a@b.example', 'Ø.user+tag@school.example', `${'a'.repeat(244)}@b.example`),
  invalid: [
    ...text(254).invalid,
    ...['nobody', '@', 'a b@c.example', 'a@', '@b.example', 'a\0@b.example', `${'a'.repeat(245)}@b.example`, '1,2'],
  ],
};

const noNumbers = ['x', '1e3', '0x10', ' 5 ', '5.0', '1.5', '+5', '--5', '5,', '٥', '1_000', '-1', 'NaN', 'Infinity'];
const tooLarge = ['1e400', '9007199254740993', '9223372036854775808', '-9223372036854775809', '9'.repeat(400)];
const number = (others: string[]) => ({
  invalid: [...noNumbers, ...tooLarge, ...unstorable, ...lists, '__proto__', '2026-02-30', 'true', ...others],
  inJson: [...inJson, 1.5, true, false, -1, 2 ** 53],
});

export const count: FieldKind = {
  valid: fc.oneof(fc.nat(), fc.constantFrom(0, 1, 2_147_483_647)),
  ...number(['2147483648', '4294967296']),
};

export const choice = (numbers: number[]): FieldKind => ({
  valid: fc.constantFrom(...numbers),
  ...number(['0', String(Math.max(...numbers) + 1), '2147483648']),
});

/** The id of one of the provider's rows. */
export const oneOfIds = (ids: number[]): FieldKind => ({ valid: fc.constantFrom(...ids), ...number(['0']) });

/** Ids of the provider's rows, in every accepted list format. */
export const listOfIds = (ids: number[]): FieldKind => ({
  valid: fc
    .tuple(fc.array(fc.constantFrom(...ids), { minLength: 1, maxLength: 4 }), fc.constantFrom(',', ' , ', ',,', ''))
    .map(([list, comma]) => (comma === '' ? list : list.join(comma))),
  // A JSON array in a string is invalid: the document specifies commas.
  invalid: [
    ...['x', '1,x', '1;2', '0', '-1', '1.5', '1e400', '9223372036854775808', `[${ids[0]}]`, '{}', '__proto__', 'a\0'],
    ...[['x'], [0], [ids[0], 'x'], [[['1']]], [{ id: ids[0] }], { a: ids[0] }, { __proto__x: '1' }],
  ],
  inJson: [true, 1.5, [1.5], [true], [[]], [{}], Infinity, [Infinity]],
  shown: (value: number[] | string) =>
    [...new Set((typeof value === 'string' ? value.split(',').filter(Boolean) : value).map(Number))].sort(
      (a, b) => a - b,
    ),
});

const flags = { '1': true, yes: true, ON: true, True: true, '0': false, no: false, Off: false, FALSE: false };
export const flag: FieldKind = {
  valid: fc.oneof(fc.boolean(), fc.constantFrom(...Object.keys(flags))),
  invalid: [...['2', '-1', 't', 'y', ' 1', '01', 'null', 'ja', 'constructor', '1e400'], ...unstorable, ...lists],
  inJson: [...inJson, 2, -1, 1.5],
  shown: (value: boolean | keyof typeof flags) => (typeof value === 'boolean' ? value : flags[value]),
};

/** A code in upper or lower case. */
export const code = (codes: string[], others: string[]): FieldKind => ({
  valid: fc.constantFrom(...codes).chain((upper) => fc.constantFrom(upper, upper.toLowerCase())),
  invalid: [...others, ...unstorable, ...lists, '1', '__proto__', 'constructor', 'x'.repeat(300)],
  inJson: [...inJson, true, false, 1],
  shown: (value: string) => value.toUpperCase(),
});
