import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { products } from '../../../src/database/tables/courses.ts';
import { mainProduct, createOrder, createProduct, write } from '../../support/orders.ts';
import { openTestAppForFile, type TestResponse } from '../../support/test-app.ts';

const { createProvider } = await openTestAppForFile();

const path = '/v2/orders/products';
const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
const idsOf = (response: TestResponse) => response.json<{ id: number }[]>().map(({ id }) => id);

test('a product has all its fields', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'First aid', price_value: 1200 });
  const main = await mainProduct(me, courseId);
  const extra = await createProduct(me, courseId, {
    itemNumber: 'FA-2',
    title: 'Lunch',
    titleLabel: 'Per person',
    price: '99.5',
    currency: 'EUR',
    vatPercentage: '12.5',
    accountNumber: '3010',
    costUnit: 'Bergen',
    externalId: 'X-7',
    archivedAt: '2026-05-01 00:00:00+02',
    createdAt: '2026-01-01 10:00:00.5+01',
    updatedAt: '2026-07-01 10:00:00+02',
  });
  const response = await me.get(path);
  expect([response.status, typeof response.headers['etag']]).toEqual([200, 'string']);
  const shared = {
    type: 'course_product',
    id_type: 2,
    id_relation: courseId,
    group: null,
    is_member_price: false,
    is_deleted: false,
    co_products: [],
    id_product_regular_price: null,
  };
  expect(response.json()).toEqual([
    {
      ...shared,
      id: main,
      item_number: '',
      title: 'First aid',
      title_label: null,
      price: 1200,
      currency: { id: 578, title: 'NOK', long_title: 'Norwegian krone' },
      vat: { id: 0, vat: 0, name: '0.00%' },
      is_main_price: true,
      is_archived: false,
      account_number: null,
      cost_unit: null,
      id_external_system: null,
      created_at: dateTime,
      updated_at: dateTime,
    },
    {
      ...shared,
      id: extra,
      item_number: 'FA-2',
      title: 'Lunch',
      title_label: 'Per person',
      price: 99.5,
      currency: { id: 978, title: 'EUR', long_title: 'Euro' },
      vat: { id: 1250, vat: 12.5, name: '12.50%' },
      is_main_price: false,
      is_archived: true,
      account_number: '3010',
      cost_unit: 'Bergen',
      id_external_system: 'X-7',
      created_at: '2026-01-01T10:00:00+01:00',
      updated_at: '2026-07-01T10:00:00+02:00',
    },
  ]);
});

test('/v2/orders/products is not parsed as an order id', async () => {
  const me = await createProvider();
  await createOrder(me, { courseId: await me.course() });
  for (const query of [path, `${path}/`, `${path}?limit=5`]) {
    const response = await me.get(query);
    expect([response.status, response.json()], query).toEqual([200, [expect.objectContaining({ id_type: 2 })]]);
  }
});

test('the list has the usual parameters', async () => {
  const me = await createProvider();
  const [courseId, other] = [await me.course(), await createProvider()];
  await other.course();
  const ids = [await mainProduct(me, courseId)];
  for (let n = 1; n < 4; n += 1) ids.push(await createProduct(me, courseId));
  const query = async (query: string) => idsOf(await me.get(`${path}?${query}`));
  const [a, b, c, d] = ids as [number, number, number, number];
  expect(await query('')).toEqual(ids);
  expect(await query('limit=2')).toEqual([a, b]);
  expect(await query('limit=3&page=2')).toEqual([d]);
  expect(await query('page=9')).toEqual([]);
  expect(await query(`since_id=${b}`)).toEqual([c, d]);
  const page = await me.get(`${path}?limit=2`);
  expect(page.headers['link']).toBe(`<http://localhost:3000${path}?limit=2&since_id=${b}>; rel="next"`);

  await write(me, async (tx) => {
    for (const [n, id] of ids.entries())
      await tx
        .update(products)
        .set({ createdAt: `2026-03-0${n + 1} 00:00:00+01`, updatedAt: `2026-04-0${n + 1} 00:00:00+02` })
        .where(eq(products.id, id));
  });
  expect(await query('created_at_min=2026-03-02&created_at_max=2026-03-04')).toEqual([b, c]);
  expect(await query('created_at_max=2026-03-02')).toEqual([a]);
  expect(await query('updated_at_min=2026-04-03')).toEqual([c, d]);
  expect(await query(`updated_at_max=2026-04-03&since_id=${a}`)).toEqual([b]);
  expect((await me.get(`${path}?updated_at_min=2026-04-03`)).headers).toHaveProperty('x-updated-through');
  expect((await me.get(`${path}?include=products`)).headers['x-ignored-parameters']).toBe('include');
  const refused = await me.get(`${path}?limit=0&created_at_min=2026-02-30`);
  expect([refused.status, refused.json().error]).toEqual([400, 'Field(s) not valid: limit,created_at_min']);
  expect((await me.get(path, { 'if-none-match': String(page.headers['etag']) })).status).toBe(200);
  const tag = String((await me.get(path)).headers['etag']);
  expect((await me.get(path, { 'if-none-match': tag })).status).toBe(304);
});
