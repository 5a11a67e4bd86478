import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { createBookableDate, createVoucher, persons, bookOrFail, type Summary } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { createProduct, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
const send = (me: Provider, order: string | number, body: object = {}) => me.post(`/v2/orders/${order}/credit`, body);
async function credit(me: Provider, order: string | number, body: object = {}): Promise<Item> {
  const response = await send(me, order, body);
  expect(response.status, response.text).toBe(201);
  return response.json<Item>();
}
const read = async (me: Provider, order: string | number) =>
  (await me.get(`/v2/orders/${order}?include=credit`)).json<Item>();
const linesOf = async (me: Provider, { order_id }: Summary) => (await read(me, order_id))['lines'] as Item[];
const amountsOf = ({ lines }: Item) =>
  (lines as Item[]).map((line) => [
    ...[line['quantity'], line['price_at_order_per_item_vat_excluded'], line['discount_calculated_at_order']],
  ]);
const grossOf = ({ calculated_totals }: Item) => calculated_totals.total_amount_incl_discounts_and_vat as number;
const codeOf = ({ status, headers }: { status: number; headers: object }) => [
  status,
  (headers as Record<string, unknown>)['x-error-code'],
];
const peopleOf = async (me: Provider, { booking_id }: Summary) =>
  (await me.get(`/v2/participants?booking_id=${booking_id}`)).json<Item[]>();
const pay = async (me: Provider, order: string | number, body: object = {}) =>
  expect((await me.post(`/v2/orders/${order}/payments`, body)).status).toBe(201);

/** What is due of all orders, less the sums from which it follows: 0. */
async function imbalance(me: Provider) {
  const { rows } = await database.pool.query<{ left: string }>(
    `select (select sum(total_before_discounts - total_discounts + total_vat) from orders where provider_id = $1)
      - coalesce((select sum(amount) from payments where provider_id = $1 and reversed_at is null), 0)
      - coalesce((select sum(amount) from voucher_redemptions where provider_id = $1), 0) as left`,
    [me.id],
  );
  return Number(rows[0]!.left);
}
const differences = async (me: Provider) => (await checkCounters(database, { providerId: me.id })).differences;

test('a credit of an order is an order with its lines negative, and the order stays', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await bookOrFail(me, dateId, { participants: persons(2), booker_name: 'Ola', invoice_city: 'Oslo' });
  const first = await read(me, summary.order_id);
  expect(first['credit']).toEqual({
    ...{
      kind: 'order',
      credits_order_id: null,
      first_order_id: null,
      credit_order_ids: [],
      difference_order_ids: [],
      reason: null,
    },
  });
  const { cursor } = (await me.get('/v2/changes')).json<{ cursor: string }>();
  const created = await credit(me, summary.order_id, { reason: 'Ill' });
  expect(created).toMatchObject({
    ...{ title: `${String(first['title']).split(' #')[0]} #${created['id']}`, booker: 'Ola', invoice_city: 'Oslo' },
    ...{ is_paid: true, exported_at: null, first_user: null, custom_properties: null },
    credit: { kind: 'credit', credits_order_id: first['id'], credit_order_ids: [], reason: 'Ill' },
  });
  expect([amountsOf(created), grossOf(created)]).toEqual([[[-2, 1000, 0]], -2000]);
  const { lines } = created as { lines: { database_relations: Item[] }[] };
  expect(lines[0]!.database_relations.map(({ participant_id }) => participant_id as number)).toEqual(
    summary.participants.map(({ id }) => id),
  );
  const after = await read(me, summary.order_id);
  const { updated_at, ...same } = after;
  expect(updated_at).toEqual(expect.any(String));
  expect(same).toMatchObject({
    ...{ lines: first['lines'], calculated_totals: first['calculated_totals'], is_paid: true },
    credit: { kind: 'order', credit_order_ids: [created['id']] },
  });
  const { items } = (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: Item[] }>();
  expect(items.map(({ type, resource_id }) => [type, resource_id])).toEqual([
    ['order.created', created['id']],
    ['order.updated', first['id']],
    ['order.settled', first['id']],
    ...summary.participants.map(({ id }) => ['participant.updated', id]),
    ['order.credited', first['id']],
  ]);
  expect((await peopleOf(me, summary)).map(({ status }) => status.id as number)).toEqual([1, 1]);
  for (const order of [summary.order_id, created['id'] as number]) {
    const refused = await send(me, order);
    expect([codeOf(refused), refused.json()]).toEqual([
      [400, 'nothing_left_to_credit'],
      { error: 'Nothing is left to credit' },
    ]);
  }
  expect(await differences(me)).toEqual([]);
});

test('items, amounts and a fee credit parts of lines, and the last credit takes the rest', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const product = await createProduct(me, courseId, { price: '100.02', vatPercentage: '25' });
  const people = persons(3).map((one) => ({ ...one, products: [product] }));
  const summary = await bookOrFail(me, dateId, { participants: people });
  const [line] = await linesOf(me, summary);
  const line_id = line!['id'] as number;
  const one = await credit(me, summary.order_id, { lines: [{ line_id, quantity: 1 }] });
  expect([amountsOf(one), grossOf(one)]).toEqual([[[-1, 100.02, 0]], -125.03]);
  const part = await credit(me, summary.order_id, { lines: [{ line_id, amount: 50.02 }] });
  expect([amountsOf(part), grossOf(part)]).toEqual([[[-1, 50.02, 0]], -62.53]);
  for (const [fields, code] of [
    [{ lines: [{ line_id, quantity: 2 }] }, 'credit_exceeds_line'],
    [{ lines: [{ line_id, amount: 150.03 }] }, 'credit_exceeds_line'],
  ] as const)
    expect([fields, codeOf(await send(me, summary.order_id, fields))]).toEqual([fields, [400, code]]);
  for (const [fields, name] of [
    [{ lines: [{ line_id }, { line_id, amount: 1, quantity: 1 }] }, 'lines[1].amount'],
    [{ lines: [{ line_id }, { line_id }] }, 'lines[1].line_id'],
    [{ lines: [{ line_id: 999_999_999 }] }, 'lines[0].line_id'],
    [{ lines: [] }, 'lines'],
    [{ fee: 150.02 }, 'fee'],
  ] as const)
    expect((await send(me, summary.order_id, fields)).json()).toEqual({ error: `Field(s) not valid: ${name}` });
  const withFee = await credit(me, summary.order_id, { fee: '50.02' });
  expect(amountsOf(withFee)).toEqual([[-1, 100, 0]]);
  const rest = await credit(me, summary.order_id);
  expect([amountsOf(rest), grossOf(rest)]).toEqual([[[-1, 50.02, 0]], -62.52]);
  const gross = [one, part, withFee, rest].reduce((sum, order) => sum - Math.round(grossOf(order) * 100), 0);
  expect(gross).toBe(Math.round(summary.total_incl_vat * 100));
  expect([codeOf(await send(me, summary.order_id)), await differences(me)]).toEqual([
    [400, 'nothing_left_to_credit'],
    [],
  ]);
});

test('a fee is shared by the credited lines', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const extra = await createProduct(me, await me.course(), { price: '500' });
  const main = await createProduct(me, courseId, { price: '1000' });
  const free = await createProduct(me, courseId, { price: '0' });
  const products = [[main, extra], [free], [free]];
  const summary = await bookOrFail(me, dateId, {
    participants: persons(3).map((one, n) => ({ ...one, products: products[n] })),
  });
  const created = await credit(me, summary.order_id, { fee: 100, deregister: true });
  expect(amountsOf(created)).toEqual([
    [-1, 933.33, 0],
    [-1, 466.67, 0],
    [-2, 0, 0],
  ]);
  expect((await me.get(`/v2/orders?coursedate_id=${dateId}`)).json<Item[]>().map(({ id }) => id as number)).toEqual([
    Number(summary.order_id),
    created['id'],
  ]);
  const [first, second] = (await linesOf(me, summary)).map(({ id }) => id as number);
  await credit(me, summary.order_id, { lines: [{ line_id: first }] });
  const both = { lines: [{ line_id: first, amount: 1 }, { line_id: second }] };
  expect(codeOf(await send(me, summary.order_id, both))).toEqual([400, 'credit_exceeds_line']);
  expect((await peopleOf(me, summary)).map(({ status }) => status.id as number)).toEqual([8, 8, 8]);
});

test('a credit lowers what is due, then returns to the voucher, and the rest is owed until it is refunded', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const voucher = await createVoucher(me, { amount: '300' });
  const summary = await bookOrFail(me, dateId, { voucher_code: voucher.code });
  const { order_id } = summary;
  await write(me, (tx) => tx.execute(`update vouchers set expires_at = '2020-01-01' where id = ${voucher.id}`));
  await pay(me, order_id, { amount: 600 });
  const [line] = await linesOf(me, summary);
  const of = (amount: number) => ({ lines: [{ line_id: line!['id'] as number, amount }] });
  const balance = async () => (await me.get(`/v2/vouchers/${voucher.id}`)).json<Item>()['balance'] as string;
  const toPay = async () =>
    (await me.get(`/v2/booking/${summary.booking_id}`)).json<Item>()['summary'].to_pay as number;

  const lowering = await credit(me, order_id, of(60));
  expect([lowering['is_paid'], await toPay(), await balance()]).toEqual([true, 40, '0.00']);
  const returning = await credit(me, order_id, of(240));
  expect([returning['is_paid'], await toPay(), await balance()]).toEqual([true, 0, '200.00']);
  expect(returning['custom_properties']).toEqual({ voucher_code: voucher.code, voucher_amount: '-200.00' });
  expect(await read(me, order_id)).toMatchObject({ is_paid: true });
  const cursor = await newestEvent(me);
  const owing = await credit(me, order_id);
  expect([owing['is_paid'], await toPay(), await balance()]).toEqual([false, 0, '300.00']);
  expect(await imbalance(me)).toBe(-600);
  expect(await eventsSince(me, cursor)).toEqual(expect.arrayContaining(['order.updated', 'order.credited']));

  const { id } = owing as { id: number };
  for (const [amount, code] of [
    [-600.01, 'amount_exceeds_due'],
    [10, 'amount_sign_wrong'],
  ] as const)
    expect(codeOf(await me.post(`/v2/orders/${id}/payments`, { amount }))).toEqual([400, code]);
  const above = await me.post(`/v2/orders/${id}/payments`, { amount: -600.01 });
  expect(above.json()).toEqual({ error: 'The amount exceeds what is owed: 600.00' });
  await pay(me, id, { amount: -100, method: 'bank' });
  expect(await read(me, id)).toMatchObject({ is_paid: false });
  const setPaid = async (is_paid: boolean) =>
    (await me.put(`/v2/orders/${id}`, { is_paid })).json<Item>()['is_paid'] as boolean;
  expect([await setPaid(true), await setPaid(false), await setPaid(true)]).toEqual([true, false, true]);
  const refunds = (await me.get(`/v2/payments?order_id=${id}`)).json<Item[]>();
  expect(refunds.map(({ amount, state }) => [amount, state] as unknown)).toEqual([
    [-100, 'reversed'],
    [-500, 'reversed'],
    [-600, 'paid'],
  ]);
  expect([await read(me, id), await imbalance(me), await differences(me)]).toMatchObject([{ is_paid: true }, 0, []]);
});

test('deregister frees the seats of the credited lines', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityWait: 1 });
  const summary = await bookOrFail(me, dateId, { participants: persons(2) });
  const waiting = await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  const [line] = await linesOf(me, summary);
  const one = { lines: [{ line_id: line!['id'] as number, quantity: 1 }], deregister: true };
  expect(codeOf(await send(me, summary.order_id, one))).toEqual([400, 'quantity_too_small']);
  await me.put(`/v2/booking/${summary.booking_id}/deregister`, { participants: [summary.participants[0]!.id] });
  await credit(me, summary.order_id, one);
  expect((await peopleOf(me, summary)).map(({ status }) => status.id as number)).toEqual([4, 4]);
  expect((await peopleOf(me, waiting)).map(({ status }) => status.id as number)).toEqual([1]);
});

test('a credit is exported, and the exported order stays as it is', async () => {
  const me = await createProvider();
  const summary = await bookOrFail(me, (await createBookableDate(me)).dateId);
  const exported = (await me.post(`/v2/orders/${summary.order_id}/export`, {})).json<Item>();
  const { id } = (await credit(me, summary.order_id)) as { id: number };
  expect((await me.get('/v2/orders')).json<Item[]>().map((order) => order['id'] as number)).toEqual([id]);
  const { exported_at, lines } = (await me.post(`/v2/orders/${id}/export`, {})).json<Item>();
  expect([exported_at, lines[0].price_at_export_per_item_vat_excluded]).toEqual([expect.any(String), 1000]);
  expect(await read(me, summary.order_id)).toMatchObject({
    exported_at: exported['exported_at'],
    lines: exported['lines'],
  });
});

test('an erasure of the buyer erases credits too', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await bookOrFail(me, dateId, { booker_name: 'Kari Nordmann', invoice_address_1: 'Street' });
  const { id } = (await credit(me, summary.order_id, { reason: 'Kari is ill' })) as { id: number };
  const [person] = await peopleOf(me, summary);
  const exported = (await me.get(`/v2/course-users/${person!['user'].id}/export`)).json<{ orders: Item[] }>();
  expect(exported.orders.map((order) => order['id'] as number)).toEqual([Number(summary.order_id), id]);
  expect((await me.post(`/v2/course-users/${person!['user'].id}/erase`, {})).status).toBe(200);
  expect(await read(me, id)).toMatchObject({ booker: null, invoice_address: null, credit: { reason: null } });
});
