import { and, eq, inArray } from 'drizzle-orm';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { orderLineParticipants } from '../../database/tables/participants.ts';
import { sameTenant, tenantWhere } from '../../lists/tenant-scope.ts';
import { hasRest } from '../credits/line-service.ts';
import { creditOrder, findLines } from '../credits/service.ts';

/** Credits what moves of these participants cost more than the order. */
export async function creditDifferences(
  ctx: Ctx,
  tx: Tx,
  now: string,
  orderId: number,
  left: number[],
  reason?: string,
) {
  if (left.length === 0) return [];
  const isOnLine = sameTenant(orderLines, orderLineParticipants, eq(orderLines.id, orderLineParticipants.orderLineId));
  const named = tx
    .select({ id: orderLines.orderId })
    .from(orderLineParticipants)
    .innerJoin(orderLines, isOnLine)
    .where(tenantWhere(ctx, orderLineParticipants, inArray(orderLineParticipants.participantId, left)));
  const ofOrder = and(eq(orders.firstOrderId, orderId), eq(orders.kind, 'difference'), inArray(orders.id, named));
  const found = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(tenantWhere(ctx, orders, ofOrder))
    .orderBy(orders.id);
  const made: number[] = [];
  for (const { id } of found) {
    const lines = await findLines(ctx, tx, id);
    if (lines.some(({ source, rest }) => hasRest(source, rest)))
      made.push((await creditOrder(ctx, tx, now, id, { reason })).id);
  }
  return made;
}
