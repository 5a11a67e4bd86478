import { and, eq, getTableColumns, or, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { toMinorUnits, type Minor } from '../../core/money.ts';
import { orders } from '../../database/tables/orders.ts';
import { payments } from '../../database/tables/payments.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';

const { totalBeforeDiscounts, totalDiscounts, totalVat } = orders;
export const orderTotal = sql<string>`(${totalBeforeDiscounts} - ${totalDiscounts} + ${totalVat})`;

/** The sum of the vouchers that pay the row of `orders`; negative for a credit, which returns it. */
export const paidByVouchers = sql<string>`(
  select coalesce(sum(r.amount), 0.00) from voucher_redemptions r
  where r.provider_id = orders.provider_id and r.order_id = orders.id)`;

const paidByPayments = sql<string>`(
  select coalesce(sum(p.amount), 0) from payments p
  where p.provider_id = orders.provider_id and p.order_id = orders.id and p.reversed_at is null)`;

/** True for an order of which money or vouchers paid a part. */
export const isPartlyPaid = sql<boolean>`(${paidByPayments} <> 0 or ${paidByVouchers} <> 0)`;

/**
 * The outstanding balance of the row of `orders`; negative for what the school owes. Of a credit this is the part that
 * neither lowers the balance of the first order nor returns to a voucher.
 */
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

const owner = alias(orders, 'owner');
const isCreditOfOwner = and(eq(orders.firstOrderId, owner.id), eq(orders.kind, 'credit'));
const ofOwner = sql`filter (where ${orders.id} = ${owner.id})`;

/** The sums of orders, each with its credits; of a credit its own. */
export const fetchBalances = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: owner.id,
      ordered: sql`sum(${orderTotal}) ${ofOwner}`.mapWith(toMinorUnits),
      total: sql`sum(${orderTotal})`.mapWith(toMinorUnits),
      byVouchers: sql`sum(${paidByVouchers})`.mapWith(toMinorUnits),
      due: sql`sum(${due})`.mapWith(toMinorUnits),
      applied: sql`max(${orders.creditApplied}) filter (where ${owner.kind} = 'credit')`.mapWith(
        (amount: string): Minor | null => toMinorUnits(amount),
      ),
    })
    .from(owner)
    .innerJoin(orders, sameTenant(orders, owner, or(eq(orders.id, owner.id), isCreditOfOwner)))
    .where(keys.match(owner, owner.id))
    .groupBy(owner.providerId, owner.id),
);
