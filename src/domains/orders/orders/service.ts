import { eq, isNull, sql } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { bodyColumns } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { addPayment, findDebt, isPaidAtOtherTime, reversePayments, setPaid } from '../payments/service.ts';
import { OrderChange } from './fields.ts';
import { orderList, type OrderQuery } from './list.ts';

/** One order, exported or not. */
export const getOrder = async (ctx: Ctx, id: number, query: Static<typeof OrderQuery> = {}, isAfterWrite = false) =>
  Problem.assertFound(await orderList.byId(ctx, id, query, { isAfterWrite }), 'Order');

const toColumns = bodyColumns(orders, OrderChange.properties);

/** The invoice of an exported order is written, so its address and reference stay. */
export async function updateOrder(ctx: Ctx, id: number, body: OrderChange) {
  const order = tenantWhere(ctx, orders, eq(orders.id, id));
  if (body.paid_at && !body.is_paid) throw Problem.invalidFields({ rules: { paid_at: 'paid_at_without_payment' } });
  await ctx.write(['money', 'people'], async (w) => {
    const [before] = await w.tx.select({ exportedAt: orders.exportedAt }).from(orders).where(order);
    if (before === undefined) throw Problem.notFound('Order');
    const changed = await w.tx.updateChanged(orders, order, toColumns(body), w.now);
    if (changed > 0 && before.exportedAt !== null) throw exported();
    const isPaidChanged = await changePaid(w, id, body);
    if (changed === 0 && !isPaidChanged) w.tx.rollBack();
  });
  return getOrder(ctx, id, {}, true);
}

/** Returns false if the order is paid, or not, already; throws where it is and would have another time. */
async function changePaid(w: WriteCtx, id: number, { is_paid, paid_at }: OrderChange) {
  const debt = await findDebt(w, id);
  if (debt.isPaid && paid_at && (await isPaidAtOtherTime(w, id, paid_at)))
    throw Problem.coded('already_paid', 'The order is paid already', { notValid: ['paid_at'] });
  if (is_paid === undefined || is_paid === debt.isPaid) return false;
  if (debt.total === 0n) await setPaid(w, debt, is_paid);
  else if (is_paid) await addPayment(w, id, debt.due, { paidAt: paid_at ?? undefined });
  else {
    await reversePayments(w, id);
    // Vouchers or credits leave nothing due.
    if ((await findDebt(w, id)).isPaid) throw Problem.invalidFields({ rules: { is_paid: 'no_payment_to_reverse' } });
  }
  return true;
}

const exported = () =>
  Problem.coded('order_exported', 'The order was exported: its reference and invoice address stay');

/** Marks an order as exported and fixes the prices of its lines; idempotent. A dry run returns it as it would be. */
export async function exportOrder(ctx: Ctx, id: number, isDryRun = false) {
  const order = await getOrder(ctx, id);
  if (order.exported_at !== null) return order;
  const preview = await ctx.write(['money'], async ({ tx, now }) => {
    const exported = await tx
      .update(orders)
      .set({ exportedAt: now, updatedAt: now })
      .where(tenantWhere(ctx, orders, eq(orders.id, id), isNull(orders.exportedAt)))
      .returning({ id: orders.id });
    if (exported.length === 0) {
      tx.rollBack();
      return undefined;
    }
    await tx
      .update(orderLines)
      .set({ ...fixedPrices, updatedAt: now })
      .where(tenantWhere(ctx, orderLines, eq(orderLines.orderId, id)));
    return isDryRun ? tx.rollBack(await getOrder({ ...ctx, db: tx }, id, {}, true)) : undefined;
  });
  return preview ?? getOrder(ctx, id, {}, true);
}

const { priceAtOrder, discountPercentAtOrder, discountCalculatedAtOrder } = orderLines;

/** Fixes prices and discounts that were not fixed before. */
const fixedPrices = {
  priceAtInvoice: sql`coalesce(${orderLines.priceAtInvoice}, ${priceAtOrder})`,
  discountPercentAtInvoice: sql`coalesce(${orderLines.discountPercentAtInvoice}, ${discountPercentAtOrder})`,
  discountCalculatedAtInvoice: sql`coalesce(${orderLines.discountCalculatedAtInvoice}, ${discountCalculatedAtOrder})`,
  priceAtExport: sql`coalesce(${orderLines.priceAtExport}, ${priceAtOrder})`,
  discountPercentAtExport: sql`coalesce(${orderLines.discountPercentAtExport}, ${discountPercentAtOrder})`,
  discountCalculatedAtExport: sql`coalesce(${orderLines.discountCalculatedAtExport}, ${discountCalculatedAtOrder})`,
};
