import qs from 'qs';
import { describe, expect, it } from 'vitest';
import { parseFields, parseFormText } from '../../src/http/parsing/forms.ts';

const repeat = (count: number, field: (n: number) => string) => Array.from({ length: count }, (_, n) => field(n));
const parseAtOnce = (text: string) =>
  qs.parse(text, { depth: 5, parseArrays: false, parameterLimit: 5_000, arrayLimit: 1_000, plainObjects: true });

describe('a form of many fields', () => {
  it.each([
    ['names', repeat(1_700, (n) => `a${n}=${n}`)],
    ['items of a list', repeat(1_700, (n) => `a[${n % 600}][b${n}]=${n}`)],
    ['a name that occurs again and again', repeat(1_000, (n) => `a=${n}`)],
    ['names that occur in several slices', repeat(1_700, (n) => `a${n % 600}=${n}`)],
    ['escaped values', repeat(700, (n) => `a${n}=%26%3D+%25${n}`)],
  ])('is parsed in slices as it would be at once: %s', async (_name, fields) => {
    expect(await parseFormText(fields.join('&'))).toEqual(parseAtOnce(fields.join('&')));
  });

  it('leaves turns of the event loop to others', async () => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await parseFormText(repeat(4_900, (n) => `a${n}=1`).join('&'));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it.each([
    ['more than 5,000 fields', repeat(5_001, (n) => `a${n}=1`)],
    ['more than 1,000 values of a name, in several slices', repeat(1_001, () => 'a=1')],
    ['nested too deeply', repeat(700, (n) => `a[b][c][d][e][f][${n}]=1`)],
  ])('is refused: %s', async (_name, fields) => {
    await expect(parseFormText(fields.join('&'))).rejects.toThrow(RangeError);
  });
});

describe('a multipart form', () => {
  it('has names and values without escapes', async () => {
    const form = await parseFields([
      ['a[b]', '&=%26+[]'],
      ['a[c]', '%'],
      ['+', ''],
      ['{', '{'],
      ['a[b]', '\uD800'],
    ]);
    expect(form).toEqual({ a: { b: ['&=%26+[]', '\uFFFD'], c: '%' }, '+': '', '{': '{' });
  });

  it('is limited as a form is', async () => {
    const fields = Array.from({ length: 5_001 }, (_, n) => [`a${n}`, ''] as [string, string]);
    await expect(parseFields(fields)).rejects.toThrow(RangeError);
  });
});
