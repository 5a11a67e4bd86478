import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { toMinorUnits, type Minor } from '../../../core/money.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { orders, payments } from '../../../database/tables/orders.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';

const { totalBeforeDiscounts, totalDiscounts, totalVat } = orders;
export const orderTotal = sql<string>`(${totalBeforeDiscounts} - ${totalDiscounts} + ${totalVat})`;

/** True if the participant who is the user pays the order of the booking. */
export const paysOwnPlaceSql = ({ order, booking, user }: Record<'order' | 'booking' | 'user', string>) =>
  `${order}.customer_id is null and coalesce(
      ${caseFoldedSql(`${booking}.booker_email`)} = ${caseFoldedSql(`${user}.email`)}, ${booking}.booker_email is null)`;

/** The sum of the vouchers that pay the row of `orders`; negative for a credit, which returns it. */
export const paidByVouchers = sql<string>`(
  select coalesce(sum(r.amount), 0.00) from voucher_redemptions r
  where r.provider_id = orders.provider_id and r.order_id = orders.id)`;

const paidByPayments = sql<string>`(
  select coalesce(sum(p.amount), 0) from payments p
  where p.provider_id = orders.provider_id and p.order_id = orders.id and p.reversed_at is null)`;

/** True for an order of which money or vouchers paid a part. */
export const isPartlyPaid = sql<boolean>`(${paidByPayments} <> 0 or ${paidByVouchers} <> 0)`;

/** The balance of the row of `orders`, negative for what the school owes; of a credit, what it does not settle. */
export const due = sql<string>`(
  orders.total_before_discounts - orders.total_discounts + orders.total_vat - ${paidByVouchers} - ${paidByPayments}
  + case when orders.kind = 'credit' then orders.credit_applied else -(
    select coalesce(sum(c.credit_applied), 0) from orders c
    where c.provider_id = orders.provider_id and c.first_order_id = orders.id
  ) end)`;

export const fetchPayments = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...getTableColumns(payments), currency: orders.currency })
    .from(payments)
    .innerJoin(orders, sameTenant(orders, payments, eq(orders.id, payments.orderId)))
    .where(keys.match(payments, payments.id)),
);

const sums = {
  total: sql`sum(${orderTotal})`.mapWith(toMinorUnits),
  byVouchers: sql`sum(${paidByVouchers})`.mapWith(toMinorUnits),
  due: sql`sum(${due})`.mapWith(toMinorUnits),
  applied: sql`sum(${orders.creditApplied}) filter (where ${orders.kind} = 'credit')`.mapWith(
    (amount: string): Minor | null => toMinorUnits(amount),
  ),
};

/** The sums of each order; `applied` is null but for a credit. */
export const fetchSums = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: orders.id, ...sums })
    .from(orders)
    .where(keys.match(orders, orders.id))
    .groupBy(orders.providerId, orders.id),
);

/** The sums of the credits of each order. */
export const fetchCreditSums = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: sql<number>`${orders.firstOrderId}`.mapWith(Number), ...sums })
    .from(orders)
    .where(and(keys.match(orders, orders.firstOrderId), eq(orders.kind, 'credit')))
    .groupBy(orders.providerId, orders.firstOrderId),
);
