import { expect, test } from 'vitest';
import { courseTags } from '../../../src/database/tables/catalog.ts';
import {
  createBookableDate,
  bookOrFail,
  book,
  errorCodes,
  createVoucher,
  person,
  persons,
} from '../../support/booking.ts';
import { createCampaign, createCustomer, createProduct, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const [past, future] = ['2020-01-01 00:00:00+01', '2030-01-01 00:00:00+01'];
const lastOrder = async (me: Provider) => (await me.get('/v2/orders?limit=250')).json<Item[]>().at(-1)!;
const lineOf = (order: Item) => {
  const [line] = order['lines'] as Item[];
  return ['percent', 'amount', 'calculated'].map((name) => line![`discount_${name}_at_order`] as number);
};

test('a campaign code is case-insensitive and discounts a percentage of the line', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const campaign = await createCampaign(me, { campaignCode: 'Sommer-Å', discountValue: '12.5' });
  const summary = await bookOrFail(me, dateId, { campaign_code: 'sommer-å', participants: persons(3) });
  expect(summary).toMatchObject({ total_excl_vat: 2625, total_incl_vat: 2625 });
  const order = await lastOrder(me);
  expect([order['idCampaign'], lineOf(order)]).toEqual([campaign, [12.5, 0, 375]]);
  expect(order['calculated_totals']).toMatchObject({
    total_amount_before_discounts: 3000,
    total_amount_of_discounts: 375,
  });
});

test('an amount is subtracted per item and a price is never negative', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me);
  const cheap = await createProduct(me, courseId, { price: '30.00', vatPercentage: '25' });
  await createCampaign(me, { campaignCode: 'off', discountType: 'Value', discountValue: '100' });
  const summary = await bookOrFail(me, dateId, {
    campaign_code: 'off',
    participants: [person(), person(), person({ products: [cheap] })],
  });
  expect(summary).toMatchObject({ total_excl_vat: 1800, total_vat: 0 });
  const order = await lastOrder(me);
  expect(
    order['lines'].map((line: Item) => [line['discount_amount_at_order'], line['discount_calculated_at_order']]),
  ).toEqual([
    [100, 200],
    [30, 30],
  ]);
});

test('the discount is applied before VAT', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me);
  const product = await createProduct(me, courseId, { price: '99.99', vatPercentage: '25' });
  await createCampaign(me, { campaignCode: 'third', discountValue: '33.33' });
  // 99.99 x 33.33 % = 33.3267; 25 % of 66.66 = 16.665.
  expect(
    await bookOrFail(me, dateId, { campaign_code: 'third', participants: [person({ products: [product] })] }),
  ).toMatchObject({
    total_excl_vat: 66.66,
    total_vat: 16.67,
    total_incl_vat: 83.33,
  });
});

test('an archived campaign with the same code is ignored', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await createCampaign(me, { campaignCode: 'again', isArchived: true });
  const campaign = await createCampaign(me, { campaignCode: 'AGAIN' });
  await bookOrFail(me, dateId, { campaign_code: 'again' });
  expect((await lastOrder(me))['idCampaign']).toBe(campaign);
});

test.each<[string, Parameters<typeof createCampaign>[1], string]>([
  ['archived', { isArchived: true }, 'campaign_code_invalid'],
  ['not active', { isActive: false }, 'campaign_code_invalid'],
  ['still to come', { startsAt: future }, 'campaign_code_invalid'],
  ['over', { endsAt: past }, 'campaign_code_expired'],
  ['over, and not active', { endsAt: past, isActive: false }, 'campaign_code_expired'],
  ['an amount of another currency', { discountType: 'Value', currency: 'EUR' }, 'campaign_code_invalid'],
])('a campaign that is %s is rejected', async (_name, fields, code) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await createCampaign(me, { campaignCode: 'code', ...fields });
  const response = await book(me, dateId, { campaign_code: 'code' });
  expect([response.status, errorCodes(response)]).toEqual([400, [code]]);
});

test("a campaign applies by its courses, its courses' tags and its customers", async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me, { course: { tags: [{ title: 'a' }, { title: 'b' }] } });
  const [a] = (await me.get('/v2/course-tags')).json<{ id: number }[]>();
  const elsewhere = await me.course({ tags: [{ title: 'c' }] });
  const tags = (await me.get('/v2/course-tags')).json<{ id: number }[]>();
  const [customer, another] = [await createCustomer(me), await createCustomer(me)];
  let created = 0;
  const allowed = async (named: Parameters<typeof createCampaign>[2], fields: Item = {}) => {
    const campaignCode = `code-${(created += 1)}`;
    await createCampaign(me, { campaignCode }, named);
    return (await book(me, dateId, { campaign_code: campaignCode, ...fields })).status === 201;
  };
  expect(await allowed({})).toBe(true);
  expect(await allowed({ courses: [elsewhere, courseId] })).toBe(true);
  expect(await allowed({ courses: [elsewhere] })).toBe(false);
  expect(await allowed({ tags: [a!.id] })).toBe(true);
  expect(await allowed({ tags: [tags.at(-1)!.id] })).toBe(false);
  expect(await allowed({ tags: [tags.at(-1)!.id], courses: [courseId] })).toBe(true);
  expect(await allowed({ customers: [customer] })).toBe(false);
  expect(await allowed({ customers: [customer] }, { customer_id: another })).toBe(false);
  expect(await allowed({ customers: [another, customer] }, { customer_id: customer })).toBe(true);
  expect(await allowed({ customers: [customer], courses: [elsewhere] }, { customer_id: customer })).toBe(false);
  expect(await database.db.$count(courseTags)).toBeGreaterThan(0);
});

test('the best customer agreement applies automatically, unless a code is given', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const [customer, another] = [await createCustomer(me), await createCustomer(me)];
  const agreed = { type: 'Agreement' as const };
  const small = await createCampaign(me, { ...agreed, discountValue: '5' }, { customers: [customer] });
  const campaignOf = async (fields: Item) => {
    await bookOrFail(me, dateId, fields);
    return (await lastOrder(me))['idCampaign'] as number | null;
  };
  expect(await campaignOf({ customer_id: customer })).toBe(small);
  expect(await campaignOf({ customer_id: another })).toBe(null);
  expect(await campaignOf({})).toBe(null);

  const big = await createCampaign(
    me,
    { ...agreed, discountType: 'Value', discountValue: '300' },
    { customers: [customer] },
  );
  const without = [
    createCampaign(me, { ...agreed, discountValue: '50', isArchived: true }, { customers: [customer] }),
    createCampaign(me, { ...agreed, discountValue: '50', isActive: false }, { customers: [customer] }),
    createCampaign(me, { ...agreed, discountValue: '50', endsAt: past }, { customers: [customer] }),
    createCampaign(me, { ...agreed, discountValue: '50', startsAt: future }, { customers: [customer] }),
    createCampaign(
      me,
      { ...agreed, discountType: 'Value', discountValue: '900', currency: 'EUR' },
      { customers: [customer] },
    ),
    createCampaign(me, { ...agreed, discountValue: '50' }, { customers: [customer], courses: [await me.course()] }),
    createCampaign(me, { ...agreed, discountValue: '50' }, { customers: [another] }),
    createCampaign(me, { ...agreed, discountValue: '50' }),
    createCampaign(me, { discountValue: '50' }, { customers: [customer] }),
  ];
  await Promise.all(without);
  expect(await campaignOf({ customer_id: customer })).toBe(big);
  const named = await createCampaign(me, { campaignCode: 'little', discountValue: '1' });
  expect(await campaignOf({ customer_id: customer, campaign_code: 'little' })).toBe(named);
});

type Spent = { balance: string; redeemed: string; is_paid: boolean; paid: number };
const spentOn = async (me: Provider, voucherId: number, orderId: string) =>
  (
    await database.pool.query<Spent>(
      `select v.balance, coalesce((select sum(amount) from voucher_redemptions r where r.provider_id = $1 and r.voucher_id = v.id and r.order_id = $3), 0)::text as redeemed,
        o.is_paid, (select paid_id from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id where p.provider_id = $1 and b.order_id = $3 limit 1) as paid
      from vouchers v, orders o where v.provider_id = $1 and v.id = $2 and o.provider_id = $1 and o.id = $3`,
      [me.id, voucherId, orderId],
    )
  ).rows[0];

test('a voucher pays up to its balance and does not change lines or totals', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { id, code } = await createVoucher(me, { amount: '1500.00' });
  const summaries = [];
  for (const expected of [
    { balance: '500.00', redeemed: '1000.00', is_paid: true, paid: 1 },
    { balance: '0.00', redeemed: '500.00', is_paid: false, paid: 3 },
    { balance: '0.00', redeemed: '0', is_paid: false, paid: 3 },
  ]) {
    const summary = await bookOrFail(me, dateId, { voucher_code: code.toLowerCase() });
    summaries.push([summary.total_excl_vat, summary.total_incl_vat]);
    expect(await spentOn(me, id, summary.order_id)).toEqual(expected);
  }
  expect(summaries).toEqual(Array(3).fill([1000, 1000]));
  expect(lineOf(await lastOrder(me))).toEqual([0, 0, 0]);
  const validated = (await me.get(`/v2/vouchers/validate/${code}`)).json<Item>();
  expect(validated['voucher'].balance).toBe('0.00');
});

test('an order names the voucher and the amount it paid', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityWait: 1 });
  const { code } = await createVoucher(me, { amount: '1200.50' });
  const reported = async (fields: object) => {
    await bookOrFail(me, dateId, { voucher_code: code.toLowerCase(), ...fields });
    return (await lastOrder(me))['custom_properties'] as unknown;
  };
  expect(await reported({})).toEqual({ voucher_code: code, voucher_amount: '1000.00' });
  expect(await reported({ company: 'Fjord AS', participants: [person({ status_id: 3 })] })).toEqual({
    company: 'Fjord AS',
    voucher_code: code,
    voucher_amount: '200.50',
  });
  expect(await reported({})).toBeNull();
});

test('a voucher pays the discounted total with VAT', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me);
  const product = await createProduct(me, courseId, { price: '100.00', vatPercentage: '25' });
  await createCampaign(me, { campaignCode: 'half', discountValue: '50' });
  const { id, code } = await createVoucher(me, { amount: '100.00' });
  const fields = { voucher_code: code, campaign_code: 'half', participants: [person({ products: [product] })] };
  const { order_id } = await bookOrFail(me, dateId, fields);
  expect(await spentOn(me, id, order_id)).toEqual({ balance: '37.50', redeemed: '62.50', is_paid: true, paid: 1 });
});

test('a free booking does not use the voucher', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { course: { price_value: 0 } });
  const { id, code } = await createVoucher(me, { amount: '100.00' });
  const { order_id } = await bookOrFail(me, dateId, { voucher_code: code });
  expect(await spentOn(me, id, order_id)).toEqual({ balance: '100.00', redeemed: '0', is_paid: false, paid: 3 });
});

test('a rejected booking does not use the voucher', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1 });
  const voucher = await createVoucher(me, { amount: '100.00' });
  expect((await book(me, dateId, { voucher_code: voucher.code, participants: persons(2) })).status).toBe(400);
  const rows = await write(me, (tx) =>
    tx.execute(`select balance, updated_at::text from vouchers where provider_id = ${me.id}`),
  );
  expect(rows.rows).toEqual([{ balance: '100.00', updated_at: voucher.updatedAt }]);
});
