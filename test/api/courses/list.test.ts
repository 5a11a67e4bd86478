import { expect, test } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

type Listed = { id: number; title: string; description_languages: string[]; descriptions: Record<string, string> };
const items = (response: TestResponse) => response.json<Listed[]>();
const idsOf = (response: TestResponse) => items(response).map(({ id }) => id);
const tagsOf = async (me: Provider) =>
  new Map((await me.get('/v2/course-tags')).json<{ id: number; title: string }[]>().map((tag) => [tag.title, tag.id]));

/** No endpoint changes timestamps. */
async function setTimestamp(me: Provider, courseId: number, column: 'created_at' | 'updated_at', at: string) {
  await write(me, async (tx) => {
    await tx.execute(`update courses set ${column} = '${at}' where id = ${courseId}`);
  });
}

test("lists only the provider's own courses, ordered by id", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [a, b] = [await me.course(), await me.course()];
  await other.course();

  const response = await me.get('/v2/courses');
  expect(response.status).toBe(200);
  expect(idsOf(response)).toEqual([a, b]);
});

test('limit, page and since_id select a page; a page past the end is empty', async () => {
  const me = await createProvider();
  const ids = [await me.course(), await me.course(), await me.course()];
  const query = async (query: string) => idsOf(await me.get(`/v2/courses?${query}`));

  expect(await query('limit=2')).toEqual(ids.slice(0, 2));
  expect(await query('limit=2&page=2')).toEqual(ids.slice(2));
  expect(await query('limit=2&page=3')).toEqual([]);
  expect(await query(`since_id=${ids[0]}`)).toEqual(ids.slice(1));
  expect(await query(`since_id=${ids[0]}&limit=1`)).toEqual(ids.slice(1, 2));
  expect(await query(`since_id=${ids[0]}&limit=1&page=2`)).toEqual(ids.slice(2));
});

test('a limit above 250 is served as 250, and the default is 75', async () => {
  const me = await createProvider();
  await write(me, async (tx, now) => {
    await tx.execute(
      `insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id, created_at, updated_at)
       select ${me.id}, 'Bulk ' || n, 'bulk', 6, 1, 'no', '${now}', '${now}' from generate_series(1, 260) n`,
    );
  });
  expect(items(await me.get('/v2/courses'))).toHaveLength(75);
  expect(items(await me.get('/v2/courses?limit=1000'))).toHaveLength(250);
  expect((await me.get('/v2/courses?limit=1000&paginate=1')).json().pagination).toMatchObject({
    per_page: 250,
    total_pages: 2,
  });
});

test('paginate=true wraps the list in the envelope', async () => {
  const me = await createProvider();
  for (let n = 0; n < 5; n += 1) await me.course();
  const page = async (query: string) => (await me.get(`/v2/courses?paginate=true&limit=2&${query}`)).json();

  expect((await page('page=2')).pagination).toEqual({
    total_items: 5,
    per_page: 2,
    current_page: 2,
    total_pages: 3,
    previous_page: 1,
    next_page: 3,
  });
  expect(await page('page=9')).toEqual({
    pagination: { total_items: 5, per_page: 2, current_page: 9, total_pages: 3, previous_page: 3, next_page: null },
    items: [],
  });
  const empty = (await (await createProvider()).get('/v2/courses?paginate=1&page=2')).json();
  expect(empty.pagination).toMatchObject({ total_items: 0, total_pages: 0, previous_page: null, next_page: null });
});

test('Link contains the next page by since_id with the other parameters', async () => {
  const me = await createProvider();
  const ids = [await me.course({ active: true }), await me.course(), await me.course()];
  const first = await me.get('/v2/courses?limit=2&page=1&updated_at_min=2020-01-01&include[]=products');
  const next = new URL(/^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))![1]!);
  expect(next.origin).toBe('http://localhost:3000');
  expect(Object.fromEntries(next.searchParams)).toEqual({
    limit: '2',
    since_id: String(ids[1]),
    updated_at_min: '2020-01-01',
    'include[]': 'products',
  });
  const second = await me.get(next.pathname + next.search);
  expect([idsOf(second), second.headers['link']]).toEqual([[ids[2]], undefined]);
});

test('Link uses PUBLIC_URL regardless of the Host header', async () => {
  const me = await createProvider();
  await me.course();
  await me.course();
  const response = await me.get('http://elsewhere.example/v2/courses?limit=1');
  expect(String(response.headers['link'])).toMatch(
    /^<http:\/\/localhost:3000\/v2\/courses\?limit=1&since_id=\d+>; rel="next"$/,
  );
});

test('created_at and updated_at windows are half-open and combine', async () => {
  const me = await createProvider();
  const [a, b, c] = [await me.course(), await me.course(), await me.course()];
  await setTimestamp(me, a, 'created_at', '2026-03-01 00:00:00+01');
  await setTimestamp(me, b, 'created_at', '2026-03-02 00:00:00+01');
  await setTimestamp(me, c, 'created_at', '2026-03-03 00:00:00+01');
  await setTimestamp(me, b, 'updated_at', '2026-04-01 12:00:00.5+02');
  const query = async (query: string) => idsOf(await me.get(`/v2/courses?${query}`));

  expect(await query('created_at_min=2026-03-02')).toEqual([b, c]);
  expect(await query('created_at_max=2026-03-02')).toEqual([a]);
  expect(await query('created_at_min=2026-03-02&created_at_max=2026-03-03')).toEqual([b]);
  expect(await query('created_at_min=2026-03-02&updated_at_max=2026-05-01')).toEqual([b]);
  expect(await query('updated_at_min=2026-04-01%2012:00:00&updated_at_max=2026-04-01%2012:00:01')).toEqual([b]);
  expect(await query('updated_at_max=2026-04-01T10:00:00.5Z')).toEqual([]);
  expect(await query('updated_at_max=2026-04-01T10:00:00.500001Z')).toEqual([b]);
  // An unescaped plus is decoded as a blank.
  expect(await query('updated_at_max=2026-04-01T12:00:01+02:00')).toEqual([b]);
});

test.each(['2026-02-30', 'yesterday', 'now', '2026-13-01', '0000-01-01', '2026-01-01 25:00:00', 'infinity'])(
  'created_at_min=%s is not a date',
  async (value) => {
    const response = await (await createProvider()).get(`/v2/courses?created_at_min=${encodeURIComponent(value)}`);
    expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: created_at_min']);
  },
);

test('a sync resumed from X-Updated-Through has no gap', async () => {
  const me = await createProvider();
  const a = await me.course();
  const first = await me.get('/v2/courses?updated_at_min=2020-01-01');
  const through = String(first.headers['x-updated-through']);
  expect(through).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}[+-]\d\d:\d\d$/);
  const b = await me.course();
  expect(idsOf(first)).toEqual([a]);
  expect(idsOf(await me.get(`/v2/courses?updated_at_min=${encodeURIComponent(through)}`)).at(-1)).toBe(b);
  expect((await me.get('/v2/courses')).headers).not.toHaveProperty('x-updated-through');
});

test('description_language selects the language of translated courses', async () => {
  const me = await createProvider();
  const translated = {
    text_lead: 'Norsk',
    translations: { en: { lead: 'English', hotelInfo: '<p>Inn</p>' }, 'de-DE': { lead: 'Deutsch' } },
  };
  await me.course(translated);
  await me.course({ text_lead: 'Bare norsk' });
  const leads = async (query: string) =>
    items(await me.get(`/v2/courses${query}`)).map((course) => course.descriptions['lead']);

  expect(await leads('')).toEqual(['Norsk', 'Bare norsk']);
  expect(await leads('?description_language=en')).toEqual(['English', 'Bare norsk']);
  expect(await leads('?description_language=de-DE')).toEqual(['Deutsch', 'Bare norsk']);
  expect(items(await me.get('/v2/courses')).map((course) => course.description_languages)).toEqual([
    ['de-DE', 'en'],
    [],
  ]);
  expect(items(await me.get('/v2/courses?description_language=en'))[0]!.descriptions).toMatchObject({
    hotelInfo: '<p>Inn</p>',
  });
  expect((await me.get('/v2/courses?description_language=xx')).json().error).toBe(
    'Field(s) not valid: description_language',
  );
});

test('tag_ids matches any or all own tags in every spelling; a foreign id is rejected', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const a = await me.course({ tags: [{ title: 'red' }] });
  const b = await me.course({ tags: [{ title: 'RED' }, { title: 'blue' }] });
  await me.course();
  await other.course({ tags: [{ title: 'red' }] });
  const [mine, theirs] = [await tagsOf(me), await tagsOf(other)];
  const [red, blue] = [mine.get('red')!, mine.get('blue')!];
  expect([...mine.keys()]).toEqual(['red', 'blue']);
  const query = async (query: string) => idsOf(await me.get(`/v2/courses?${query}`));

  for (const spelling of [
    `tag_ids[]=${red}&tag_ids[]=${blue}`,
    `tag_ids=${red},${blue}`,
    `tag_ids[0]=${red}&tag_ids[1]=${blue}`,
    `tag_ids%5B%5D=${blue}&tag_ids%5B%5D=${red}`,
  ]) {
    expect(await query(spelling)).toEqual([a, b]);
    expect(await query(`${spelling}&tag_match=all`)).toEqual([b]);
  }
  expect(await query(`tag_ids=${blue}`)).toEqual([b]);
  expect(await query(`tag_ids=${red}&since_id=${a}`)).toEqual([b]);
  expect(await query('tag_ids=')).toHaveLength(3);
  for (const foreign of [theirs.get('red')!, 999_999_999]) {
    for (const query of [`tag_ids=${foreign}`, `tag_ids=${red},${foreign}`, `tag_ids=${foreign}&include_partners=1`]) {
      const response = await me.get(`/v2/courses?${query}`);
      expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: tag_ids']);
    }
  }
  expect((await me.get('/v2/courses?tag_match=some')).status).toBe(400);
});

test('include[] embeds exactly the requested relations', async () => {
  const me = await createProvider();
  await me.course({ price_value: 900, price_currency: 'eur' });
  await me.course();
  const plain = items(await me.get('/v2/courses'))[0]!;
  expect(plain).not.toHaveProperty('products');
  expect(plain).not.toHaveProperty('provider');

  const [first] = items(await me.get('/v2/courses?include[]=products&include[]=provider&include[]=products'));
  expect(first).toMatchObject({
    products: [
      {
        item_number: '',
        title: plain.title,
        title_label: null,
        price: 900,
        currency: 'EUR',
        is_main_product: true,
        vat_percentage: 0,
      },
    ],
    provider: { id: me.id, title: me.title, web_address: '' },
  });
  expect(Object.keys(first!)).toHaveLength(Object.keys(plain).length + 2);
  expect(items(await me.get('/v2/courses?include=products,provider'))[0]).toEqual(first);

  const refused = await me.get('/v2/courses?include[]=secrets');
  expect([refused.status, refused.json().error]).toEqual([
    400,
    'Field(s) not valid: include. Supported values of include: products, provider, completion_min_share',
  ]);
});

test('the number of statements per page is constant plus one per include', async () => {
  const me = await createProvider();
  const statements = async (query: string) => (await recordStatements(() => me.get(`/v2/courses?${query}`))).length;
  await me.get('/v2/courses'); // The first use of a key is noted.
  await me.course();
  const one = await statements('');
  for (let n = 0; n < 4; n += 1) await me.course({ tags: [{ title: 'a' }, { title: 'b' }] });
  // Key look-up; rows of the page; categories, tags and languages of all its courses.
  expect([one, await statements('')]).toEqual([5, 5]);
  expect(await statements('include[]=products')).toBe(6);
  expect(await statements('include[]=products&include[]=provider')).toBe(7);
  expect(await statements('description_language=en')).toBe(6);
  // The last page contains the total; otherwise rows are counted once per data version.
  expect(await statements('paginate=1')).toBe(5);
  expect([await statements('paginate=1&limit=2'), await statements('paginate=1&limit=2&page=2')]).toEqual([6, 5]);
});

test('customer_id returns the corporate courses of an own customer', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const customer = await newCustomer(me);
  await me.course();
  const corporate = await me.course({ type: 'corporate', customer_id: customer });
  expect(idsOf(await me.get(`/v2/courses?customer_id=${customer}`))).toEqual([corporate]);
  expect(idsOf(await other.get(`/v2/courses?customer_id=${customer}`))).toEqual([]);
});

test('deleted courses are hidden by default; inactive ones are listed', async () => {
  const me = await createProvider();
  const [gone, inactive] = [await me.course(), await me.course({ active: 0 })];
  await write(me, async (tx, now) => {
    await tx.execute(`update courses set deleted_at = '${now}', updated_at = '${now}' where id = ${gone}`);
  });
  expect(idsOf(await me.get('/v2/courses'))).toEqual([inactive]);
  const all = await me.get('/v2/courses?include_deleted=true');
  expect(idsOf(all)).toEqual([gone, inactive]);
  expect(all.json()[0].deleted_at).toMatch(/^\d{4}-.*[+-]\d\d:\d\d$/);
});

test('deleted partner courses are never listed', async () => {
  const [me, partner] = [await createProvider(), await createProvider()];
  await approvePartner(testApp.database, me.id, partner.id);
  const gone = await partner.course();
  await write(partner, async (tx, now) => {
    await tx.execute(`update courses set deleted_at = '${now}' where id = ${gone}`);
  });
  expect(idsOf(await me.get('/v2/courses?include_partners=1&include_deleted=1'))).toEqual([]);
});

async function newCustomer(me: Provider) {
  return write(me, async (tx, now) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into customers (provider_id, title, created_at, updated_at) values (${me.id}, 'Customer', '${now}', '${now}') returning id`,
    );
    return rows[0]!.id;
  });
}
