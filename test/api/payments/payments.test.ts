import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { bookOrFail, createBookableDate, createVoucher, persons, type Summary } from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
const addPayment = (me: Provider, order: string, body: object = {}) => me.post(`/v2/orders/${order}/payments`, body);
async function pay(me: Provider, order: string, body: object = {}): Promise<Item> {
  const response = await addPayment(me, order, body);
  expect(response.status, response.text).toBe(201);
  return response.json<Item>();
}
const reverse = (me: Provider, order: string, id: number) => me.request('DELETE')(`/v2/orders/${order}/payments/${id}`);
const putOrder = (me: Provider, order: string, body: object) => me.put(`/v2/orders/${order}`, body);
const listPayments = async (me: Provider, query = '') => (await me.get(`/v2/payments?${query}`)).json<Item[]>();

/** `is_paid` of the order, `idPaid` of its participants, and the amount due. */
async function readPaid(me: Provider, { order_id, booking_id }: Summary) {
  const { is_paid } = (await me.get(`/v2/orders/${order_id}`)).json<Item>();
  const people = (await me.get(`/v2/participants?booking_id=${booking_id}`)).json<Item[]>();
  const { summary } = (await me.get(`/v2/booking/${booking_id}`)).json<{ summary: Item }>();
  return [is_paid, people.map(({ idPaid }) => idPaid as number), summary['to_pay']];
}
const followChanges = async (me: Provider) => {
  let { cursor } = (await me.get('/v2/changes')).json<{ cursor: string }>();
  return async () => {
    const read = (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: Item[]; cursor: string }>();
    cursor = read.cursor;
    return read.items.map(({ type, resource_id }) => `${type} ${resource_id}`);
  };
};
const code = (response: { status: number; headers: object }) => [
  response.status,
  (response.headers as Record<string, unknown>)['x-error-code'],
];

test('payments are rows, and an order of which nothing is due is paid, with its participants', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await bookOrFail(me, dateId, { participants: persons(2) });
  const { order_id: order, participants } = summary;
  const total = summary.total_incl_vat;
  const changes = await followChanges(me);

  const first = await pay(me, order, { amount: 500.5, method: 'card', reference: 'T-1', paid_at: '2026-03-02 10:00' });
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\+\d\d:00$/) as string;
  expect(first).toEqual({
    ...{ id: expect.any(Number) as number, order_id: Number(order), amount: 500.5, currency: 'nok', method: 'card' },
    ...{ reference: 'T-1', state: 'paid', paid_at: '2026-03-02T10:00:00+01:00', created_at: time, updated_at: time },
  });
  expect(await readPaid(me, summary)).toEqual([false, [3, 3], total - 500.5]);
  expect(await changes()).toEqual([`payment.created ${first['id']}`]);

  const second = await pay(me, order);
  expect(second).toMatchObject({ amount: total - 500.5, method: 'other', reference: null });
  expect(await readPaid(me, summary)).toEqual([true, [1, 1], 0]);
  expect(await changes()).toEqual([
    ...[`payment.created ${second['id']}`, `order.updated ${order}`, `order.paid ${order}`],
    ...participants.map(({ id }) => `participant.updated ${id}`),
  ]);

  const reversed = await reverse(me, order, first['id']);
  expect([reversed.status, reversed.json()]).toEqual([200, { ...first, state: 'reversed', updated_at: time }]);
  expect(await readPaid(me, summary)).toEqual([false, [3, 3], 500.5]);
  await changes();
  expect((await reverse(me, order, first['id'])).text).toBe(reversed.text);
  expect(await changes()).toEqual([]);
  expect((await me.get(`/v2/payments/${first['id']}`)).json()).toEqual(reversed.json());
});

test('a payment is at most what is due', async () => {
  const me = await createProvider();
  const { order_id: order } = await bookOrFail(me, (await createBookableDate(me)).dateId);
  for (const [amount, said] of [
    [1000.01, 'amount_exceeds_due'],
    [0, 'amount_sign_wrong'],
    [-1, 'amount_sign_wrong'],
    [0.001, 'field_invalid'],
  ] as const)
    expect([amount, ...code(await addPayment(me, order, { amount }))]).toEqual([amount, 400, said]);
  await pay(me, order, { amount: '1000' });
  for (const body of [{}, { amount: 0.01 }]) {
    const refused = await addPayment(me, order, body);
    expect(code(refused)).toEqual([400, 'amount_exceeds_due']);
    expect(refused.json()).toEqual({ error: 'The amount exceeds what is due: 0.00' });
  }
  expect(await listPayments(me)).toHaveLength(1);
});

test('a request with the reference of a payment finds it', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const [{ order_id: order }, { order_id: other }] = [await bookOrFail(me, dateId), await bookOrFail(me, dateId)];
  const first = await pay(me, order, { amount: 100, reference: 'R' });
  for (const body of [{ reference: 'R' }, { reference: 'R', amount: 100 }]) {
    const again = await addPayment(me, order, body);
    expect([again.status, again.json(), again.headers['location']]).toEqual([200, first, undefined]);
  }
  expect(code(await addPayment(me, order, { reference: 'R', amount: 99 }))).toEqual([400, 'payment_reference_reused']);
  await pay(me, other, { amount: 1, reference: 'R' });
  await reverse(me, order, first['id']);
  expect(await pay(me, order, { amount: 99, reference: 'R' })).not.toMatchObject({ id: first['id'] });
});

test('the list has filters', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const [{ order_id: order }, { order_id: other }] = [await bookOrFail(me, dateId), await bookOrFail(me, dateId)];
  const { id: a } = await pay(me, order, { amount: 10, method: 'cash', paid_at: '2026-01-02' });
  const { id: b } = await pay(me, order, { amount: 20, paid_at: '2026-02-02' });
  const { id: c } = await pay(me, other, { amount: 30, method: 'cash', paid_at: '2026-03-02' });
  await reverse(me, order, b);
  for (const [query, ids] of [
    ['', [a, b, c]],
    [`order_id=${order}`, [a, b]],
    ['method=cash', [a, c]],
    ['reversed=1', [b]],
    ['reversed=0', [a, c]],
    ['paid_at_min=2026-02-02&paid_at_max=2026-03-02', [b]],
    ['created_at_min=2026-01-01&updated_at_min=2026-01-01', [a, b, c]],
    ['created_at_max=2026-01-01', []],
    ['limit=1&order_by=created_at&order_direction=desc', [c]],
  ] as const)
    expect([query, (await listPayments(me, query)).map(({ id }) => id as number)]).toEqual([query, ids]);
  expect(code(await me.get('/v2/payments?method=gold'))).toEqual([400, 'field_invalid']);
});

test('PUT /v2/orders/:id marks an order as paid by a payment, and takes it back', async () => {
  const me = await createProvider();
  const summary = await bookOrFail(me, (await createBookableDate(me)).dateId);
  const { order_id: order } = summary;
  await pay(me, order, { amount: 400 });
  const changes = await followChanges(me);
  // A part is paid: that it is read as not paid reverses nothing.
  expect((await putOrder(me, order, { is_paid: 0 })).json()).toMatchObject({ is_paid: false });
  expect([await changes(), code(await putOrder(me, order, { paid_at: '2026-01-01' }))]).toEqual([
    [],
    [400, 'paid_at_without_payment'],
  ]);
  const paid = await putOrder(me, order, { is_paid: 1, paid_at: '2026-04-01' });
  expect([paid.status, paid.json()]).toMatchObject([200, { id: Number(order), is_paid: true }]);
  expect((await listPayments(me)).at(-1)).toMatchObject({ amount: 600, paid_at: '2026-04-01T00:00:00+02:00' });
  expect(await readPaid(me, summary)).toEqual([true, [1], 0]);
  await changes();
  const refused = await putOrder(me, order, { is_paid: 1, paid_at: '2026-05-01' });
  expect([code(refused), refused.json()]).toEqual([[400, 'already_paid'], { error: 'The order is paid already' }]);
  expect((await putOrder(me, order, { is_paid: 1, paid_at: '2026-04-01' })).text).toBe(paid.text);
  expect((await putOrder(me, order, { is_paid: 1, paid_at: '' })).status).toBe(200);
  expect(await changes()).toEqual([]);

  await me.put(`/v2/participants/${summary.participants[0]!.id}`, { idPaid: 3 });
  expect(await readPaid(me, summary)).toEqual([true, [3], 0]);
  await putOrder(me, order, { is_paid: 0 });
  expect(await readPaid(me, summary)).toEqual([false, [3], 1000]);
  expect((await listPayments(me)).map(({ state }) => state as string)).toEqual(['reversed', 'reversed']);
});

test('an order of 0 is paid as it was set', async () => {
  const me = await createProvider();
  const summary = await bookOrFail(me, (await createBookableDate(me, { course: { price_value: 0 } })).dateId);
  expect(await readPaid(me, summary)).toEqual([false, [3], 0]);
  expect(code(await addPayment(me, summary.order_id))).toEqual([400, 'amount_exceeds_due']);
  for (const isPaid of [true, false]) {
    await putOrder(me, summary.order_id, { is_paid: isPaid });
    expect(await readPaid(me, summary)).toEqual([isPaid, [isPaid ? 1 : 3], 0]);
  }
  expect(await listPayments(me)).toEqual([]);
});

test('the reference and the invoice address of an exported order stay', async () => {
  const me = await createProvider();
  const { order_id: order } = await bookOrFail(me, (await createBookableDate(me)).dateId, { invoice_city: 'Bergen' });
  const named = { your_reference: 'P', invoice_address: 'A', invoice_email: 'a@b.example' };
  expect((await putOrder(me, order, { ...named, invoice_city: '' })).json()).toMatchObject({
    ...named,
    invoice_city: null,
  });
  await me.post(`/v2/orders/${order}/export`, {});
  for (const body of [{ your_reference: 'Q' }, { invoice_city: 'Oslo', is_paid: 1 }]) {
    const refused = await putOrder(me, order, body);
    expect(code(refused)).toEqual([400, 'order_exported']);
  }
  expect((await putOrder(me, order, { ...named, is_paid: 1 })).json()).toMatchObject({ ...named, is_paid: true });
});

test('a booking with a voucher names what it pays and what is left', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { code: voucher_code } = await createVoucher(me, { amount: '1300.50' });
  const [whole, part, none] = [
    await bookOrFail(me, dateId, { voucher_code }),
    await bookOrFail(me, dateId, { voucher_code }),
    await bookOrFail(me, dateId, { voucher_code }),
  ];
  expect([whole, part, none]).toMatchObject([
    { paid_by_voucher: 1000, to_pay: 0 },
    { paid_by_voucher: 300.5, to_pay: 699.5 },
    { paid_by_voucher: 0, to_pay: 1000 },
  ]);
  expect(Object.keys(await bookOrFail(me, dateId))).not.toContain('to_pay');
  expect(await readPaid(me, whole)).toEqual([true, [1], 0]);
  expect(code(await putOrder(me, whole.order_id, { is_paid: 0 }))).toEqual([400, 'no_payment_to_reverse']);
  expect(await pay(me, part.order_id)).toMatchObject({ amount: 699.5 });
  expect(await readPaid(me, part)).toEqual([true, [1], 0]);
});

test('the due amounts of a school add up to its totals less its payments and redemptions', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { code: voucher_code } = await createVoucher(me, { amount: '300' });
  const { order_id } = await bookOrFail(me, dateId, { voucher_code });
  const { id } = await pay(me, order_id, { amount: 200 });
  await pay(me, order_id, { amount: 100 });
  await reverse(me, order_id, id);
  await bookOrFail(me, dateId);
  const { rows } = await write(me, (tx) =>
    tx.execute(`select
      (select sum(total_before_discounts - total_discounts + total_vat) from orders where provider_id = ${me.id})
      - (select sum(amount) from payments where provider_id = ${me.id} and reversed_at is null)
      - (select sum(amount) from voucher_redemptions where provider_id = ${me.id}) as due`),
  );
  const bookings = (await me.get('/v2/participants')).json<Item[]>().map(({ idBooking }) => idBooking as number);
  const summaries = await Promise.all(
    bookings.map(async (one) => (await me.get(`/v2/booking/${one}`)).json<{ summary: Item }>()),
  );
  expect(summaries.reduce((sum, { summary }) => sum + Number(summary.to_pay), 0)).toBe(Number(rows[0]!['due']));
});

test('doctor compares is_paid with what is due', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id: paid } = await bookOrFail(me, dateId);
  const { order_id: open } = await bookOrFail(me, dateId);
  await pay(me, paid);
  await pay(me, open, { amount: 999.99 });
  const check = async (fix = false) => {
    const { differences } = await checkCounters(database, { providerId: me.id, fix });
    return differences.map(({ id, figure, stored, counted }) => [id, figure, stored, counted]);
  };
  expect(await check()).toEqual([]);
  await write(me, (tx) => tx.execute(`update orders set is_paid = not is_paid where provider_id = ${me.id}`));
  const differences = [
    [Number(paid), 'is_paid', 'false', 'true'],
    [Number(open), 'is_paid', 'true', 'false'],
  ];
  expect([await check(true), await check()]).toEqual([differences, []]);
});

test('a payment is not found at another order', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const [{ order_id: order }, { order_id: second }] = [await bookOrFail(me, dateId), await bookOrFail(me, dateId)];
  const { id } = await pay(me, order, { amount: 1 });
  const response = await reverse(me, second, id);
  expect([response.status, response.json()]).toEqual([404, { error: 'Payment not found' }]);
});

test('the currency of a payment is that of its order', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id: order } = await bookOrFail(me, dateId, { participants: persons(1) });
  for (const currency of ['EUR', 'eur', 'crowns']) {
    const refused = await addPayment(me, order, { amount: 10, currency });
    expect([refused.status, refused.json()]).toEqual([400, { error: 'Field(s) not valid: currency' }]);
  }
  expect(await listPayments(me, `order_id=${order}`)).toEqual([]);
  expect(await pay(me, order, { amount: 10, currency: 'nok' })).toMatchObject({ amount: 10, currency: 'nok' });
});

test('the list finds a reference on every order, compared as in a repeated payment', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { dateId } = await createBookableDate(me);
  const orders = [];
  for (let n = 0; n < 2; n += 1) orders.push(await bookOrFail(me, dateId, { participants: persons(1) }));
  const ids = [];
  for (const { order_id } of orders) ids.push((await pay(me, order_id, { amount: 10, reference: 'KID 123' }))['id']);
  await pay(me, orders[0]!.order_id, { amount: 10, reference: 'KID 1234' });
  await pay(me, orders[0]!.order_id, { amount: 10 });
  const find = async (school: Provider, reference: string) =>
    (await listPayments(school, `reference=${encodeURIComponent(reference)}`)).map(({ id }) => id as number);
  for (const reference of ['KID 123', ' kid  123 ']) expect(await find(me, reference)).toEqual(ids);
  expect(await find(me, 'KID')).toEqual([]);
  expect(await find(other, 'KID 123')).toEqual([]);
});
