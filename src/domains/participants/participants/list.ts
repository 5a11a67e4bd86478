import { eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { fetchParticipants } from './loaders.ts';
import { paidStates } from './schema.ts';
import { participantStatusTitles } from '../../../core/reference/participant-statuses.ts';
import { participantSerializer } from './serializer.ts';

function isOfCustomer(ctx: Ctx, customerId: number) {
  const users = ctx.db
    .select({ id: courseUsers.id })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.customerId, customerId)));
  return sql`${participants.userId} = any(array(${users}))`;
}

function isOfOrder(ctx: Ctx, orderId: number) {
  const booked = ctx.db
    .select({ id: bookings.id })
    .from(bookings)
    .where(tenantWhere(ctx, bookings, eq(bookings.orderId, orderId)));
  return sql`${participants.bookingId} = any(array(${booked}))`;
}

export const participantList = defineList({
  table: participants,
  serializer: participantSerializer,
  sorting: {},
  spreadsheet: { brief: ['coursedate.location', 'user.customer'] },
  filters: {
    course_id: filter.plain({ ...t.Id, description: 'Only participants of this course; all unless sent' }, (id) =>
      eq(participants.courseId, id),
    ),
    coursedate_id: filter.selective(
      { ...t.Id, description: 'Only participants of this course date; all unless sent' },
      (id) => eq(participants.courseDateId, id),
    ),
    customer_id: filter.plain(
      { ...t.Id, description: 'Only participants whose course user belongs to this customer; all unless sent' },
      (id, ctx) => isOfCustomer(ctx, id),
    ),
    user_id: filter.selective(
      { ...t.Id, description: 'Only participations of this course user; all unless sent' },
      (id) => eq(participants.userId, id),
    ),
    order_id: filter.selective(
      { ...t.Id, description: 'Only participants of this order; all unless sent' },
      (id, ctx) => isOfOrder(ctx, id),
    ),
    booking_id: filter.selective({ ...t.Id, description: 'Only participants of this booking; all unless sent' }, (id) =>
      eq(participants.bookingId, id),
    ),
    status_id: filter.valueList(
      codes.Code('ParticipantStatusId', participantStatusTitles),
      'Only participants of these statuses; all unless sent',
      participants.statusId,
    ),
    paid_id: filter.indexed(
      {
        ...codes.Code('PaymentStatusId', paidStates),
        description: 'Only participants who are paid (1) or not (3); all unless sent',
      },
      { column: participants.paidId },
      (id) => eq(participants.paidId, id),
    ),
    q: filter.search(participants, {
      related: { table: courseUsers, by: participants.userId },
      description: 'the first name, last name or e-mail',
    }),
    ...filter.timestamps(participants),
  },
  fetch: fetchParticipants,
});
