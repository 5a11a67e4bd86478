import { and, eq, gt, isNotNull, isNull, ne, notInArray, sql } from 'drizzle-orm';
import { canceled } from '../../core/reference/statuses.ts';
import { Problem } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { currentTime } from '../../database/tables/columns.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { endWaiting } from './service.ts';

/**
 * Deletes the dates of a course without participants; returns true if there were any. Throws if an upcoming date has
 * participants. The next ones who wait on others are deregistered; undefined if some may be left.
 */
export async function deleteDatesOfCourse(ctx: Ctx, tx: Tx, now: string, courseId: number) {
  const dates = tenantWhere(ctx, courseDates, eq(courseDates.courseId, courseId), isNull(courseDates.deletedAt));
  const isComing = and(ne(courseDates.statusId, canceled), gt(courseDates.endsAt, currentTime));
  const mayLeaveSome = await endWaiting(ctx, tx, now, dates, sql`not ${isComing}`);
  const hasParticipants = eq(courseDates.hasParticipants, true);
  if ((await tx.$count(courseDates, and(dates, hasParticipants, isComing))) > 0) {
    throw new Problem('invalid', 'The course has dates with coming participants');
  }
  if (mayLeaveSome) return undefined;
  const parents = tx
    .selectDistinct({ id: courseDates.parentId })
    .from(courseDates)
    .where(and(dates, hasParticipants, isNotNull(courseDates.parentId)));
  const empty = and(dates, eq(courseDates.hasParticipants, false), notInArray(courseDates.id, parents));
  const { rowCount } = await tx.update(courseDates).set({ deletedAt: now, updatedAt: now }).where(empty);
  return rowCount !== 0;
}
