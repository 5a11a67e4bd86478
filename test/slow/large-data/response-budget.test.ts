import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courseDates } from '../../../src/database/tables/coursedates.ts';
import { orders } from '../../../src/database/tables/orders.ts';
import { addDate } from '../../support/dates.ts';
import { createOrder, write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Date = { coursedate_id: number; gatherings: unknown[] };
type Envelope = { items: Date[]; pagination: Record<string, number | null> };

/** Course dates with more gatherings than one request body can contain. */
async function datesWith(
  me: Provider,
  { dates, gatherings, text = '' }: { dates: number; gatherings: number; text?: string },
) {
  const course = await me.course({ type: 'internal' });
  const ids: number[] = [];
  for (let n = 0; n < dates; n += 1)
    ids.push(await addDate(me, course, { startAt: '2030-01-01', endAt: '2030-01-02' }));
  await write(me, (tx, now) =>
    tx.execute(sql`insert into gatherings
        (provider_id, course_date_id, gathering_at, gathering_end_at, zone, description, created_at, updated_at)
      select provider_id, id, '2030-01-01 10:00', '2030-01-01 11:00', zone, ${text}, ${now}, ${now}
      from ${courseDates}, generate_series(1, ${gatherings}) where ${eq(courseDates.providerId, me.id)}`),
  );
  return { course, ids };
}

const linkOf = (response: TestResponse) =>
  /^<[^>]*?(\/v2[^>]*)>; rel="next"$/.exec(String(response.headers['link']))?.[1];

/** Follows the next links; returns the ids and the truncation header of each page. */
async function readAllPages(me: Provider, path: string) {
  const pages: { ids: number[]; truncated: unknown; size: number }[] = [];
  for (let next: string | undefined = path; next !== undefined && pages.length < 100;) {
    const response: TestResponse = await me.get(next);
    expect(response.status).toBe(200);
    const body = response.json<Envelope | Date[]>();
    const items = Array.isArray(body) ? body : body.items;
    pages.push({
      ids: items.map(({ coursedate_id }) => coursedate_id),
      truncated: response.headers['x-page-truncated'],
      size: Buffer.byteLength(response.text),
    });
    next = linkOf(response);
    if (!Array.isArray(body) && next === undefined) {
      const { next_page: page, per_page: limit } = body.pagination;
      if (page !== null) next = `${path.replace(/&(page|limit)=\d+/g, '')}&limit=${limit}&page=${page}`;
    }
  }
  return pages;
}

test('a page ends before 50,000 embedded items and its next link skips and repeats none', async () => {
  const me = await createProvider();
  const { course, ids } = await datesWith(me, { dates: 4, gatherings: 15_000 });
  for (const path of [
    `/v2/courses/${course}/coursedates?limit=250`,
    `/v2/courses/${course}/coursedates?limit=250&order_direction=desc`,
    `/v2/courses/${course}/coursedates?limit=100&order_by=startdate`,
    '/v2/nextcoursedates?limit=250',
    '/v2/coursedates?include[]=gatherings&limit=250',
    '/v2/coursedates?include[]=gatherings&limit=250&order_direction=desc',
  ]) {
    const pages = await readAllPages(me, path);
    const found = pages.flatMap((page) => page.ids);
    expect(found).toEqual(path.includes('desc') ? ids.toReversed() : ids);
    expect(pages.map(({ truncated }) => truncated)).toContain(`items=${pages[0]!.ids.length}`);
    for (const page of pages) expect(page.ids.length).toBeLessThanOrEqual(3);
    expect(pages.at(-1)!.truncated).toBeUndefined();
  }
  const whole = await me.get('/v2/coursedates?limit=250');
  expect(whole.json<Envelope>().items).toHaveLength(4);
  expect(whole.headers).not.toHaveProperty('x-page-truncated');
  const { pagination } = (await me.get('/v2/coursedates?include[]=gatherings')).json<Envelope>();
  expect(pagination).toMatchObject({ total_items: 4, next_page: 2, previous_page: null });
});

test('a page ends before 16 MB', async () => {
  const me = await createProvider();
  const { course, ids } = await datesWith(me, { dates: 5, gatherings: 100, text: 'x'.repeat(60_000) });
  for (const path of [
    `/v2/courses/${course}/coursedates?limit=250`,
    '/v2/coursedates?include[]=gatherings&limit=250',
  ]) {
    const pages = await readAllPages(me, path);
    expect(pages.flatMap((page) => page.ids)).toEqual(ids);
    expect(pages.length).toBeGreaterThan(1);
    for (const { size } of pages) expect(size).toBeLessThanOrEqual(16_010_000);
  }
});

test('an item that is too large gets a 400 with advice, alone and in a list', async () => {
  const me = await createProvider();
  const { course, ids } = await datesWith(me, { dates: 1, gatherings: 50_001 });
  const path = `/v2/courses/${course}/coursedates/${ids[0]}`;
  expect((await me.get(path)).status).toBe(200);
  for (const refused of [`${path}?include[]=gatherings`, '/v2/coursedates?include[]=gatherings']) {
    const response = await me.get(refused);
    expect(response.status).toBe(400);
    expect(response.json<{ error: string }>().error).toBe(
      `The item ${ids[0]} is larger than an answer may be (16 MB, 50,000 embedded items). Leave out include[], or read what belongs to it from a list of its own.`,
    );
  }
});

test('a date is limited to 200 gatherings and 50 instructors, a course to 100 tags and labels', async () => {
  const me = await createProvider();
  const course = await me.course();
  const gathering = { gathering_at: '2030-01-01 10:00', gathering_end_at: '2030-01-01 11:00' };
  const date = { start_at: '2030-01-01', end_at: '2030-01-02' };
  const ids = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
  const send = (fields: object) => me.post(`/v2/courses/${course}/coursedates`, { ...date, ...fields });
  const created = await send({ gatherings: Array(200).fill(gathering) });
  expect(created.status).toBe(201);
  const { coursedate_id: id } = created.json<{ coursedate_id: number }>();
  const change = (fields: object) => me.put(`/v2/courses/${course}/coursedates/${id}`, fields);
  for (const [field, fields] of [
    ['gatherings', { gatherings: Array(201).fill(gathering) }],
    ['instructors', { instructors: ids(51) }],
    ['gatherings[0].instructors', { gatherings: [{ ...gathering, instructors: ids(51) }] }],
  ] as const) {
    const refused = await send(fields);
    expect([refused.status, refused.json<{ error: string }>().error]).toEqual([400, `Field(s) not valid: ${field}`]);
    expect((await change(fields)).text).toBe(refused.text);
  }
  for (const field of ['tags', 'labels']) {
    const text = ids(101).map((n) => ({ title: `Word ${n}` }));
    expect((await me.put(`/v2/courses/${course}`, { [field]: text })).status).toBe(400);
    expect((await me.put(`/v2/courses/${course}`, { [field]: text.slice(1) })).status).toBe(200);
  }
});

/** An order with that many lines, as an import creates it. */
async function orderOf(me: Provider, lines: number) {
  const courseId = await me.course();
  const { orderId } = await createOrder(me, { courseId });
  await write(me, (tx, now) =>
    tx.execute(sql`
      with new_products as (
        insert into products (provider_id, course_id, title, created_at, updated_at)
        select ${me.id}, ${courseId}, 'Product ' || n, ${now}, ${now} from generate_series(1, ${lines}::int) n
        returning id
      )
      insert into order_lines (provider_id, order_id, product_id, quantity, price_at_order, created_at, updated_at)
      select ${me.id}, ${orderId}, id, 1, 100, ${now}, ${now} from new_products`),
  );
  return orderId;
}

test('a write may return more than the read limit, and a rejected write changes nothing', async () => {
  const me = await createProvider();
  const [large, tooLarge] = [await orderOf(me, 25_000), await orderOf(me, 50_001)];
  expect((await me.get(`/v2/orders/${large}`)).status).toBe(400);
  const exported = await me.post(`/v2/orders/${large}/export`);
  expect(exported.status).toBe(200);
  expect(Buffer.byteLength(exported.text)).toBeGreaterThan(16_000_000);
  const order = exported.json<{ exported_at: string | null; lines: unknown[] }>();
  expect(order.exported_at).not.toBeNull();
  expect(order.lines).toHaveLength(25_001);

  expect((await me.post(`/v2/orders/${tooLarge}/export`)).status).toBe(400);
  const { db } = await me.ctx();
  const rows = await db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.providerId, me.id), isNotNull(orders.exportedAt)));
  expect(rows).toEqual([{ id: large }]);
});
