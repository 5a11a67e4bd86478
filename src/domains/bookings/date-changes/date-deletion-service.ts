import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { dueOffers, hasWaiting } from '../../courses/seats/loaders.ts';
import { endWaiting } from '../participant-changes/deregistration-service.ts';

/**
 * Deletes a date and its children in the first call, which throws if somebody has a seat on one of them; then
 * deregisters the next ones who wait there. Returns true if others may be left.
 */
export async function deleteDates(
  ctx: Ctx,
  tx: Tx,
  now: string,
  { courseId, id }: { courseId: number; id: number },
  isFirst: boolean,
): Promise<boolean> {
  const { parentId, numConfirmed, numOverbooked, numUnconfirmed } = courseDates;
  const notDeleted = isNull(courseDates.deletedAt);
  const withChildren = tenantWhere(ctx, courseDates, or(eq(courseDates.id, id), eq(parentId, id)));
  if (isFirst) {
    const ofCourse = and(eq(courseDates.id, id), eq(courseDates.courseId, courseId));
    const target = tenantWhere(ctx, courseDates, ofCourse, or(notDeleted, hasWaiting));
    if ((await tx.$count(courseDates, target)) === 0) throw Problem.notFound('Course date');
    const taken = sql`${numConfirmed} + ${numOverbooked} + ${numUnconfirmed} > ${dueOffers()}`;
    if ((await tx.$count(courseDates, and(withChildren, notDeleted, taken))) > 0)
      throw Problem.coded('date_has_participants', 'Participants hold seats on this course date');
    await tx.update(courseDates).set({ deletedAt: now, updatedAt: now }).where(and(withChildren, notDeleted));
  }
  return endWaiting(ctx, tx, now, withChildren);
}
