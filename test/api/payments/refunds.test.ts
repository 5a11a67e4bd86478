import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { bookOrFail, createBookableDate, createVoucher } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
const addPayment = (me: Provider, order: string | number, body: object = {}) =>
  me.post(`/v2/orders/${order}/payments`, body);
async function send(me: Provider, path: string, body: object = {}): Promise<Item> {
  const response = await me.post(path, body);
  expect(response.status, response.text).toBe(201);
  return response.json<Item>();
}
const pay = (me: Provider, order: string | number, body: object = {}) => send(me, `/v2/orders/${order}/payments`, body);
const lineOf = async (me: Provider, order: string) =>
  (await me.get(`/v2/orders/${order}`)).json<Item>()['lines'][0].id as number;
const credit = async (me: Provider, order: string, amount?: number) =>
  send(
    me,
    `/v2/orders/${order}/credit`,
    amount === undefined ? {} : { lines: [{ line_id: await lineOf(me, order), amount }] },
  );
const reverse = async (me: Provider, order: string | number, id: number) =>
  (await me.request('DELETE')(`/v2/orders/${order}/payments/${id}`)).status;
async function read(me: Provider, order: string | number) {
  const { is_paid, balance } = (await me.get(`/v2/orders/${order}?include[]=balance`)).json<Item>();
  return [is_paid, balance.due, balance.owed, balance.applied] as unknown[];
}
const code = (response: { status: number; headers: object; text: string }) => [
  response.status,
  (response.headers as Record<string, unknown>)['x-error-code'],
];
const differences = async (me: Provider) => (await checkCounters(database, { providerId: me.id })).differences;
async function stage(fields: Item = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id } = await bookOrFail(me, dateId, fields);
  return { me, order: order_id };
}
const shown = ({ method, amount, parts }: Item): unknown[] => [
  ...[method, amount, (parts as Item[] | undefined)?.map(shown)],
];

test.each(['KID 123456 ', 'KID  123456', 'kid 123456', '\tKid 123456'])(
  'the reference %j is KID 123456',
  async (other) => {
    const { me, order } = await stage();
    const first = await pay(me, order, { amount: 10, reference: 'KID 123456' });
    const again = await addPayment(me, order, { amount: 10, reference: other });
    expect([again.status, again.json()]).toEqual([200, first]);
    expect(code(await addPayment(me, order, { amount: 11, reference: other }))).toEqual([
      400,
      'payment_reference_reused',
    ]);
    expect(await pay(me, order, { amount: 1, reference: `${other}7` })).toMatchObject({ amount: 1 });
  },
);

test('money does not arrive after today', async () => {
  const { me, order } = await stage();
  const tomorrow = new Date(Date.now() + 86_400_000 * 2).toISOString().slice(0, 10);
  for (const paid_at of ['2999-01-01', tomorrow]) {
    expect((await addPayment(me, order, { paid_at })).json()).toEqual({ error: 'Field(s) not valid: paid_at' });
    const put = await me.put(`/v2/orders/${order}`, { is_paid: 1, paid_at });
    expect(put.json()).toEqual({ error: 'Field(s) not valid: paid_at' });
  }
  expect(await read(me, order)).toEqual([false, 1000, 0, null]);
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Oslo' }).format(new Date());
  await pay(me, order, { paid_at: `${today} 23:59` });
});

test('money above what is due is owed, and refunded by the order itself', async () => {
  const { me, order } = await stage();
  expect(code(await addPayment(me, order, { amount: 1300 }))).toEqual([400, 'amount_exceeds_due']);
  const { id } = await pay(me, order, { amount: 1300, method: 'bank', overpaid: 1, reference: 'B' });
  expect((await addPayment(me, order, { amount: 1300, overpaid: 1, reference: 'b' })).json()).toMatchObject({ id });
  expect(await read(me, order)).toEqual([true, 0, 300, null]);
  await pay(me, order, { amount: 50, overpaid: true });
  expect(await read(me, order)).toEqual([true, 0, 350, null]);
  for (const body of [{}, { amount: -350.01 }, { amount: 1 }, { overpaid: 1 }])
    expect([body, code(await addPayment(me, order, body))]).toEqual([body, [400, 'amount_exceeds_due']]);
  const refuse = async (amount: number) => (await addPayment(me, order, { amount })).json<object>();
  expect(await refuse(-350.01)).toEqual({ error: 'The amount exceeds what is owed: 350.00' });
  const refund = await pay(me, order, { amount: -350 });
  expect(await refuse(-1)).toEqual({ error: 'The amount exceeds what is owed: 0.00' });
  expect(shown(refund)).toEqual([
    'other',
    -50,
    [
      ['other', -50, undefined],
      ['bank', -300, undefined],
    ],
  ]);
  expect([await read(me, order), await differences(me)]).toEqual([[true, 0, 0, null], []]);
  expect(await reverse(me, order, id as number)).toBe(200);
  expect(await read(me, order)).toEqual([false, 1300, 0, null]);
  const { id: credited } = (await credit(me, order, 100)) as { id: number };
  const refused = await addPayment(me, credited, { amount: 1, overpaid: 1 });
  expect(refused.json()).toEqual({ error: 'Field(s) not valid: overpaid' });
});

test('a refund goes back to the latest payment first, and says so', async () => {
  const { me, order } = await stage();
  await pay(me, order, { amount: 500, method: 'card', paid_at: '2026-01-02' });
  await pay(me, order, { amount: 300, method: 'cash', paid_at: '2026-01-04' });
  await pay(me, order, { amount: 200, method: 'cash', paid_at: '2026-01-01' });
  const { id } = (await credit(me, order, 900)) as { id: number };
  expect(shown(await pay(me, id, { amount: -100, method: 'bank' }))).toEqual(['bank', -100, undefined]);
  expect(shown(await pay(me, id, { amount: -100 }))).toEqual(['cash', -100, undefined]);
  const refund = await pay(me, id, { amount: -300, reference: 'R 1' });
  const parts = [
    ['cash', -200, undefined],
    ['card', -100, undefined],
  ];
  expect(shown(refund)).toEqual(['cash', -200, parts]);
  for (const body of [{ reference: 'r 1' }, { reference: 'R 1', amount: -300 }]) {
    const again = await addPayment(me, id, body);
    expect([again.status, again.json()]).toEqual([200, refund]);
  }
  expect(code(await addPayment(me, id, { reference: 'R 1', amount: -200 }))).toEqual([400, 'payment_reference_reused']);
  // What is left by the interface's other way.
  await me.put(`/v2/orders/${id}`, { is_paid: true });
  const refunds = (await me.get(`/v2/payments?order_id=${id}`)).json<Item[]>();
  expect(refunds.map(({ method, amount }) => [method, amount] as unknown)).toEqual([
    ['bank', -100],
    ['cash', -100],
    ['cash', -200],
    ['card', -100],
    ['card', -400],
  ]);
  expect([await read(me, id), await differences(me)]).toEqual([[true, 0, 0, 0], []]);
});

test('a reversed payment of a credited order applies the credit anew', async () => {
  const { me, order } = await stage();
  const { id: payment } = (await pay(me, order)) as { id: number };
  const { id } = (await credit(me, order, 400)) as { id: number };
  const { id: refund } = (await pay(me, id, { amount: -100 })) as { id: number };
  expect([await read(me, order), await read(me, id)]).toEqual([
    [true, 0, 300, null],
    [false, 0, 300, 0],
  ]);
  const cursor = await newestEvent(me);
  expect(await reverse(me, order, payment)).toBe(200);
  expect([await read(me, order), await read(me, id)]).toEqual([
    [false, 700, 0, null],
    [true, 0, 0, 300],
  ]);
  expect(await eventsSince(me, cursor)).toContain('order.settled');
  // The refund did not happen either.
  expect(await reverse(me, id, refund)).toBe(200);
  expect([await read(me, order), await read(me, id)]).toEqual([
    [false, 600, 0, null],
    [true, 0, 0, 400],
  ]);
  await pay(me, order, { amount: 600 });
  expect([await read(me, order), await differences(me)]).toEqual([[true, 0, 0, null], []]);
});

test('an order that a credit settles is paid by money or vouchers alone', async () => {
  const typesOf = async (me: Provider, act: () => Promise<unknown>) => {
    const cursor = await newestEvent(me);
    await act();
    return (await eventsSince(me, cursor)).filter((type) => /^order\.(paid|settled)$/.test(type));
  };
  const unpaid = await stage();
  expect(await typesOf(unpaid.me, () => credit(unpaid.me, unpaid.order))).toEqual(['order.settled']);
  expect(await read(unpaid.me, unpaid.order)).toEqual([true, 0, 0, null]);

  const partly = await stage();
  await pay(partly.me, partly.order, { amount: 1 });
  expect(await typesOf(partly.me, () => credit(partly.me, partly.order, 999))).toEqual(['order.paid', 'order.settled']);

  const paid = await stage();
  await credit(paid.me, paid.order, 400);
  expect(await typesOf(paid.me, () => pay(paid.me, paid.order))).toEqual(['order.paid']);

  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { code: voucher_code } = await createVoucher(me, { amount: '300' });
  const { order_id } = await bookOrFail(me, dateId, { voucher_code });
  expect(await typesOf(me, () => credit(me, order_id, 700))).toEqual(['order.paid', 'order.settled']);
  const free = await bookOrFail(me, (await createBookableDate(me, { course: { price_value: 0 } })).dateId);
  const setPaid = () => me.put(`/v2/orders/${free.order_id}`, { is_paid: true });
  expect(await typesOf(me, setPaid)).toEqual(['order.settled']);
});
