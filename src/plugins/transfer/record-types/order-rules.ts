import { sql, type SQL } from 'drizzle-orm';
import { toMinorUnits } from '../../../core/money.ts';
import { foldText } from '../../../core/text.ts';
import { due, orderTotal } from '../../../domains/orders/payments/loaders.ts';
import { agreedTotals, type AgreedLine } from '../../../domains/orders/orders/price-service.ts';
import type { Fields } from '../record-type.ts';

/** Fields of an order that do not fit together. */
export function findInvalid(fields: Fields): string[] {
  const { order_kind: kind = 'order', credit_applied = '0', first_order_id } = fields;
  const { lines = [], redemptions = [], payments = [] } = fields as Record<string, Fields[] | undefined>;
  const isCredit = kind === 'credit';
  const sign = isCredit ? -1n : 1n;
  const hasSign = ({ amount }: Fields) => toMinorUnits(amount as string) * sign >= 0n;
  const isLine = ({ quantity, credits_line_id, ...line }: Fields) =>
    (quantity as number) * Number(sign) > 0 &&
    (credits_line_id !== undefined) === isCredit &&
    (isCredit || Number(line['vat_rounding'] ?? 0) === 0) &&
    ['order', 'invoice', 'export'].every(
      (stage) => Number(line[`discount_calculated_at_${stage}`] ?? 0) * Number(sign) >= 0,
    );
  const valid = payments.filter(({ reversed_at }) => reversed_at === undefined);
  // A refund may have parts by several methods.
  const named = valid.flatMap(({ reference, amount, method = 'other' }) =>
    reference === undefined ? [] : [{ key: [foldText(reference as string), Number(amount) < 0 && method].join() }],
  );
  const isPaidTooMuch = () => {
    const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals(lines.map(toAgreedLine));
    const total = toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalDiscounts) + toMinorUnits(totalVat);
    const left = total - sumOf(redemptions) + toMinorUnits(credit_applied as string);
    return isCredit && valid.length > 0 && sumOf(valid) < left;
  };
  return [
    ...((first_order_id === undefined) === (kind === 'order') ? [] : ['first_order_id']),
    ...(isCredit || Number(credit_applied) === 0 ? [] : ['credit_applied']),
    ...(hasRepeated(lines, 'product_id') || !lines.every(isLine) ? ['lines'] : []),
    ...(hasRepeated(redemptions, 'voucher_id') || !redemptions.every(hasSign) ? ['redemptions'] : []),
    ...(hasRepeated(named, 'key') || (isCredit && !payments.every(hasSign)) || isPaidTooMuch() ? ['payments'] : []),
  ];
}

/** A paid order of which no payment is known was paid by one. */
export const payPaidOrders = (providerId: number, ids: SQL) => sql`
  insert into payments (provider_id, order_id, amount, paid_at, created_at, updated_at)
  select orders.provider_id, orders.id, ${due}, orders.created_at, orders.created_at, orders.created_at from orders
  where orders.provider_id = ${providerId} and orders.id = any(array(${ids})) and orders.is_paid
    and ${due} * sign(${orderTotal}) > 0
    and not exists (select from payments p where p.provider_id = ${providerId} and p.order_id = orders.id)`;

/** Derives `is_paid` of orders with an amount from the amount due; credits change the amount due of their first order. */
export const updatePaidOrders = (providerId: number, ids: SQL, now: string) => sql`
  with imported as (
    select id, first_order_id from orders where provider_id = ${providerId} and id = any(array(${ids})))
  update orders set is_paid = not is_paid,
    updated_at = case when orders.id in (select id from imported) then orders.updated_at else ${now} end
  where orders.provider_id = ${providerId}
    and orders.id in (select id from imported union select first_order_id from imported)
    and ${orderTotal} <> 0 and is_paid <> (${due} * sign(${orderTotal}) <= 0)`;

const sumOf = (items: Fields[]) => items.reduce((sum, { amount }) => sum + toMinorUnits(amount as string), 0n);

export const hasRepeated = (items: Fields[], name: string) =>
  new Set(items.map((one) => one[name])).size < items.length;

export const toAgreedLine = (fields: Fields): AgreedLine => ({
  quantity: fields['quantity'] as number,
  priceAtOrder: fields['price_at_order_per_item_vat_excluded'] as string,
  discountCalculatedAtOrder: (fields['discount_calculated_at_order'] as string | undefined) ?? '0',
  vatPercentage: (fields['vat_percentage'] as string | undefined) ?? '0',
  vatRounding: (fields['vat_rounding'] as string | undefined) ?? '0',
});
