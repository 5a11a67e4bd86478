import { expect, test } from 'vitest';
import { CourseBody, CourseChange } from '../../../src/domains/courses/courses/fields.ts';
import { addCategory, categorizeCourse } from '../../../src/domains/courses/courses/category-service.ts';
import { addDate } from '../../support/dates.ts';
import { createCustomer, createProduct, write } from '../../support/orders.ts';
import { dialects, encodeBody, fullCourse, contentTypeHeader, type Fields } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

const everything = '?include=products,labels';
const read = async (me: Provider, id: number, query = everything) =>
  (await me.get(`/v2/courses/${id}${query}`)).json<Fields & { products: Fields[]; updated_at: string }>();
const put = (me: Provider, id: number, fields: object) => me.put(`/v2/courses/${id}`, fields);
/** Microsecond timestamps, which only the database shows. */
async function readTimestamps(me: Provider, id: number) {
  const { rows } = await write(me, (tx) =>
    tx.execute<{ updated: string; related: string; product: string }>(
      `select c.updated_at::text as updated, c.related_items_updated_at::text as related, p.updated_at::text as product
       from courses c join products p on p.course_id = c.id and p.is_main_product where c.id = ${id}`,
    ),
  );
  return rows[0]!;
}
const volatile = { updated_at: expect.any(String) as string, related_items_updated_at: expect.any(String) as string };

test('PUT accepts every field of POST, all optional', () => {
  expect(Object.keys(CourseChange.properties)).toEqual(Object.keys(CourseBody.properties));
  expect(CourseChange.required ?? []).toEqual([]);
});

const addresses = { catalog_url: expect.any(String) as string };

test.each(dialects)('all sent fields change and read as after a create: %s', async (dialect) => {
  const [me, other] = [await createProvider(), await createProvider()];
  const id = await me.course({
    title: 'Before',
    text_lead: 'Before',
    tags: [{ title: 'Old' }],
    duration_value: 1,
    duration_unit: 1,
  });
  const created = await read(other, await other.course(fullCourse));
  const response = await me.put(`/v2/courses/${id}`, encodeBody(dialect, fullCourse), contentTypeHeader(dialect));
  expect([response.status, response.json()]).toEqual([200, { course_id: id }]);
  const titles = (text: unknown) => (text as Fields[]).map(({ title }) => title);
  const changed = await read(me, id);
  const anywhere = { id, ...addresses, created_at: expect.any(String) as string, ...volatile };
  const without = { tags: expect.anything() as object, labels: expect.anything() as object };
  expect(changed).toEqual({
    ...created,
    ...anywhere,
    ...without,
    products: [{ ...created.products[0], id: expect.any(Number) as number }],
  });
  expect([titles(changed['tags']), titles(changed['labels'])]).toEqual([
    titles(created['tags']),
    titles(created['labels']),
  ]);
  for (const language of ['en', 'de-DE']) {
    const translated = `?description_language=${language}`;
    const there = await read(other, created['id'] as number, translated);
    expect((await read(me, id, translated))['descriptions']).toEqual(there['descriptions']);
  }
});

test.each(Object.entries(fullCourse).filter(([name]) => !name.startsWith('duration_')))(
  'updating only %s changes nothing else',
  async (name, value) => {
    const me = await createProvider();
    const id = await me.course({
      title: 'Whole',
      text_lead: 'Lead',
      tags: [{ title: 'Old' }],
      price_value: 5,
      custom_properties: { a: 'b' },
    });
    const before = await read(me, id);
    expect((await put(me, id, { [name]: value })).status).toBe(200);
    const after = await read(me, id);
    const shown: Record<string, string[]> = {
      title: ['title', 'catalog_url', 'products'],
      active: ['is_active'],
      price_value: ['price', 'products'],
      price_currency: ['price', 'products'],
      price_comment: ['price'],
      email_booking: ['lead_settings'],
      email_more_info: ['lead_settings'],
      translations: ['description_languages'],
    };
    const moved = Object.keys(after).filter(
      (member) => JSON.stringify(after[member]) !== JSON.stringify(before[member]),
    );
    const expected = shown[name] ?? (name.startsWith('text_') ? ['descriptions'] : [name]);
    expect(moved.filter((member) => !(member in volatile))).toEqual(
      name === 'is_part_time' ? [] : Object.keys(after).filter((member) => expected.includes(member)),
    );
  },
);

test('empty fields are cleared; empty booleans count as not sent', async () => {
  const me = await createProvider();
  const id = await me.course({ ...fullCourse, active: 0, type: 'public' });
  const bare = await read(me, await me.course({ title: 'Bare' }));
  const optional = Object.keys(fullCourse).filter((name) => name !== 'title');
  const empty = Object.fromEntries(optional.map((name) => [name, '']));
  expect((await put(me, id, empty)).status).toBe(200);
  const remaining = { id, title: fullCourse.title, is_active: false, is_full_time: true };
  const own = { ...addresses, created_at: expect.any(String) as string, ...volatile };
  const product = { ...bare.products[0], id: expect.any(Number) as number, title: fullCourse.title };
  expect(await read(me, id)).toEqual({ ...bare, ...remaining, ...own, products: [product] });
});

test.each<[object, string]>([
  [{ title: '' }, 'Missing field(s): title'],
  [{ title: ' \t' }, 'Missing field(s): title'],
  [{ title: null, level: 4 }, 'Missing field(s): title. Field(s) not valid: level'],
  [{ level: 4, email_booking: 'x' }, 'Field(s) not valid: level,email_booking'],
  [{ duration_value: 3 }, 'Missing field(s): duration_unit'],
  [{ duration_unit: 3 }, 'Missing field(s): duration_value'],
  [{ type: 'corporate' }, 'Missing field(s): customer_id'],
  [{ customer_id: 1 }, 'Field(s) not valid: customer_id'],
  [{ type: 'corporate', customer_id: 999_999_999 }, 'Field(s) not valid: customer_id'],
  [{ tags: [999_999_999] }, 'Field(s) not valid: tags'],
  [{ labels: [{ id: 999_999_999 }] }, 'Field(s) not valid: labels'],
  [{ tags: 'x' }, 'Field(s) not valid: tags'],
  [{ custom_properties: { a: 'x'.repeat(256) } }, 'Field(s) not valid: custom_properties'],
  [{ translations: { xx: { lead: 'x' } } }, 'Field(s) not valid: translations'],
])('%j is rejected and changes nothing: %s', async (fields, error) => {
  const me = await createProvider();
  const id = await me.course({ title: 'Whole' });
  const before = [await read(me, id), await readTimestamps(me, id)];
  const remaining = { reference: 'kept out', tags: [{ title: 'kept out' }], text_lead: 'kept out' };
  const response = await put(me, id, { ...remaining, ...fields });
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect([await read(me, id), await readTimestamps(me, id)]).toEqual(before);
  expect((await me.get('/v2/course-tags')).json()).toEqual([]);
});

test('an empty update changes only updated_at', async () => {
  const me = await createProvider();
  const id = await me.course({ ...fullCourse });
  const before = await read(me, id);
  expect((await me.put(`/v2/courses/${id}`)).status).toBe(200);
  expect(await read(me, id)).toEqual({ ...before, ...volatile });
});

test('duration value and unit are validated together with the stored ones', async () => {
  const me = await createProvider();
  const id = await me.course({ duration_value: 1, duration_unit: 2 });
  const duration = async (fields: object) => {
    const response = await put(me, id, fields);
    return response.status === 200 ? (await read(me, id))['duration'] : response.json().error;
  };
  expect(await duration({ duration_value: 3 })).toEqual({ value: 3, code: 'weeks', unit: 'Weeks' });
  expect(await duration({ duration_unit: 1 })).toEqual({ value: 3, code: 'days', unit: 'Days' });
  expect(await duration({ duration_value: '' })).toBe('Missing field(s): duration_value');
  expect(await duration({ duration_unit: '' })).toBe('Missing field(s): duration_unit');
  expect(await duration({ duration_value: '', duration_unit: '' })).toBe(null);
});

test('a corporate course requires a customer, which is cleared with another type', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [a, b, foreign] = [await createCustomer(me), await createCustomer(me), await createCustomer(other)];
  const id = await me.course();
  const of = async (customer: number) => (await me.get(`/v2/courses?customer_id=${customer}`)).json<object[]>().length;
  const said = async (fields: object) => (await put(me, id, fields)).json().error as string | undefined;

  expect(await said({ type: 'corporate', customer_id: foreign })).toBe('Field(s) not valid: customer_id');
  expect(await said({ type: 'corporate', customer_id: a })).toBeUndefined();
  expect([await of(a), (await read(me, id))['type']]).toEqual([1, 'corporate']);
  expect(await said({ customer_id: b })).toBeUndefined();
  expect([await of(a), await of(b)]).toEqual([0, 1]);
  expect(await said({ customer_id: '' })).toBe('Missing field(s): customer_id');
  expect(await said({ type: 'internal', customer_id: b })).toBe('Field(s) not valid: customer_id');
  expect(await said({ type: 'internal' })).toBeUndefined();
  expect([await of(b), (await read(me, id))['type']]).toEqual([0, 'internal']);
});

test('sent tags and labels replace the existing ones', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const id = await me.course({ tags: [{ title: 'a' }, { title: 'b' }], labels: [{ title: 'red' }] });
  await other.course({ tags: [{ title: 'theirs' }] });
  const beside = await me.course({ tags: [{ title: 'a' }], labels: [{ title: 'red' }] });
  const idOf = new Map<string, number>(
    (await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>().map((tag) => [tag.title, tag.id]),
  );
  const text = async (course = id) => {
    const { tags, labels } = await read(me, course);
    return [tags, labels].map((list) => (list as { title: string }[]).map(({ title }) => title).join());
  };
  await put(me, id, { tags: [idOf.get('b')!, { title: 'c' }] });
  expect(await text()).toEqual(['b,c', 'red']);
  await put(me, id, { labels: '[{"title":"blue"},{"title":"RED"}]' });
  expect(await text()).toEqual(['b,c', 'red,blue']);
  await put(me, id, { tags: [], labels: '' });
  expect(await text()).toEqual(['', '']);
  expect(await text(beside)).toEqual(['a', 'red']);
  const [theirs] = (await other.get('/v2/course-tags')).json<{ id: number }[]>();
  expect((await put(me, id, { tags: [idOf.get('a')!, theirs!.id] })).json().error).toBe('Field(s) not valid: tags');
});

test.each(dialects)('custom properties merge; an empty value removes its key: %s', async (dialect) => {
  const me = await createProvider();
  const id = await me.course({ custom_properties: { room: 'A', floor: '2', colour: 'red' } });
  const send = async (custom_properties: unknown) => {
    await me.put(`/v2/courses/${id}`, encodeBody(dialect, { custom_properties }), contentTypeHeader(dialect));
    return (await read(me, id))['custom_properties'];
  };
  expect(await send({ room: 'B', seats: '9' })).toEqual({ room: 'B', floor: '2', colour: 'red', seats: '9' });
  expect(await send({ floor: '', colour: null })).toEqual({ room: 'B', seats: '9' });
  expect(await send({ unknown: '' })).toEqual({ room: 'B', seats: '9' });
  expect(await send({ room: null, seats: '' })).toBe(null);
  expect(await send({ room: 'C' })).toEqual({ room: 'C' });
  expect(await send('')).toBe(null);
});

test('merged custom properties are limited in number', async () => {
  const me = await createProvider();
  const many = (from: number) => Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`k${from + n}`, 'x']));
  const id = await me.course({ custom_properties: many(0) });
  const response = await put(me, id, { custom_properties: many(150) });
  expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: custom_properties' }]);
  expect((await put(me, id, { custom_properties: many(50) })).status).toBe(200);
});

test.each(dialects)('translations merge, text by text: %s', async (dialect) => {
  const me = await createProvider();
  const id = await me.course({ translations: { en: { lead: 'Lead', place: 'Place' }, da: { lead: 'Dansk' } } });
  const send = async (translations: unknown) => {
    const response = await me.put(
      `/v2/courses/${id}`,
      encodeBody(dialect, { translations }),
      contentTypeHeader(dialect),
    );
    expect(response.status, response.text).toBe(200);
    const english = (await read(me, id, '?description_language=en'))['descriptions'] as Fields;
    return [english['lead'], english['place'], ((await read(me, id))['description_languages'] as string[]).join()];
  };
  expect(await send({ en: { lead: 'New' } })).toEqual(['New', 'Place', 'da,en']);
  expect(await send({ en: { lead: '' }, fi: { lead: 'Suomi' } })).toEqual(['', 'Place', 'da,en,fi']);
  expect(await send({ en: { place: null } })).toEqual(['', '', 'da,fi']);
  expect(await send({ da: '' })).toEqual(['', '', 'fi']);
  expect(await send('')).toEqual(['', '', '']);
});

test('title, price and currency are copied to the main product only', async () => {
  const me = await createProvider();
  const id = await me.course({ title: 'Before', price_value: 100, price_currency: 'EUR' });
  await createProduct(me, id, { title: 'Exam', price: '50' });
  const prices = async () =>
    (await read(me, id)).products.map(({ title, price, currency }) => [title, price, currency].join(' '));
  await put(me, id, { title: ' After ' });
  expect(await prices()).toEqual(['After 100 EUR', 'Exam 50 NOK']);
  await put(me, id, { price_value: 200 });
  expect(await prices()).toEqual(['After 200 EUR', 'Exam 50 NOK']);
  await put(me, id, { price_currency: 'sek' });
  expect(await prices()).toEqual(['After 200 SEK', 'Exam 50 NOK']);
  await put(me, id, { price_value: '', price_currency: '' });
  expect(await prices()).toEqual(['After 0 NOK', 'Exam 50 NOK']);
  expect((await read(me, id))['price']).toEqual({ value: 0, currency: 'NOK', comment: null });
});

test('an imported main product title is kept until the course changes it', async () => {
  const me = await createProvider();
  const id = await me.course({ title: 'Course', price_value: 100 });
  await write(me, (tx) => tx.execute(`update products set title = 'Fee', vat_percentage = 25 where course_id = ${id}`));
  await put(me, id, { text_lead: 'Lead', price_value: 120 });
  expect((await read(me, id)).products).toMatchObject([{ title: 'Fee', price: 120, vat_percentage: 25 }]);
});

test.each([
  {},
  { tags: [{ title: 'OLD' }] },
  { title: 'Whole', price_value: 5, price_currency: 'nok' },
  { is_full_time: 0, reference: '', labels: '', translations: { en: { lead: '' } } },
])('%j changes nothing', async (fields) => {
  const me = await createProvider();
  const id = await me.course({ title: 'Whole', price_value: 5, tags: [{ title: 'Old' }] });
  const before = await readTimestamps(me, id);
  expect((await put(me, id, fields)).status).toBe(200);
  expect(await readTimestamps(me, id)).toEqual(before);
});

test.each<[object, boolean, boolean]>([
  [{ text_lead: 'x' }, false, false],
  [{ labels: [{ title: 'x' }] }, false, false],
  [{ translations: { en: { lead: 'x' } } }, false, false],
  [{ title: 'Other' }, true, true],
  [{ price_value: 6 }, true, true],
  [{ price_currency: 'eur' }, true, true],
  [{ tags: [{ title: 'New' }] }, true, false],
  [{ tags: '' }, true, false],
])('%j changes updated_at; related items: %s, product: %s', async (fields, related, product) => {
  const me = await createProvider();
  const id = await me.course({ title: 'Whole', price_value: 5, tags: [{ title: 'Old' }] });
  const before = await readTimestamps(me, id);
  expect((await put(me, id, fields)).status).toBe(200);
  const after = await readTimestamps(me, id);
  expect(after.updated > before.updated).toBe(true);
  expect([after.related > before.related, after.product > before.product]).toEqual([related, product]);
  if (related) expect(after.related).toBe(after.updated);
  if (product) expect(after.product).toBe(after.updated);
});

test('a sync by updated_at_min returns the changed course', async () => {
  const me = await createProvider();
  const [a] = [await me.course(), await me.course()];
  const first = await me.get('/v2/courses?updated_at_min=2020-01-01');
  await put(me, a, { text_lead: 'changed' });
  const through = encodeURIComponent(String(first.headers['x-updated-through']));
  const next = (await me.get(`/v2/courses?updated_at_min=${through}`)).json<{ id: number }[]>();
  expect(next.map(({ id }) => id)).toContain(a);
});

/** Dates that a sync returns after this work. */
async function datesAfter(me: Provider, work: () => Promise<unknown>) {
  // Starts at another change, so that earlier changes of a date do not count.
  await me.course();
  const list = (from: string) => me.get(`/v2/coursedates?include_deleted=1&updated_at_min=${encodeURIComponent(from)}`);
  const through = String((await list('2020-01-01')).headers['x-updated-through']);
  await work();
  return (await list(through)).json<{ items: Fields[] }>().items.map((date) => date['coursedate_id']);
}

test('dates that inherit a changed title or URL get a new updated_at', async () => {
  const me = await createProvider();
  const id = await me.course({ title: 'Knitting' });
  const follows = await addDate(me, id);
  const named = await addDate(me, id, { title: 'Its own' });
  const gone = await addDate(me, id, { deletedAt: '2026-01-01' });
  await addDate(me, await me.course());
  const after = (fields: object) => datesAfter(me, () => put(me, id, fields));

  expect(await after({ text_lead: 'x', active: 0, price_value: 9 })).toEqual([]);
  expect(await after({ title: 'KNITTING' })).toEqual([follows, gone]);
  expect(await after({ title: 'Crochet' })).toEqual([follows, named, gone]);
  expect(await after({ title: 'Crochet' })).toEqual([]);
});

test("a changed category URL changes updated_at of the course's dates", async () => {
  const me = await createProvider();
  const id = await me.course();
  const date = await addDate(me, id);
  const category = (n: number) => addCategory(database, { title: `Category ${n} of ${me.title}` });
  const [first, second, third] = [await category(1), await category(2), await category(3)];
  const after = (categoryId: number) => datesAfter(me, async () => categorizeCourse(await me.ctx(), id, categoryId));
  expect(await after(second)).toEqual([date]);
  expect(await after(third)).toEqual([]);
  expect(await after(first)).toEqual([date]);
  expect(await after(first)).toEqual([]);
});

const refused = { error: 'An active course with an equal title exists already' };

test("a title equal to another active course's (trimmed, case-insensitive) is rejected", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  await me.course({ title: 'Ærlig Kurs' });
  await other.course({ title: 'Elsewhere' });
  const id = await me.course({ title: 'Second' });
  for (const title of ['Ærlig Kurs', ' ærlig kurs ', 'ÆRLIG KURS']) {
    const response = await put(me, id, { title, text_lead: 'kept out' });
    expect([response.status, response.json()]).toEqual([400, refused]);
  }
  expect(await read(me, id)).toMatchObject({ title: 'Second', descriptions: { lead: '' } });
  expect((await put(me, id, { title: 'Elsewhere' })).status).toBe(200);
  expect((await put(me, id, { title: ' elsewhere ' })).status).toBe(200);
  expect(await read(me, id)).toMatchObject({
    title: 'elsewhere',
    catalog_url: expect.stringMatching(/^https:\/\/catalog\.example\/elsewhere-\d+$/) as string,
  });
});

test('activating a course with an equal active title is rejected', async () => {
  const me = await createProvider();
  const active = await me.course({ title: 'Taken' });
  const id = await me.course({ title: 'taken', active: 0 });
  for (const fields of [{ active: 1 }, { active: 'yes', title: 'TAKEN' }]) {
    const response = await put(me, id, fields);
    expect([response.status, response.json()]).toEqual([400, refused]);
  }
  expect((await put(me, id, { title: 'Taken', active: '' })).status).toBe(200);
  expect((await put(me, id, { active: 1, title: 'Free' })).status).toBe(200);
  expect((await put(me, id, { active: 0, title: 'Taken' })).status).toBe(200);
  await put(me, active, { active: 0 });
  expect((await put(me, id, { active: 1 })).status).toBe(200);
  expect((await put(me, active, { active: 1 })).json()).toEqual(refused);
});
