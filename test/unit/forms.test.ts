import { describe, expect, it } from 'vitest';
import { parseFields, parseFormText } from '../../src/http/parsing/forms.ts';

const repeat = (count: number, field: (n: number) => string) => Array.from({ length: count }, (_, n) => field(n));

describe('a form', () => {
  it.each<[string, object]>([
    ['a=1&b=&c&=2&&a=3', { a: ['1', '3'], b: '', c: '' }],
    ['a[]=1&a[]=2&b[]=3', { a: { 0: ['1', '2'] }, b: { 0: '3' } }],
    ['a[1]=x&a[0]=y&a[70]=z', { a: { 0: 'y', 1: 'x', 70: 'z' } }],
    ['a[b][c]=1&a[b][d]=2&a%5Be%5d=3', { a: { b: { c: '1', d: '2' }, e: '3' } }],
    ['a[b[c]]=1&a[d=2&[e]=3&f]=4&a[g]h[i]j=5', { a: { 'b[c]': '1', '[d': '2', g: { i: '5' } }, e: '3', 'f]': '4' }],
    ['a=1&a[b]=2', { a: ['1', { b: '2' }] }],
    ['a[b]=2&a=&c[]=3&c[0]=&d=4&d=', { a: { b: '2' }, c: { 0: '3' }, d: ['4', ''] }],
    ['a[b]=2&a=1', { a: [{ b: '2' }, '1'] }],
    ['a=1&a=2&a[b]=3&a[c]=4', { a: { 0: '1', 1: '2', b: '3', c: '4' } }],
    ['a+b=c+d%2B&e=f=g&h=x]=y', { 'a b': 'c d+', e: 'f=g', h: 'x]=y' }],
    ['a=%ff&b%ff=1&c=%26%C3%A6', { a: '\uFFFD', '\uFFFD': '1', c: '&æ' }],
    ['a[__proto__][b]=1&__proto__=2&c[__proto__]=3&d[constructor]=4', { a: {}, c: {}, d: { constructor: '4' } }],
  ])('%s', (text, fields) => {
    expect(parseFormText(text)).toEqual(fields);
  });

  it('may have 5,000 fields, each of five brackets and 1,000 values', () => {
    expect(Object.keys(parseFormText(repeat(5_000, (n) => `a${n}=1`).join('&')))).toHaveLength(5_000);
    expect(parseFormText(repeat(1_000, () => 'a[b][c][d][e][f]=1').join('&'))).toEqual({
      a: { b: { c: { d: { e: { f: repeat(1_000, () => '1') } } } } },
    });
  });

  it.each([
    ['more than 5,000 fields', repeat(5_001, (n) => `a${n}=1`)],
    ['more than 1,000 values of a name', repeat(1_001, () => 'a=1')],
    ['more than 1,000 values of a name in two forms', repeat(1_001, (n) => (n % 2 ? 'a[]=1' : 'a[0]=1'))],
    ['nested too deeply', ['a[b][c][d][e][f][g]=1']],
    ['nested too deeply, without an end', ['a[b][c][d][e][f][g=1']],
  ])('is refused: %s', (_name, fields) => {
    expect(() => parseFormText(fields.join('&'))).toThrow(RangeError);
  });
});

describe('a multipart form', () => {
  it('has names and values without escapes', () => {
    const form = parseFields([
      ['a[b]', '&=%26+[]'],
      ['a[c]', '%'],
      ['+', ''],
      ['{', '{'],
      ['a[b]', '\uD800'],
    ]);
    expect(form).toEqual({ a: { b: ['&=%26+[]', '\uFFFD'], c: '%' }, '+': '', '{': '{' });
  });

  it('is limited as a form is', () => {
    const fields = Array.from({ length: 5_001 }, (_, n) => [`a${n}`, ''] as [string, string]);
    expect(() => parseFields(fields)).toThrow(RangeError);
    expect(() => parseFields(fields.slice(0, 1_001).map(() => ['a', '']))).toThrow(RangeError);
  });
});
