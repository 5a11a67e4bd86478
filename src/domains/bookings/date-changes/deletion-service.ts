import { and, eq, gt, isNotNull, ne, not, notInArray, sql, isNull, or } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { canceled } from '../../../core/reference/statuses.ts';
import { writeInBatches, type Ctx, type WriteCtx } from '../../../database/context.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { releaseAddress } from '../../courses/courses/address-service.ts';
import { matchCourse } from '../../courses/courses/service.ts';
import { deleteInterests } from '../../courses/interests/service.ts';
import { dueOffers, hasWaiting } from '../../courses/seats/loaders.ts';
import { endWaiting } from '../participant-changes/deregistration-service.ts';

const datesOf = (ctx: Ctx, courseId: number) => tenantWhere(ctx, courseDates, eq(courseDates.courseId, courseId));
const isDeleted = isNotNull(courseDates.deletedAt);

/** True if a deletion of the course was interrupted. */
const hasWaitingOfCourse = async (w: WriteCtx, courseId: number) =>
  (await w.tx.$count(courseDates, and(datesOf(w, courseId), hasWaiting))) > 0;

/** Throws if an upcoming date of a course has participants. An offer that ends a second time leaves none. */
async function assertNobodyComes(w: WriteCtx, courseId: number) {
  const { statusId, endsAt, numConfirmed, numOverbooked, numUnconfirmed, numWaiting } = courseDates;
  const isComing = and(not(isDeleted), ne(statusId, canceled), gt(endsAt, currentTime));
  const stays = sql`${numConfirmed} + ${numOverbooked} + ${numUnconfirmed} + ${numWaiting} > ${dueOffers(1)}`;
  if ((await w.tx.$count(courseDates, and(datesOf(w, courseId), isComing, stays))) > 0)
    throw Problem.coded('course_has_participants', 'The course has dates with coming participants');
}

/**
 * Deregisters the next ones who wait on dates of a deleted course, and deletes the dates without participants. Returns
 * whether there were any, and whether others may wait. `exists` is sent to the first call, which throws if somebody
 * comes or if nothing is left to delete.
 */
async function deleteDatesOfCourse(w: WriteCtx, courseId: number, exists?: boolean) {
  if (exists) await assertNobodyComes(w, courseId);
  if (exists === false && !(await hasWaitingOfCourse(w, courseId))) throw Problem.notFound('Course');
  const mayLeaveSome = await endWaiting(w, datesOf(w, courseId));
  const dates = and(datesOf(w, courseId), not(isDeleted));
  const hasParticipants = eq(courseDates.hasParticipants, true);
  const parents = w.tx
    .selectDistinct({ id: courseDates.parentId })
    .from(courseDates)
    .where(and(dates, hasParticipants, isNotNull(courseDates.parentId)));
  const empty = and(dates, eq(courseDates.hasParticipants, false), notInArray(courseDates.id, parents));
  const { rowCount } = await w.tx.update(courseDates).set({ deletedAt: w.now, updatedAt: w.now }).where(empty);
  return { mayLeaveSome, hasDeletedDates: rowCount !== 0 };
}

/** Deletes a course, then its dates without participants, so that nobody books; a second call continues. */
export function deleteCourse(ctx: Ctx, id: number): Promise<number> {
  const course = matchCourse(ctx, id);
  return writeInBatches(ctx, ['catalog', 'dates', 'people', 'money'], async (w, isFirst) => {
    const exists = isFirst ? (await w.tx.$count(courses, course)) > 0 : undefined;
    const { mayLeaveSome, hasDeletedDates } = await deleteDatesOfCourse(w, id, exists);
    if (exists) {
      await w.tx
        .update(courses)
        .set({ deletedAt: w.now, updatedAt: w.now, ...(hasDeletedDates && { relatedItemsUpdatedAt: w.now }) })
        .where(course);
      await releaseAddress(w, id);
      await deleteInterests(w, id);
    }
    return mayLeaveSome ? undefined : id;
  });
}

/** Deletes a date and its children unless somebody has a seat, then deregisters who waits; true if some may be left. */
export async function deleteDates(
  w: WriteCtx,
  { courseId, id }: { courseId: number; id: number },
  isFirst: boolean,
): Promise<boolean> {
  const { parentId, numConfirmed, numOverbooked, numUnconfirmed } = courseDates;
  const notDeleted = isNull(courseDates.deletedAt);
  const withChildren = tenantWhere(w, courseDates, or(eq(courseDates.id, id), eq(parentId, id)));
  if (isFirst) {
    const ofCourse = and(eq(courseDates.id, id), eq(courseDates.courseId, courseId));
    const target = tenantWhere(w, courseDates, ofCourse, or(notDeleted, hasWaiting));
    if ((await w.tx.$count(courseDates, target)) === 0) throw Problem.notFound('Course date');
    const taken = sql`${numConfirmed} + ${numOverbooked} + ${numUnconfirmed} > ${dueOffers()}`;
    if ((await w.tx.$count(courseDates, and(withChildren, notDeleted, taken))) > 0)
      throw Problem.coded('date_has_participants', 'Participants hold seats on this course date');
    await w.tx.update(courseDates).set({ deletedAt: w.now, updatedAt: w.now }).where(and(withChildren, notDeleted));
  }
  return endWaiting(w, withChildren);
}
