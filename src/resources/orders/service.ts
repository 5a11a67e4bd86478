import { eq, isNull, sql } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { orderList, type OrderQuery } from './list.ts';

/** One order, exported or not. */
export const getOrder = async (ctx: Ctx, id: number, query: Static<typeof OrderQuery> = {}, isAfterWrite = false) =>
  Problem.assertFound(await orderList.byId(ctx, id, query, { isAfterWrite }), 'Order');

/** Marks an order as exported and fixes the prices of its lines; idempotent. A dry run returns it as it would be. */
export async function exportOrder(ctx: Ctx, id: number, isDryRun = false) {
  const order = await getOrder(ctx, id);
  if (order.exported_at !== null) return order;
  const preview = await ctx.write(['money'], async (tx, now) => {
    const exported = await tx
      .update(orders)
      .set({ exportedAt: now, updatedAt: now })
      .where(tenantWhere(ctx, orders, eq(orders.id, id), isNull(orders.exportedAt)))
      .returning({ id: orders.id });
    if (exported.length === 0) {
      tx.rollbackNoChange();
      return undefined;
    }
    await tx
      .update(orderLines)
      .set({ ...fixedPrices, updatedAt: now })
      .where(tenantWhere(ctx, orderLines, eq(orderLines.orderId, id)));
    return isDryRun ? tx.rollbackNoChange(await getOrder({ ...ctx, db: tx }, id, {}, true)) : undefined;
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
