import { eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { t } from '../../core/schema/types.ts';
import { participants } from '../../database/tables/participants.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { filter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { fetchParticipants } from './loaders.ts';
import { participantSerializer } from './serializer.ts';

function isOfCustomer(ctx: Ctx, customerId: number) {
  const users = ctx.db
    .select({ id: courseUsers.id })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.customerId, customerId)));
  return sql`${participants.userId} = any(array(${users}))`;
}

export const participantList = defineList({
  table: participants,
  serializer: participantSerializer,
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
    ...filter.dateRange('created_at', participants.createdAt),
    ...filter.dateRange('updated_at', participants.updatedAt),
  },
  fetch: fetchParticipants,
});
