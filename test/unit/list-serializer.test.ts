import { expect, onTestFinished, test } from 'vitest';
import writerOf from 'fast-json-stringify';
import { Type } from '@sinclair/typebox';
import { Nullable } from '../../src/core/schema/types.ts';
import { responses, splitPage } from '../../src/http/responses.ts';
import { getPausingSerializer, compileSerializer } from '../../src/http/list-serializer.ts';
import { responseBudget } from '../../src/lists/response-budget.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const Item = Type.Object({ id: Type.Integer(), title: Type.String(), note: Type.Optional(Type.String()) });
const itemsOf = (count: number, text: string) =>
  Array.from({ length: count }, (_, id) => ({ id, title: text, unknown: 'omitted', ...(id % 2 ? { note: '' } : {}) }));
const pagination = { total_items: 3, per_page: 75, current_page: 1, total_pages: 1 };
const enveloped = (items: unknown[]) => ({
  pagination: { ...pagination, previous_page: null, next_page: 2 },
  items,
});

test.each([
  ['nothing', 0, ''],
  ['one item', 1, 'Kurs'],
  ['items of one piece', 75, 'Første hjelp'],
  ['many items, with characters of every length', 300, 'æ€😀"\\\n'.repeat(200)],
  ['items longer than a piece', 5, 'é'.repeat(70_000)],
  ['more than a megabyte', 60, '€'.repeat(30_000)],
  ['items longer than a megabyte, and short ones', 3, '€'.repeat(400_000)],
  ['a character in two halves where a piece may end', 3, `${'x'.repeat(32_757)}${'😀'.repeat(40_000)}`],
])('a list serialized item by item equals the whole: %s', async (_name, count, text) => {
  const items = itemsOf(count, text);
  for (const [schema, data] of [
    [Type.Array(Item), items],
    [responses.envelope('List', Item), enveloped(items)],
    [responses.listOrEnvelope('List', Item), items],
    [responses.listOrEnvelope('List', Item), enveloped(items)],
  ] as const) {
    const whole = Array.isArray(data) ? Type.Array(Item) : responses.envelope('List', Item);
    const writer = getPausingSerializer(compileSerializer(schema))!;
    const { written, count: fitting } = await writer.items(items);
    expect(fitting).toBe(count);
    expect(String(writer.around(data, written))).toBe((writerOf(whole as object) as (data: unknown) => string)(data));
  }
});

test('a serialized list does not change while others are serialized', async () => {
  const writer = getPausingSerializer(compileSerializer(Type.Array(Item)))!;
  const texts = ['a', 'b', 'æ'].map((letter) => letter.repeat(100_000));
  const written = await Promise.all(texts.map((text) => writer.items(itemsOf(40, text))));
  texts.forEach((text, n) => {
    const items = JSON.parse(String(writer.around([], written[n]!.written))) as { title: string }[];
    expect(items.map(({ title }) => title)).toEqual(Array<string>(40).fill(text));
  });
});

test('serializing a long list leaves turns of the event loop to others', async () => {
  let turns = 0;
  const counting = setInterval(() => (turns += 1));
  await getPausingSerializer(compileSerializer(Type.Array(Item)))!.items(itemsOf(200_000, 'æ'));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

test.each([
  [1, 75, 40],
  [1, 250, 1],
  [2, 241, 240],
  [7, 250, 180],
  [1_000, 250, 3],
])(
  'page %i of %i items that ends after %i has a next page that neither skips nor repeats any',
  (page, limit, fitting) => {
    const before = (page - 1) * limit;
    const { count, limit: size, page: last } = splitPage({ page, limit }, fitting);
    expect(last * size).toBe(before + count);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(fitting);
    expect(size).toBeGreaterThanOrEqual(fitting / 2);
  },
);

type Listed = { items: { id: number }[]; pagination: { total_items: number } };

test('a non-list is serialized as it is, whatever its field names', () => {
  const alone = Type.Object({ items: Type.Array(Item) });
  const optional = Type.Object({ id: Type.Integer(), items: Type.Optional(Type.Array(Item)) });
  expect(compileSerializer(alone)({ items: itemsOf(1, 'a') })).toBe('{"items":[{"id":0,"title":"a"}]}');
  expect(compileSerializer(optional)({ id: 1 })).toBe('{"id":1}');
});

test('a long list equals its items, by length in bytes', async () => {
  const { post, get } = await createProvider();
  const text = `<p>${'Ærlig talt: €5 😀 '.repeat(800)}</p>`;
  for (let n = 0; n < 12; n += 1) {
    const { status } = await post('/v2/courses', { title: `Course ${n}`, text_lead: text });
    expect(status).toBe(201);
  }
  const listed = await get('/v2/courses?paginate=true');
  expect(Number(listed.headers['content-length'])).toBe(Buffer.byteLength(listed.text));
  expect(Buffer.byteLength(listed.text)).toBeGreaterThan(200_000);
  const { items, pagination } = listed.json<Listed>();
  expect(pagination.total_items).toBe(12);
  for (const item of items) expect((await get(`/v2/courses/${item.id}`)).json()).toMatchObject(item);
  const bare = await get('/v2/courses');
  expect(bare.json()).toEqual(items);
  // The cached value is the same.
  expect((await get('/v2/courses')).text).toBe(bare.text);
});

test('a large item serialized in pieces equals the whole, within its limit', async () => {
  const Part = Type.Object({
    id: Type.Integer(),
    text: Type.Optional(Type.String()),
    none: Nullable(Type.Array(Item)),
    items: Type.Array(Item),
    free: Type.Record(Type.String(), Type.String()),
  });
  const Whole = Type.Object({
    late: Type.Optional(Type.Array(Part)),
    title: Type.String(),
    one: Nullable(Part),
    many: Nullable(Type.Array(Part)),
    missing: Type.Optional(Type.Integer()),
  });
  const part = (id: number) => ({
    ...{
      id,
      none: id % 2 ? null : itemsOf(2, 'æ"\n'),
      items: itemsOf(id * 10, 'x'),
      free: { b: 'é', a: 'x'.repeat(id) },
    },
    ...(id % 3 ? {} : { text: '🚑' }),
  });
  const parts = Array.from({ length: 100 }, (_, id) => part(id));
  const before = { ...responseBudget };
  onTestFinished(() => void Object.assign(responseBudget, before));
  responseBudget.embedded = 200_000;
  const atOnce = writerOf(Whole as object) as (data: unknown) => string;
  for (const value of [
    { title: 'a', one: part(500), many: parts, late: parts },
    { title: 'x'.repeat(100_000), one: null, many: [] },
    { title: 'b', one: null, many: null, late: [part(900)], missing: 3 },
  ]) {
    const whole = Buffer.from(atOnce(value));
    responseBudget.bytes = whole.length;
    const { isLarge, whole: write } = getPausingSerializer(compileSerializer(Whole))!;
    expect(isLarge(value)).toBe(value.late !== undefined);
    expect(String(await write(value))).toBe(String(whole));
    responseBudget.bytes = whole.length - 1;
    await expect(write(value)).rejects.toThrow('The item is larger than an answer may be');
  }
});
