import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { book, bookOrFail, createBookableDate, deregister, errorCodes, persons } from '../../support/booking.ts';
import { createCampaign } from '../../support/orders.ts';
import { createLinkToken, visitor } from '../../support/pages.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;

/** A campaign that one order may use, and that order, of two places at 1,000. */
async function stage(discountValue = '10') {
  const me = await createProvider();
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const { dateId } = await createBookableDate(me);
  const campaignId = await createCampaign(me, { campaignCode: 'ONCE', discountValue, maxUses: 1 });
  const coded = { campaign_code: 'ONCE' };
  const { order_id, booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2), ...coded });
  const uses = async () => {
    const { differences } = await checkCounters(database, { providerId: me.id });
    expect(differences).toEqual([]);
    const { rows } = await database.pool.query<Item>(`select uses from campaigns where id = $1`, [campaignId]);
    const response = await book(me, dateId, { ...coded, config: { seats_availability_check: 1 } });
    if (response.status === 201) return [rows[0]!['uses'], 'free'];
    return [rows[0]!['uses'], ...errorCodes(response)!];
  };
  const credit = (fields: Item = {}) => me.post(`/v2/orders/${order_id}/credit`, fields);
  const ids = participants.map(({ id }) => id);
  return { me, dateId, campaignId, booking_id, ids, uses, credit };
}
const used = [1, 'campaign_code_used_up'];

test('an order gives its use back once neither a place nor an amount is left', async () => {
  const { me, booking_id, ids, uses, credit } = await stage();
  expect(await uses()).toEqual(used);
  await deregister(me, booking_id, { participants: [ids[0]] });
  expect((await credit()).status).toBe(201);
  expect(await uses()).toEqual(used);
  await me.put(`/v2/participants/${ids[1]}`, { idStatus: 8 });
  expect(await uses()).toEqual([0, 'free']);
});

test('an order of which a part is not credited keeps its use', async () => {
  const { me, booking_id, uses, credit } = await stage();
  await deregister(me, booking_id);
  expect(await uses()).toEqual(used);
  expect((await credit({ fee: 1 })).status).toBe(201);
  expect(await uses()).toEqual(used);
  expect((await credit()).status).toBe(201);
  expect(await uses()).toEqual([0, 'free']);
});

test('an order that the discount makes free gives its use back without a credit', async () => {
  const { me, booking_id, uses } = await stage('100');
  await deregister(me, booking_id);
  expect(await uses()).toEqual([0, 'free']);
});

test('a credit that deregisters, and places that are canceled free of charge, give the use back', async () => {
  const credited = await stage();
  expect((await credited.credit({ deregister: 1 })).status).toBe(201);
  expect(await credited.uses()).toEqual([0, 'free']);

  const { me, dateId, booking_id, ids, uses } = await stage();
  const link = `/my/booking/${await createLinkToken(me, { bookingId: Number(booking_id) })}`;
  for (const [id, expected] of [
    [ids[0], used],
    [ids[1], [0, 'free']],
  ] as const) {
    await visitor(app).post(`${link}/cancel/${id}`, { date: String(dateId) });
    expect(await uses()).toEqual(expected);
  }
});

test('a place that is taken again takes the use again, also above the maximum', async () => {
  const { me, campaignId, booking_id, ids, uses, credit } = await stage();
  await deregister(me, booking_id);
  await credit();
  expect(await uses()).toEqual([0, 'free']);
  expect((await me.put(`/v2/participants/${ids[0]}`, { idStatus: 1 })).status).toBe(200);
  expect(await uses()).toEqual([2, 'campaign_code_used_up']);
  expect((await me.get(`/v2/campaigns/${campaignId}`)).status).toBe(200);
});

test('an order of which a difference is not credited keeps its use', async () => {
  const { me, ids, booking_id, uses, credit } = await stage();
  const { dateId: dearer } = await createBookableDate(me, { course: { price_value: 1300 } });
  const moved = await me.post(`/v2/participants/${ids[0]}/move`, { coursedate_id: dearer, price: 'difference' });
  const [{ id: difference }] = moved.json<Item>()['orders'] as [Item];
  await deregister(me, booking_id);
  expect((await credit()).status).toBe(201);
  expect(await uses()).toEqual(used);
  expect((await me.post(`/v2/orders/${difference}/credit`, {})).status).toBe(201);
  expect(await uses()).toEqual([0, 'free']);
});
