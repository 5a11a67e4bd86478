import { asc, sql } from 'drizzle-orm';
import { orders } from '../../../database/tables/orders.ts';
import { batchLoader } from '../../../lists/loaders.ts';

export const fetchFollowingOrders = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: sql<number>`${orders.firstOrderId}`, id: orders.id, kind: orders.kind })
    .from(orders)
    .where(keys.match(orders, orders.firstOrderId))
    .orderBy(asc(orders.id)),
);
