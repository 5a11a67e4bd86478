import { expect, test } from 'vitest';
import { createCampaign, createCourseDate, createCustomer, createOrder } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

async function createOrders(me: Provider) {
  const courseId = await me.course();
  const dates = [await createCourseDate(me, courseId), await createCourseDate(me, courseId)];
  const customerId = await createCustomer(me, { title: 'Havbris Kurs AS' });
  const campaignId = await createCampaign(me);
  const create = (dateId: number, order: object) => createOrder(me, { courseId, dateId, order });
  const a = await create(dates[0]!, { customerId, isPaid: true, yourReference: 'PO 4711' });
  const b = await create(dates[0]!, { campaignId, booker: 'Ida Øvrebø' });
  const c = await create(dates[1]!, { customerId, campaignId });
  return { ids: [a.orderId, b.orderId, c.orderId] as const, dates, customerId, campaignId };
}

test('filters by payment, customer, course date, campaign and words', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const mine = await createOrders(me);
  const [a, b, c] = mine.ids;
  const { dates, customerId, campaignId } = mine;
  const theirs = await createOrders(other);
  const list = async (query: string) =>
    (await me.get(`/v2/orders?${query}`)).json<{ id: number }[]>().map(({ id }) => id);
  expect(await list('')).toEqual([a, b, c]);
  expect(await list('is_paid=1')).toEqual([a]);
  expect(await list('is_paid=false')).toEqual([b, c]);
  expect(await list(`customer_id=${customerId}`)).toEqual([a, c]);
  expect(await list(`coursedate_id=${dates[0]}`)).toEqual([a, b]);
  expect(await list(`campaign_id=${campaignId}`)).toEqual([b, c]);
  expect(await list(`campaign_id=${campaignId}&coursedate_id=${dates[1]}`)).toEqual([c]);
  expect(await list(`customer_id=${customerId}&order_by=created_at&order_direction=desc`)).toEqual([c, a]);
  const { customerId: customer, campaignId: campaign, dates: foreign } = theirs;
  for (const query of [`customer_id=${customer}`, `coursedate_id=${foreign[0]}`, `campaign_id=${campaign}`])
    expect(await list(query), query).toEqual([]);
  expect(await list('q=4711')).toEqual([a]);
  expect(await list('q=po 47')).toEqual([a]);
  expect(await list('q=øvre')).toEqual([b]);
  expect(await list('q=havbris k')).toEqual([a, c]);
  expect(await list(`q=${b}`)).toEqual([b]);
  expect(await list(`q=${theirs.ids[0]}`)).toEqual([]);
  expect(await list('q=havbris&is_paid=0')).toEqual([c]);
});
