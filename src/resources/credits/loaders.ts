import { and, asc, eq, sql } from 'drizzle-orm';
import { orders } from '../../database/tables/orders.ts';
import { batchLoader } from '../../lists/loaders.ts';

export const fetchCreditIds = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: sql<number>`${orders.firstOrderId}`, id: orders.id })
    .from(orders)
    .where(and(keys.match(orders, orders.firstOrderId), eq(orders.kind, 'credit')))
    .orderBy(asc(orders.id)),
);
