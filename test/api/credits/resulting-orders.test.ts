import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { bookOrFail, createBookableDate, createVoucher, endOffers, persons } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { addDate } from '../../support/dates.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
async function send(me: Provider, path: string, body: object = {}): Promise<Item> {
  const response = await me.post(path, body);
  expect([200, 201], response.text).toContain(response.status);
  return response.json<Item>();
}
const credit = (me: Provider, order: string, body: object = {}) => send(me, `/v2/orders/${order}/credit`, body);
const move = (me: Provider, id: number, coursedate_id: number, body: object = {}) =>
  send(me, `/v2/participants/${id}/move`, { coursedate_id, price: 'difference', ...body });
const orderIds = async (me: Provider) => (await me.get('/v2/orders')).json<Item[]>().map(({ id }) => id as number);
const readBooking = async (me: Provider, booking: string) =>
  (await me.get(`/v2/booking/${booking}?include=balance`)).json<Item>()['summary'] as Item;
const differences = async (me: Provider) => (await checkCounters(database, { providerId: me.id })).differences;

async function stage(fields: Item = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await bookOrFail(me, dateId, fields);
  const dearer = await addDate(me, await me.course({ price_value: 1300 }));
  return { me, dateId, dearer, order: summary.order_id, booking: summary.booking_id, id: summary.participants[0]!.id };
}

test('a dry run of a credit has its balance, and changes nothing', async () => {
  const { me, order, booking } = await stage({ participants: persons(2) });
  await send(me, `/v2/orders/${order}/payments`, { amount: 1500 });
  const before = [await orderIds(me), await readBooking(me, booking)];
  const cursor = await newestEvent(me);
  const body = { fee: 100, deregister: true };
  const balance = { total: -1900, credited: 0, paid: 0, paid_by_voucher: 0, due: 0, owed: 1400, applied: 500 };
  const expected = { dry_run: true, orders: [{ kind: 'credit', first_order_id: Number(order), balance }] };
  expect(await credit(me, order, { ...body, dry_run: true })).toEqual(expected);
  expect(await send(me, `/v2/orders/${order}/credit?dry_run=1`, body)).toEqual(expected);
  expect([await orderIds(me), await readBooking(me, booking)]).toEqual(before);
  expect(await eventsSince(me, cursor)).toEqual([]);
  const { id } = (await credit(me, order, body)) as { id: number };
  expect((await me.get(`/v2/orders/${id}?include=balance`)).json<Item>()['balance']).toEqual(balance);
});

test('a move names the orders that it makes, also in a dry run', async () => {
  const { me, dateId, dearer, order, id } = await stage();
  const before = await orderIds(me);
  const balance = { total: 300, credited: 0, paid: 0, paid_by_voucher: 0, due: 300, owed: 0, applied: null };
  const made = { kind: 'difference', first_order_id: Number(order), balance };
  const tried = await move(me, id, dearer, { dry_run: 1 });
  expect(tried).toMatchObject({ id, dry_run: true, coursedate: { id: dearer } });
  expect(tried['orders']).toEqual([made]);
  expect(await orderIds(me)).toEqual(before);
  expect((await me.get(`/v2/participants/${id}`)).json()).toMatchObject({ coursedate: { id: dateId } });

  const moved = await move(me, id, dearer);
  const [difference] = (await orderIds(me)).slice(1);
  expect([moved['orders'], moved]).toEqual([
    [{ id: difference, ...made }],
    expect.not.objectContaining({ dry_run: true }),
  ]);
  expect((await move(me, id, dearer))['orders']).toBeUndefined();
  const back = await move(me, id, dateId);
  const [, , credited] = await orderIds(me);
  expect(back['orders']).toMatchObject([{ id: credited, kind: 'credit', balance: { total: -300, applied: 300 } }]);
  expect((await move(me, id, dearer, { price: 'keep' }))['orders']).toBeUndefined();
});

test('a move names no credit of another place of the booking that its date has lost meanwhile', async () => {
  const me = await createProvider();
  const offers = { capacityMax: 1, capacityWait: 2, waitingMode: 'offer' as const };
  const { courseId, dateId } = await createBookableDate(me, offers);
  const dearer = await addDate(me, await me.course({ price_value: 1300 }));
  const wait = { config: { waiting_list_when_full: 1 } };
  const { participants } = await bookOrFail(me, dateId, { participants: persons(2), ...wait });
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { capacity_max: 2 });
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  await endOffers(me);
  const moved = await move(me, participants[0]!.id, dearer);
  expect((moved['orders'] as Item[]).map(({ kind }) => kind as string)).toEqual(['difference']);
  expect(await orderIds(me)).toHaveLength(3);
});

test('a credit that deregisters credits what a move cost more, too', async () => {
  const { me, dearer, order, booking, id } = await stage();
  await move(me, id, dearer);
  expect(await readBooking(me, booking)).toMatchObject({ to_pay: 1300 });
  const tried = await credit(me, order, { deregister: 1, dry_run: 1 });
  expect((tried['orders'] as Item[]).map(({ balance }) => balance.total as number)).toEqual([-1000, -300]);
  await credit(me, order, { deregister: 1 });
  const balance = { total: 1300, credited: 1300, due: 0, owed: 0 };
  expect(await readBooking(me, booking)).toMatchObject({ to_pay: 0, balance });
  expect(await differences(me)).toEqual([]);

  const other = await stage({ participants: persons(2) });
  await move(other.me, other.id, other.dearer);
  await credit(other.me, other.order, {});
  expect(await readBooking(other.me, other.booking)).toMatchObject({ to_pay: 300 });
});

test('an order of 0 has nothing to credit', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { course: { price_value: 0 } });
  const { order_id } = await bookOrFail(me, dateId);
  for (const body of [{}, { deregister: true }, { dry_run: true }]) {
    const refused = await me.post(`/v2/orders/${order_id}/credit`, body);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([400, 'nothing_left_to_credit']);
  }
});

test('money for an archived voucher is owed, and the voucher stays shut', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const voucher = await createVoucher(me, { amount: '700' });
  const { order_id, booking_id } = await bookOrFail(me, dateId, { voucher_code: voucher.code });
  expect((await me.request('DELETE')(`/v2/vouchers/${voucher.id}`)).status).toBe(200);
  const { id, custom_properties } = await credit(me, order_id);
  const { balance } = (await me.get(`/v2/orders/${id}?include=balance`)).json<Item>();
  expect([custom_properties, balance]).toMatchObject([null, { paid_by_voucher: 0, applied: 300, owed: 700 }]);
  expect((await me.get(`/v2/vouchers/${voucher.id}`)).json()).toMatchObject({ balance: '0.00' });
  expect(await readBooking(me, booking_id)).toMatchObject({ balance: { due: 0, owed: 700 } });
  await send(me, `/v2/orders/${id}/payments`, { amount: -700 });
  expect([await readBooking(me, booking_id), await differences(me)]).toMatchObject([{ balance: { owed: 0 } }, []]);
});

test('a credit has the campaign of its order, and uses it once', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const fields = { title: 'Autumn', campaign_code: 'AUTUMN', discount_type: 'Percent', discount_value: 10 };
  const { id } = await send(me, '/v2/campaigns', fields);
  const { order_id } = await bookOrFail(me, dateId, { campaign_code: 'AUTUMN' });
  const created = await credit(me, order_id);
  expect(created['idCampaign']).toBe(id);
  const listed = (await me.get(`/v2/orders?campaign_id=${id}`)).json<Item[]>();
  expect(listed.map((order) => order['id'] as number)).toEqual([Number(order_id), created['id']]);
  expect(await differences(me)).toEqual([]);
});
