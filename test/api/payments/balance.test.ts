import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, createVoucher, persons } from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;
async function send(me: Provider, path: string, body: object = {}): Promise<Item> {
  const response = await me.post(path, body);
  expect([200, 201], response.text).toContain(response.status);
  return response.json<Item>();
}
const pay = (me: Provider, order: string | number, body: object = {}) => send(me, `/v2/orders/${order}/payments`, body);
const credit = (me: Provider, order: string | number, body: object = {}) =>
  send(me, `/v2/orders/${order}/credit`, body);
const balanceOf = async (me: Provider, order: string | number) =>
  (await me.get(`/v2/orders/${order}?include[]=balance`)).json<Item>()['balance'] as Item;
const summaryOf = async (me: Provider, booking: string) =>
  (await me.get(`/v2/booking/${booking}?include[]=balance`)).json<Item>()['summary'] as Item;
const lineOf = async (me: Provider, order: string | number) =>
  (await me.get(`/v2/orders/${order}`)).json<Item>()['lines'][0].id as number;
const none = { total: 1000, credited: 0, paid: 0, paid_by_voucher: 0, due: 0, owed: 0, applied: null };

test('the balance of an order counts payments, vouchers and credits', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const voucher = await createVoucher(me, { amount: '300' });
  const { order_id: order, booking_id } = await bookOrFail(me, dateId, { voucher_code: voucher.code });
  expect(await balanceOf(me, order)).toEqual({ ...none, paid_by_voucher: 300, due: 700 });
  await pay(me, order, { amount: 600 });
  expect(await balanceOf(me, order)).toEqual({ ...none, paid_by_voucher: 300, paid: 600, due: 100 });

  const lines = [{ line_id: await lineOf(me, order), amount: 850 }];
  const { id } = (await credit(me, order, { lines })) as { id: number };
  // 100 are applied, 300 return to the voucher.
  expect(await balanceOf(me, order)).toEqual({ ...none, credited: 850, paid: 600, owed: 450 });
  const own = { ...none, total: -850, paid_by_voucher: -300, owed: 450, applied: 100 };
  expect(await balanceOf(me, id)).toEqual(own);
  await pay(me, id, { amount: -450 });
  expect(await balanceOf(me, order)).toEqual({ ...none, credited: 850, paid: 150 });
  expect(await balanceOf(me, id)).toEqual({ ...own, paid: -450, owed: 0 });

  const { applied, ...ofBooking } = await balanceOf(me, order);
  expect([applied, await summaryOf(me, booking_id)]).toMatchObject([null, { to_pay: 0, balance: ofBooking }]);
  const { summary } = (await me.get(`/v2/booking/${booking_id}`)).json<{ summary: Item }>();
  expect(summary).not.toHaveProperty('balance');
});

test('what is to pay of a booking counts the orders of moves and their credits', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const dearer = await addDate(me, await me.course({ price_value: 1300 }));
  const { order_id: order, booking_id, participants } = await bookOrFail(me, dateId);
  await pay(me, order);
  await send(me, `/v2/participants/${participants[0]!.id}/move`, { coursedate_id: dearer, price: 'difference' });
  const balance = { total: 1300, credited: 0, paid: 1000, paid_by_voucher: 0, due: 300, owed: 0 };
  expect(await summaryOf(me, booking_id)).toMatchObject({ total_incl_vat: 1000, to_pay: 300, balance });
  await credit(me, order, { lines: [{ line_id: await lineOf(me, order), amount: 400 }] });
  const credited = { ...balance, credited: 400, due: 0, owed: 100 };
  expect(await summaryOf(me, booking_id)).toMatchObject({ to_pay: 0, balance: credited });
});

test('lists and spreadsheets have balances', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { order_id: first } = await bookOrFail(me, dateId, { participants: persons(2) });
  await bookOrFail(me, dateId);
  await pay(me, first, { amount: 12.5 });
  await credit(me, first, { lines: [{ line_id: await lineOf(me, first), quantity: 1 }] });
  const listed = (await me.get('/v2/orders?include[]=balance')).json<Item[]>();
  expect(listed.map(({ balance }) => balance as Item)).toEqual([
    { ...none, total: 2000, credited: 1000, paid: 12.5, due: 987.5 },
    { ...none, due: 1000 },
    { ...none, total: -1000, applied: 1000 },
  ]);
  const [head, ...rows] = (await me.get('/v2/orders?include[]=balance&format=csv')).text.trim().split('\r\n');
  const columns = head!
    .split(',')
    .flatMap((name, n) => (name.startsWith('balance.') ? [[name.slice(8), n] as const] : []));
  expect(columns.map(([name]) => name)).toEqual(Object.keys(none));
  expect(rows.map((row) => columns.map(([, n]) => row.split(',')[n]).join(' '))).toEqual([
    '2000 1000 12.5 0 987.5 0 ',
    '1000 0 0 0 1000 0 ',
    '-1000 0 0 0 0 0 1000',
  ]);
  expect((await me.get('/v2/orders')).json<Item[]>()[0]).not.toHaveProperty('balance');
});
