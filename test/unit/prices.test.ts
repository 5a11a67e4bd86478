import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toDecimal, toMinorUnits } from '../../src/core/money.ts';
import {
  isStorable,
  priceLine,
  priceOrder,
  voucherAmount,
  type Discount,
  type OrderedProduct,
} from '../../src/domains/orders/orders/price-service.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();

const sold = (price: string, quantity = 1, vatPercentage = '0', productId = 1): OrderedProduct => ({
  productId,
  price,
  vatPercentage,
  quantity,
});
const percent = (value: string, campaignId = 1): Discount => ({ campaignId, type: 'Percent', value });
const value = (amount: string, campaignId = 1): Discount => ({ campaignId, type: 'Value', value: amount });

test.each([
  [sold('100.00', 3), percent('10'), { discountPercentAtOrder: '10', calculated: '30.00', amount: '0.00' }],
  [sold('0.10', 1), percent('25'), { discountPercentAtOrder: '25', calculated: '0.03', amount: '0.00' }],
  [sold('0.10', 3), percent('25'), { discountPercentAtOrder: '25', calculated: '0.08', amount: '0.00' }],
  [sold('100.00', 3), value('30'), { discountPercentAtOrder: '0', calculated: '90.00', amount: '30.00' }],
  [sold('20.00', 3), value('30'), { discountPercentAtOrder: '0', calculated: '60.00', amount: '20.00' }],
  [sold('20.00', 3), undefined, { discountPercentAtOrder: '0', calculated: '0.00', amount: '0.00' }],
])('%o with %o', (one, discount, { discountPercentAtOrder, calculated, amount }) => {
  expect(priceLine(one, discount)).toEqual({
    productId: 1,
    quantity: one.quantity,
    vatPercentage: '0',
    priceAtOrder: one.price,
    discountPercentAtOrder,
    discountAmountAtOrder: amount,
    discountCalculatedAtOrder: calculated,
  });
});

test('the largest discount applies, the first of equal ones', () => {
  const best = (discounts: Discount[]) => priceOrder([sold('100.00', 2)], discounts).discount?.campaignId;
  expect(best([])).toBeUndefined();
  expect(best([percent('10', 5)])).toBe(5);
  expect(best([percent('10', 5), value('20', 6), percent('15', 7)])).toBe(6);
  expect(best([percent('20', 5), value('20', 6)])).toBe(5);
});

test('a total must fit the database', () => {
  expect(isStorable(priceOrder([sold('9999999999.99')], []).totals)).toBe(true);
  expect(isStorable(priceOrder([sold('9999999999.99', 2)], []).totals)).toBe(false);
  expect(isStorable(priceOrder([sold('9999999999.99', 1, '0.01')], []).totals)).toBe(false);
  expect(isStorable(priceOrder([sold('9999999999.99', 2)], [percent('100')]).totals)).toBe(false);
});

test('a voucher pays the total or its remaining balance', () => {
  expect(voucherAmount('100.00', 3_000n)).toBe(3_000n);
  expect(voucherAmount('100.00', 30_000n)).toBe(10_000n);
  expect(voucherAmount('0.00', 30_000n)).toBe(0n);
});

const amount = (most: number) => fc.integer({ min: 0, max: most }).map((minor) => toDecimal(BigInt(minor)));
const anyLine = fc.record({
  price: fc.oneof(amount(1_000_000_00), amount(999)),
  vatPercentage: fc.oneof(fc.constantFrom('0.00', '12.00', '15.00', '25.00', '100.00'), amount(100_00)),
  quantity: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 1_000 })),
});
const anyDiscount = fc.oneof(
  fc.constant(undefined),
  amount(100_00).map((rate) => percent(rate)),
  fc.oneof(amount(2_000_00), amount(1_500_000_00)).map((worth) => value(worth)),
);
const anyOrder = fc.record({
  lines: fc.array(anyLine, { minLength: 1, maxLength: 5 }),
  discount: anyDiscount,
  balance: fc.oneof(amount(2_000_00), amount(2_000_000_000_00)),
});

/** Reference computation with PostgreSQL decimals, which round half away from zero. */
const reckoned = `with line as (
    select o.number, o.balance, l.place, l.quantity, l.price, l.vat,
      case o.kind when 'Percent' then round(l.quantity * l.price * o.worth / 100, 2)
        when 'Value' then l.quantity * least(o.worth, l.price) else 0 end as discount
    from jsonb_to_recordset($1) o (number int, kind text, worth numeric, balance numeric, lines jsonb),
      rows from (jsonb_to_recordset(o.lines) as (price numeric, vat numeric, quantity int)) with ordinality l (price, vat, quantity, place))
  select array_agg(discount::numeric(20, 2)::text order by place) as discounts,
    sum(quantity * price)::numeric(20, 2)::text as before, sum(discount)::numeric(20, 2)::text as discounted,
    sum(round((quantity * price - discount) * vat / 100, 2))::numeric(20, 2)::text as vat,
    least(max(balance), sum(quantity * price - discount + round((quantity * price - discount) * vat / 100, 2)))::numeric(20, 2)::text as paid
  from line group by number order by number`;

test("the totals of 10,000 orders equal PostgreSQL's, to the minor unit", async () => {
  const orders = fc.sample(anyOrder, 10_000);
  const query = orders.map(({ lines, discount, balance }, number) => ({
    ...{ number, kind: discount?.type, worth: discount?.value, balance },
    lines: lines.map((line) => ({ price: line.price, vat: line.vatPercentage, quantity: line.quantity })),
  }));
  type Reckoned = { discounts: string[]; before: string; discounted: string; vat: string; paid: string };
  const { rows } = await database.pool.query<Reckoned>(reckoned, [JSON.stringify(query)]);
  expect(rows).toHaveLength(orders.length);
  orders.forEach(({ lines, discount, balance }, n) => {
    const all = lines.map((line, productId) => ({ ...line, productId }));
    const { totals, lines: priced } = priceOrder(all, discount ? [discount] : []);
    const { before, discounted, vat, discounts, paid } = rows[n]!;
    expect(priced.map((line) => line.discountCalculatedAtOrder)).toEqual(discounts);
    expect(totals.agreed).toEqual({ totalBeforeDiscounts: before, totalDiscounts: discounted, totalVat: vat });
    const exclVat = toMinorUnits(before) - toMinorUnits(discounted);
    expect([totals.exclVat, totals.vat, totals.inclVat]).toEqual([
      exclVat,
      toMinorUnits(vat),
      exclVat + toMinorUnits(vat),
    ]);
    expect(exclVat).toBeGreaterThanOrEqual(0n);
    expect(voucherAmount(balance, totals.inclVat)).toBe(toMinorUnits(paid));
  });
  // Some vouchers pay for all, some for a part.
  const parts = orders.filter(({ balance }, n) => rows[n]!.paid === balance).length;
  expect([parts > 0, parts < orders.length]).toEqual([true, true]);
});
