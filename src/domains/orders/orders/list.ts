import { and, eq, isNull, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { t } from '../../../core/schema/types.ts';
import { products } from '../../../database/tables/courses.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bookings, orderLines, orders } from '../../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../../database/tables/participants.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { hasUncredited, owesNothing, fetchOrders } from './loaders.ts';
import { orderSerializer } from './serializer.ts';

/** Orders with a line that names such participants. Arrays keep it to the indexes where many match. */
function namingParticipants(ctx: Ctx, condition: SQL) {
  const found = ctx.db
    .select({ id: participants.id })
    .from(participants)
    .where(tenantWhere(ctx, participants, condition));
  const { orderLineId, participantId } = orderLineParticipants;
  const named = ctx.db
    .select({ orderLineId })
    .from(orderLineParticipants)
    .where(tenantWhere(ctx, orderLineParticipants, isAmong(participantId, found)));
  return ctx.db
    .select({ orderId: orderLines.orderId })
    .from(orderLines)
    .where(tenantWhere(ctx, orderLines, isAmong(orderLines.id, named)));
}

const isAmong = (id: PgColumn, found: SQLWrapper) => sql`${id} = any(array(${found}))`;

/** Orders with a line for a product or a participant of the course. */
function isOfCourse(ctx: Ctx, courseId: number) {
  const selling = ctx.db
    .select({ orderId: orderLines.orderId })
    .from(orderLines)
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(and(tenantWhere(ctx, orderLines), tenantWhere(ctx, products, eq(products.courseId, courseId))));
  const paying = namingParticipants(ctx, eq(participants.courseId, courseId));
  return isAmong(orders.id, selling.union(paying));
}

/** Orders of the bookings of the participants that are on the date, and those whose lines name them. */
function isOfDate(ctx: Ctx, courseDateId: number) {
  const isOnDate = eq(participants.courseDateId, courseDateId);
  const booked = ctx.db
    .select({ orderId: bookings.orderId })
    .from(participants)
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(and(tenantWhere(ctx, participants, isOnDate), tenantWhere(ctx, bookings)));
  return isAmong(orders.id, booked.union(namingParticipants(ctx, isOnDate)));
}

const userData = Type.Boolean({ default: false, description: 'true: each line has its course users in `users`' });

export const orderList = defineList({
  table: orders,
  serializer: orderSerializer,
  sorting: {},
  spreadsheet: { rows: 'lines' },
  filters: {
    course_id: filter.plain(
      { ...t.Id, description: 'Only orders with a line of this course; all unless sent' },
      (id, ctx) => isOfCourse(ctx, id),
    ),
    coursedate_id: filter.selective(
      { ...t.Id, description: 'Only orders with a participant on this course date; all unless sent' },
      (id, ctx) => isOfDate(ctx, id),
    ),
    customer_id: filter.indexed(
      { ...t.Id, description: 'Only orders of this customer; all unless sent' },
      { column: orders.customerId },
      (id) => eq(orders.customerId, id),
    ),
    campaign_id: filter.indexed(
      { ...t.Id, description: 'Only orders with this campaign; all unless sent' },
      { column: orders.campaignId },
      (id) => eq(orders.campaignId, id),
    ),
    is_paid: filter.indexed(
      Type.Boolean({ description: 'true: only paid orders; false: only others; all unless sent' }),
      { column: orders.isPaid },
      (isPaid) => eq(orders.isPaid, isPaid),
    ),
    q: filter.search(orders, {
      related: { table: customers, by: orders.customerId },
      withId: true,
      description: 'the reference, booker or customer; or it is the id',
    }),
    ...filter.timestamps(orders),
    ...filter.dateRange('exported_at', orders.exportedAt),
    exported: filter.constant(
      Type.Boolean({
        default: false,
        description: 'true: with exported orders; implied by uncredited and a filter on exported_at',
      }),
      (exported, _ctx, { exported_at_min, exported_at_max, uncredited }) =>
        exported || uncredited || exported_at_min !== undefined || exported_at_max !== undefined
          ? undefined
          : isNull(orders.exportedAt),
    ),
    uncredited: filter.selective(
      Type.Boolean({
        default: false,
        description: 'true: only orders, exported or not, with something in `invoicing.uncredited`',
      }),
      (isWanted, ctx) =>
        isWanted
          ? and(isAmong(orders.id, namingParticipants(ctx, sql.raw(owesNothing))), sql.raw(hasUncredited))
          : undefined,
      (isWanted) => isWanted,
    ),
    user_data: filter.parameter(userData),
  },
  fetch: fetchOrders,
});

/** GET /v2/orders/:id: the parameters of the list that do not filter. */
export const OrderQuery = Type.Unsafe<Static<typeof orderList.ItemQuery> & { user_data?: boolean }>(
  Type.Object({ user_data: Type.Optional(userData), ...orderList.itemParameters }),
);
