import { asc, eq, getTableColumns, sql } from 'drizzle-orm';
import { products } from '../../database/tables/courses.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { netSql } from '../credits/loaders.ts';
import { productColumns } from '../products/loaders.ts';
import { courseUserColumns } from '../users/loaders.ts';
import { orderUserFields } from './schema.ts';

export const orderUserColumns = Object.fromEntries(
  orderUserFields.map((name) => [name, courseUserColumns[name]]),
) as Pick<typeof courseUserColumns, (typeof orderUserFields)[number]>;

const isOnLine = sameTenant(
  participants,
  orderLineParticipants,
  eq(participants.id, orderLineParticipants.participantId),
);

export const fetchLineUsers = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: orderLineParticipants.orderLineId,
      invoiceReference: participants.invoiceReference,
      user: orderUserColumns,
    })
    .from(orderLineParticipants)
    .innerJoin(participants, isOnLine)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .where(keys.match(orderLineParticipants, orderLineParticipants.orderLineId))
    .orderBy(asc(participants.id)),
);

const { providerId, id, courseDateId, userId, courseId } = participants;

export const fetchRelations = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: orderLineParticipants.orderLineId, providerId, id, courseDateId, userId, courseId })
    .from(orderLineParticipants)
    .innerJoin(participants, isOnLine)
    .where(keys.match(orderLineParticipants, orderLineParticipants.orderLineId))
    .orderBy(asc(participants.id)),
);

const net = netSql('order_lines');
/** As totals have it: rounded half away from zero for each line. */
const vat = `round((${net}) * order_lines.vat_percentage / 100, 2) + order_lines.vat_rounding`;

export const fetchOrderLines = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(orderLines),
      net: sql<number>`${sql.raw(net)}`,
      vat: sql<number>`${sql.raw(vat)}`,
      gross: sql<number>`${sql.raw(`${net} + ${vat}`)}`,
      ownerId: orderLines.orderId,
      currency: orders.currency,
      product: productColumns,
    })
    .from(orderLines)
    .innerJoin(orders, sameTenant(orders, orderLines, eq(orders.id, orderLines.orderId)))
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(keys.match(orderLines, orderLines.orderId))
    .orderBy(asc(orderLines.id)),
);
