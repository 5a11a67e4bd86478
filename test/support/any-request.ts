import fc from 'fast-check';
import { contentTypes, hostileValue } from './request-bodies.ts';

const goodValues = fc.constantFrom(
  '1',
  '2',
  '75',
  'true',
  'no',
  '2026-01-01',
  '2026-01',
  '2026-07-01T09:00:00.5+02:00',
  'en',
  'all',
  'products',
);
const rawValues = fc.constantFrom(
  '%ff',
  '%',
  '%00',
  '%ed%a0%80',
  '+',
  '&',
  '=',
  '%26',
  '%C3%28',
  '[]',
  '%5B%5D',
  '1;2',
  '#',
);
export const anyText = fc.oneof(
  hostileValue.map((value) =>
    encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()),
  ),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
/** Numbers in the form of a month. */
export const months = fc
  .tuple(
    fc.constantFrom('2027', '0000', '9999', '27', ''),
    fc.constantFrom('-', '/', ''),
    fc.integer({ min: 0, max: 14 }),
  )
  .map(([year, sign, month]) => `${year}${sign}${String(month).padStart(2, '0')}`);
const brackets = ['', '', '', '', '[]', '[0]', '[x]', '[__proto__]', '%5B%5D', '%5b1%5d', '[', '[]['];
/** Parameters of these names, and of none, with any values. */
export const anyQuery = (names: string[]) => {
  const parameter = fc
    .tuple(
      fc.constantFrom(...names, '__proto__', 'constructor', 'toString', 'x'),
      fc.constantFrom(...brackets),
      fc.oneof(goodValues, rawValues, months, anyText),
    )
    .map(([name, bracket, value]) => `${name}${bracket}=${value.slice(0, 4_000)}`);
  return fc.array(parameter, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('&'));
};

const fragments = fc.constantFrom(
  ...[
    'title=',
    'A',
    '&',
    '=',
    '[',
    ']',
    '%',
    '%ff',
    '%5B',
    '__proto__',
    'tags',
    '{',
    '}',
    '"title"',
    ':',
    ',',
    '"A"',
    'null',
  ],
  ...[
    '--edge',
    '--edge--',
    '\r\n',
    '\r\n\r\n',
    'content-disposition: form-data; name="title"',
    '; filename="x"',
    '\0',
    '\\u0000',
  ],
);
export const anyBytes = fc.oneof(
  fc.array(fragments, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map((part) => Buffer.from(part)),
);
export const anyContentType = fc.constantFrom(
  ...Object.values(contentTypes),
  'multipart/form-data',
  'application/json; charset=latin1',
  'x',
  '/',
);
