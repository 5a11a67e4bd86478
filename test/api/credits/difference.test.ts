import { expect, test } from 'vitest';
import { checkCounters } from '../../../src/domains/records/counters/service.ts';
import { bookOrFail, createBookableDate, persons } from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { createCampaign, createCustomer, createProduct, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
const move = (me: Provider, id: number, coursedate_id: number) =>
  me.post(`/v2/participants/${id}/move`, { coursedate_id, price: 'difference' });

/** Dates of courses with these prices, and VAT percentages. */
const createDates = (me: Provider, prices: [price: number, vat?: number][]) =>
  Promise.all(
    prices.map(async ([price, vat = 0], n) => {
      const { courseId, dateId } = await createBookableDate(me, { course: { title: `Course ${n}` } });
      await write(me, (tx) =>
        tx.execute(`update products set price = ${price}, vat_percentage = ${vat} where course_id = ${courseId}`),
      );
      return dateId;
    }),
  );

/** The orders so far, each with its kind, the order that it follows, the prices of its lines, and its total. */
async function readOrders(me: Provider) {
  const orders = (await me.get('/v2/orders?include=credit')).json<Item[]>();
  return orders.map(({ id, credit, lines, calculated_totals }) => [
    ...[id, credit.kind, credit.first_order_id],
    (lines as Item[]).map((line) => line['quantity'] * line['price_at_order_per_item_vat_excluded']),
    calculated_totals.total_amount_incl_discounts_and_vat,
  ]);
}
const moveAll = async (me: Provider, id: number, dates: number[]) => {
  for (const date of dates) expect((await move(me, id, date)).status).toBe(200);
  const { differences } = await checkCounters(database, { providerId: me.id });
  expect(differences).toEqual([]);
  return (await readOrders(me)).slice(1);
};

test('what a move costs more is an order, what it costs less a credit of the newest order first', async () => {
  const me = await createProvider();
  const dates = await createDates(me, [
    [1000, 25],
    [1500, 25],
    [800, 25],
  ]);
  const extra = await createProduct(me, await me.course(), { price: '70' });
  const [main] = (await me.get('/v2/orders/products')).json<Item[]>().filter(({ price }) => price === 1000);
  const people = persons(2).map((one) => ({ ...one, products: [main!['id'], extra] }));
  const { order_id, participants } = await bookOrFail(me, dates[0]!, { participants: people });
  const [first, id] = [Number(order_id), participants[1]!.id];

  const [dearer] = await moveAll(me, id, [dates[1]!]);
  const difference = dearer![0] as number;
  expect(dearer).toEqual([difference, 'difference', first, [500], 625]);
  expect((await moveAll(me, id, [dates[2]!, dates[0]!])).slice(1)).toEqual([
    [expect.any(Number), 'credit', difference, [-500], -625],
    [expect.any(Number), 'credit', first, [-200], -250],
    [expect.any(Number), 'difference', first, [200], 250],
  ]);
  const { lines, credit, is_paid, first_user, title } = (
    await me.get(`/v2/orders/${difference}?include=credit`)
  ).json<Item>();
  expect(lines[0].database_relations).toMatchObject([{ participant_id: id }]);
  expect(title).toBe(`Course 1 #${difference}`);
  expect([credit.credits_order_id, credit.credit_order_ids.length, is_paid, first_user]).toEqual([null, 1, true, null]);
  const { credit_order_ids, difference_order_ids } = (await me.get(`/v2/orders/${first}?include=credit`)).json<Item>()[
    'credit'
  ];
  expect([credit_order_ids.length, difference_order_ids]).toEqual([1, [difference, expect.any(Number)]]);
});

test.each<[string, [number, number?][], number[], unknown[][]]>([
  ['an equal price', [[1000], [1000]], [1], []],
  ['a second move', [[1000], [1200]], [1, 1], [['difference', [200], 200]]],
  [
    'a free course',
    [
      [1000, 25],
      [0, 25],
    ],
    [1],
    [['credit', [-1000], -1250]],
  ],
  ['from a free course', [[0], [10, 12.5]], [1], [['difference', [10], 11.25]]],
  [
    'another VAT',
    [[1000, 25], [1250]],
    [1],
    [
      ['credit', [-1000], -1250],
      ['difference', [1250], 1250],
    ],
  ],
  [
    'there and back',
    [[100], [300], [300]],
    [1, 2, 0],
    [
      ['difference', [200], 200],
      ['credit', [-200], -200],
    ],
  ],
])('the difference of %s', async (_name, prices, moves, expected) => {
  const me = await createProvider();
  const dates = await createDates(me, prices);
  const { participants } = await bookOrFail(me, dates[0]!);
  const orders = await moveAll(
    me,
    participants[0]!.id,
    moves.map((n) => dates[n]!),
  );
  expect(orders.map(([, kind, , lines, total]) => [kind, lines, total])).toEqual(expected);
});

test('a discount by amount stays what it was, and shares of a line add up to the line', async () => {
  const me = await createProvider();
  const [date, dearer, free] = await createDates(me, [[100.05], [150.05], [0]]);
  await createCampaign(me, { campaignCode: 'FIVE', discountType: 'Value', discountValue: '5' });
  const { participants } = await bookOrFail(me, date!, { participants: persons(3), campaign_code: 'FIVE' });
  const totals = [];
  for (const [n, target] of [
    [0, dearer],
    [1, free],
    [2, free],
    [0, free],
  ] as const) {
    await moveAll(me, participants[n]!.id, [target!]);
    totals.push((await readOrders(me)).reduce((sum, order) => sum + Math.round((order[4] as number) * 100), 0));
  }
  expect(totals).toEqual([335_15, 240_10, 145_05, 0]);
});

test.each<[string, number[], (string | number | boolean)[][]]>([
  ['dearer, also after its period', [1], [['difference', 800]]],
  [
    'dearer and back',
    [1, 0],
    [
      ['difference', 800],
      ['credit', -800],
    ],
  ],
  [
    'cheaper, and dearer',
    [2, 1],
    [
      ['credit', -400],
      ['difference', 1200],
    ],
  ],
  ['to a course that the campaign excludes, whose discount is the amount', [3], [['difference', 1000]]],
  [
    'to an excluded course, and to one of the campaign',
    [3, 1],
    [
      ['difference', 1000],
      ['credit', -200],
    ],
  ],
])('a discount in percent: %s', async (_name, moves, expected) => {
  const me = await createProvider();
  const dates = await createDates(me, [[1000], [2000], [500], [2000]]);
  const courses = (await me.get('/v2/courses')).json<Item[]>().filter(({ title }) => title !== 'Course 3');
  await createCampaign(
    me,
    { campaignCode: 'FIFTH', discountValue: '20', maxUses: 1 },
    { courses: courses.map(({ id }) => id as number) },
  );
  const { participants, total_excl_vat } = await bookOrFail(me, dates[0]!, { campaign_code: 'fifth' });
  expect(total_excl_vat).toBe(800);
  await write(me, (tx) => tx.execute(`update campaigns set ends_at = '2020-01-01' where provider_id = ${me.id}`));
  const orders = await moveAll(
    me,
    participants[0]!.id,
    moves.map((n) => dates[n]!),
  );
  expect(orders.map(([, kind, , , total]) => [kind, total])).toEqual(expected);
});

test('a discount in percent of some customers stays one for them', async () => {
  const me = await createProvider();
  const [date, dearer] = await createDates(me, [[1000], [2000]]);
  const customer = await createCustomer(me);
  const campaign = await createCampaign(me, { campaignCode: 'ONE', discountValue: '20' });
  const { participants } = await bookOrFail(me, date!, { customer_id: customer, campaign_code: 'ONE' });
  const others = await bookOrFail(me, date!, { campaign_code: 'ONE' });
  expect((await me.put(`/v2/campaigns/${campaign}`, { customers: [customer] })).status).toBe(200);
  const [of] = (await moveAll(me, participants[0]!.id, [dearer!])).slice(1);
  expect(of!.at(-1)).toBe(800);
  expect((await moveAll(me, others.participants[0]!.id, [dearer!])).at(-1)!.at(-1)).toBe(1000);
});

test('credits of all participants lower the share of each', async () => {
  const me = await createProvider();
  const [date, dearer, free] = await createDates(me, [[100], [150], [0]]);
  const { order_id, participants } = await bookOrFail(me, date!, { participants: persons(2) });
  const [first, second] = participants.map(({ id }) => id) as [number, number];
  await moveAll(me, first, [free!]);
  expect((await me.post(`/v2/orders/${order_id}/credit`, {})).status).toBe(201);
  expect((await moveAll(me, second, [dearer!])).at(-1)).toMatchObject([{}, 'difference', {}, [150], 150]);
  expect((await moveAll(me, first, [date!])).at(-1)).toMatchObject([{}, 'difference', {}, [100], 100]);
});

test('a move back gives the product that was booked, and one within a course changes no price', async () => {
  const me = await createProvider();
  const { courseId, dateId: date } = await createBookableDate(me);
  const [dearer] = await createDates(me, [[150]]);
  const product = await createProduct(me, courseId, { price: '90' });
  const people = persons(1, { products: [product] });
  const { order_id, participants } = await bookOrFail(me, date, { participants: people });
  const { id } = participants[0]!;
  expect((await moveAll(me, id, [dearer!, date])).map(([, kind, , lines]) => [kind, lines])).toEqual([
    ['difference', [60]],
    ['credit', [-60]],
  ]);
  const [line] = (await me.get(`/v2/orders/${order_id}`)).json<{ lines: { id: number }[] }>().lines;
  await me.post(`/v2/orders/${order_id}/credit`, { lines: [{ line_id: line!.id, amount: 20 }] });
  expect(await moveAll(me, id, [await addDate(me, courseId)])).toHaveLength(3);
});

test.each([
  ['another currency', `update products set currency = 'EUR' where price = 200`, 'exchange_rate_does_not_exist'],
  ['no main product', `update products set archived_at = now() where price = 200`, 'default_course_product_missing'],
  [
    'too large a price',
    `update products set price = 9999999999, vat_percentage = 50 where price = 200`,
    'order_could_not_be_created',
  ],
  ['no agreed price', 'delete from order_line_participants', 'price_unknown'],
])('%s is refused, and the participant stays', async (_name, change, code) => {
  const me = await createProvider();
  const dates = await createDates(me, [[100], [200]]);
  const { participants } = await bookOrFail(me, dates[0]!);
  await write(me, (tx) => tx.execute(`${change} ${change.includes('where') ? 'and' : 'where'} provider_id = ${me.id}`));
  const response = await move(me, participants[0]!.id, dates[1]!);
  expect([response.status, response.headers['x-error-code']]).toEqual([400, code]);
  const { coursedate } = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<Item>();
  expect([coursedate.id, (await readOrders(me)).length]).toEqual([dates[0], 1]);
});
