import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { orderLines, orders } from '../../../src/database/tables/orders.ts';
import { exportOrder } from '../../../src/domains/orders/orders/service.ts';
import {
  mainProduct,
  createAttendance,
  createCampaign,
  createCourseDate,
  createGathering,
  createOrder,
  createProduct,
  createUser,
  write,
} from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const order = async (me: Provider) => createOrder(me, { courseId: await me.course() });

test('GET /v2/orders/:id returns the same item as the list, with includes and user_data', async () => {
  const me = await createProvider();
  const [courseId, campaignId] = [await me.course(), await createCampaign(me)];
  await order(me);
  const { orderId } = await createOrder(me, { courseId, order: { campaignId } });
  await order(me);
  const listed = async (query: string) => (await me.get(`/v2/orders?since_id=${orderId - 1}&${query}`)).json()[0];
  const course = 'include[]=lines.database_relations.course';
  const participants = 'include=lines.database_relations.participants';
  for (const query of ['', 'user_data=1', 'include=campaign', course, participants, `${course},campaign&user_data=1`]) {
    const response = await me.get(`/v2/orders/${orderId}?${query}`);
    expect(response.status, query).toBe(200);
    expect(response.json(), query).toEqual(await listed(query));
    expect(response.headers, query).not.toHaveProperty('x-ignored-parameters');
  }
  const withPeople = (await me.get(`/v2/orders/${orderId}?user_data=1`)).json();
  expect([withPeople.id, withPeople.lines[0].users.length]).toEqual([orderId, 1]);
  expect((await me.get(`/v2/orders/${orderId}?user_data=0`)).json().lines[0].users).toEqual([]);
});

test('an exported order is found by its id', async () => {
  const me = await createProvider();
  const { orderId } = await createOrder(me, {
    courseId: await me.course(),
    order: { exportedAt: '2026-05-01 00:00:00+02' },
  });
  expect((await me.get('/v2/orders')).json()).toEqual([]);
  expect((await me.get(`/v2/orders/${orderId}`)).json()).toMatchObject({
    id: orderId,
    exported_at: '2026-05-01T00:00:00+02:00',
  });
});

test('list filters are ignored for one order; an unknown include is rejected', async () => {
  const me = await createProvider();
  const { orderId } = await order(me);
  const ignored = await me.get(`/v2/orders/${orderId}?exported=1&limit=1&course_id=999999999`);
  expect([ignored.status, ignored.headers['x-ignored-parameters']]).toEqual([200, 'exported, limit, course_id']);
  const refused = await me.get(`/v2/orders/${orderId}?include=lines`);
  expect([refused.status, refused.json().error]).toEqual([
    400,
    'Field(s) not valid: include. Supported values of include: lines.database_relations.course, lines.database_relations.participants, lines.database_relations.participants.hold, campaign, credit, balance, invoicing',
  ]);
  expect((await me.get(`/v2/orders/${orderId}?user_data=maybe`)).json().error).toBe('Field(s) not valid: user_data');
});

test('GET /v2/participants/:id returns the same item as the list, with attendance on request', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const dateId = await createCourseDate(me, courseId);
  const users = [await createUser(me), await createUser(me)];
  const archived = { statusId: 4, archivedAt: '2026-08-01 12:00:00+02' };
  const { participantIds } = await createOrder(me, { courseId, dateId, users, participant: archived });
  const gatheringId = await createGathering(me, dateId);
  await createAttendance(me, participantIds[1]!, gatheringId, { attended: true });
  const [, listed] = (await me.get('/v2/participants')).json();
  const response = await me.get(`/v2/participants/${participantIds[1]}`);
  expect([response.status, response.json()]).toEqual([200, listed]);
  expect((await me.get(`/v2/participants/${participantIds[1]}?include[]=attendance`)).json()).toEqual({
    ...listed,
    attendance: [{ gathering_id: gatheringId, attended: true, registered_at: null }],
  });
  const inNorwegian = await me.get(`/v2/participants/${participantIds[1]}`, { 'accept-language': 'nb' });
  expect(inNorwegian.json().status.title).toBe('Avmeldt');
  expect((await me.get(`/v2/participants/${participantIds[1]}?include=user`)).status).toBe(400);
});

/** Stored order with its lines. */
const stored = (me: Provider, orderId: number) =>
  write(me, async (tx) => {
    const [found] = await tx.select().from(orders).where(eq(orders.id, orderId));
    const lines = await tx.select().from(orderLines).where(eq(orderLines.orderId, orderId)).orderBy(orderLines.id);
    return { order: found!, lines };
  });
const clockOf = async ({ id }: Provider) =>
  (
    await testApp.database.pool.query<{ at: string }>(
      'select changed_at::text as at from provider_state where provider_id = $1',
      [id],
    )
  ).rows[0]!.at;

test('export sets exported_at to the transaction time; a second call changes nothing', async () => {
  const me = await createProvider();
  const { orderId } = await order(me);
  const untouched = await order(me);
  const before = (await me.get(`/v2/orders/${orderId}`)).json();

  const response = await me.post(`/v2/orders/${orderId}/export`);
  const clock = await clockOf(me);
  const { exported_at, updated_at, lines, ...rest } = response.json();
  expect(response.status).toBe(200);
  expect(rest).toEqual(without(before, ['exported_at', 'updated_at', 'lines']));
  expect(lines.map((line: object) => without(line, ['updated_at']))).toEqual(
    before.lines.map((line: object) => without(line, ['updated_at'])),
  );
  expect(exported_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/);
  expect(updated_at).toBe(exported_at);
  const once = await stored(me, orderId);
  expect(once.order).toMatchObject({ exportedAt: clock, updatedAt: clock });
  expect(once.lines).toMatchObject([{ updatedAt: clock }]);
  expect((await me.get(`/v2/orders/${orderId}`)).json()).toEqual(response.json());
  expect((await me.get('/v2/orders')).json()).toMatchObject([{ id: untouched.orderId, exported_at: null }]);

  const version = await clockOf(me);
  const again = await me.post(`/v2/orders/${orderId}/export`);
  expect([again.status, again.json()]).toEqual([200, response.json()]);
  expect(await clockOf(me)).toBe(version);
  expect(await stored(me, orderId)).toEqual(once);
});

const without = (item: object, names: string[]) =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

test('export freezes the prices and discounts of the lines', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const agreed = { priceAtOrder: '100.5', discountPercentAtOrder: '10', discountCalculatedAtOrder: '10.05' };
  const invoiced = { priceAtInvoice: '90', discountPercentAtInvoice: '0', discountCalculatedAtInvoice: '0' };
  const { orderId, lineIds } = await createOrder(me, {
    courseId,
    lines: [
      { productId: await mainProduct(me, courseId), ...agreed },
      { productId: await createProduct(me, courseId), ...agreed, ...invoiced },
    ],
  });
  const other = await createOrder(me, { courseId });
  const before = (await me.get(`/v2/orders/${orderId}`)).json();
  await me.post(`/v2/orders/${orderId}/export`);
  const fixed = { priceAtInvoice: '100.50', discountPercentAtInvoice: '10.00', discountCalculatedAtInvoice: '10.05' };
  const exported = { priceAtExport: '100.50', discountPercentAtExport: '10.00', discountCalculatedAtExport: '10.05' };
  const { lines } = await stored(me, orderId);
  expect(lines).toMatchObject([
    { id: lineIds[0], ...fixed, ...exported },
    {
      id: lineIds[1],
      ...{ priceAtInvoice: '90.00', discountPercentAtInvoice: '0.00', discountCalculatedAtInvoice: '0.00' },
      ...exported,
    },
  ]);
  expect((await stored(me, other.orderId)).lines).toMatchObject([{ priceAtInvoice: null, priceAtExport: null }]);

  // Later price changes do not affect the order.
  await write(me, (tx) =>
    tx
      .update(orderLines)
      .set({ priceAtOrder: '1', discountCalculatedAtOrder: '1' })
      .where(eq(orderLines.orderId, orderId)),
  );
  const after = (await me.get(`/v2/orders/${orderId}`)).json();
  const lasting = (line: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => /_at_(invoice|export)/.test(name)));
  expect(after.lines.map(lasting)).toEqual(before.lines.map(lasting));
  expect(after.lines[0].price_at_order_per_item_vat_excluded).toBe(1);
});

test('of two concurrent exports only one changes the order', async () => {
  const me = await createProvider();
  const { orderId } = await order(me);
  const ctx = await me.ctx();
  let first: Awaited<ReturnType<typeof stored>> | undefined;
  const overtaken: typeof ctx = {
    ...ctx,
    write: async (areas, work) => {
      expect((await me.post(`/v2/orders/${orderId}/export`)).status).toBe(200);
      first = await stored(me, orderId);
      return ctx.write(areas, work);
    },
  };
  await exportOrder(overtaken, orderId);
  expect(await stored(me, orderId)).toEqual(first);

  const other = (await order(me)).orderId;
  const responses = await Promise.all(Array.from({ length: 12 }, () => me.post(`/v2/orders/${other}/export`)));
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test('an exported order is found by exported_at and by a sync', async () => {
  const me = await createProvider();
  const { orderId } = await order(me);
  const through = encodeURIComponent(
    String((await me.get('/v2/orders?updated_at_min=2020-01-01')).headers['x-updated-through']),
  );
  await me.post(`/v2/orders/${orderId}/export`);
  const found = async (query: string) => (await me.get(`/v2/orders?${query}`)).json<{ id: number }[]>();
  expect(await found(`exported_at_min=${through}`)).toMatchObject([{ id: orderId }]);
  expect(await found(`exported=1&updated_at_min=${through}`)).toMatchObject([{ id: orderId }]);
  expect(await found(`exported_at_max=${through}`)).toEqual([]);
});

test.each(['application/x-www-form-urlencoded', 'application/json'])(
  'an export refuses a field that it does not take (%s)',
  async (type) => {
    const me = await createProvider();
    const { orderId } = await order(me);
    const headers = { 'content-type': type };
    const body = type.endsWith('json') ? '{"exported_at":"2020-01-01"}' : 'exported_at=2020-01-01';
    const refused = await me.post(`/v2/orders/${orderId}/export`, body, headers);
    expect([refused.status, refused.json()]).toEqual([400, { error: 'Field(s) not known: exported_at' }]);
    const response = await me.post(`/v2/orders/${orderId}/export`, '', headers);
    expect([response.status, response.json().exported_at.slice(0, 2)]).toEqual([200, '20']);
    expect((await me.post(`/v2/orders/${orderId}/export`, '', headers)).json()).toEqual(response.json());
  },
);

test('other methods get 405 with the allowed ones', async () => {
  const me = await createProvider();
  for (const [method, path, allow] of [
    ['GET', '/v2/orders/1/export', 'POST'],
    ['DELETE', '/v2/orders/1', 'GET, HEAD, PUT'],
    ['POST', '/v2/orders/products', 'GET, HEAD'],
  ] as const) {
    const response = await me.request(method)(path);
    expect([response.status, response.headers['allow']], path).toEqual([405, allow]);
  }
});
