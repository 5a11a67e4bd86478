import { and, eq, getTableColumns, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { inOrder } from '../../schema/validator.ts';
import { mergedProperties } from '../../schema/custom-properties.ts';
import { invalidFields, notFound, Problem } from '../../core/errors.ts';
import { mapConstraintErrors } from '../../core/constraint-errors.ts';
import { zoneFaults } from '../../database/time-zones.ts';
import { recordAffected } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { insert, prepareInsert } from '../../database/prepared-insert.ts';
import { realTime } from '../../database/tables/columns.ts';
import { courseDateInstructors, courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { instructors, locations, places } from '../../database/tables/places.ts';
import { allBelongToTenant, tenantWhere, ownScope, inScope, type TenantScope } from '../../lists/tenant-scope.ts';
import { canceled } from '../../reference/statuses.ts';
import { isPublicCourse } from '../courses/serializer.ts';
import {
  addGatherings,
  gatheringFaults,
  updateGatherings,
  readGatherings,
  replaceGatherings,
} from './gathering-service.ts';
import { asksForPartners, getPartnerScope } from '../schools/partner-service.ts';
import type { PartnerQuery } from '../schools/partner-schema.ts';
import { findPlaceForBody } from '../locations/place-service.ts';
import { promoteWaitingLists } from '../seats/service.ts';
import { assertOwnTags } from '../tags/service.ts';
import { CourseDateBody, disorder, type CourseDateChange, type Days } from './body-schema.ts';
import { batchCourseDateList, courseDateList, datesOfCourseList, nextCourseDateList } from './list.ts';
import type { CourseDateRow, CourseDateWritten } from './schema.ts';

type CourseDateQuery = Parameters<typeof courseDateList.page>[1];
type BatchQuery = Parameters<typeof batchCourseDateList.page>[1];
type ItemQuery = NonNullable<Parameters<typeof courseDateList.byId>[2]>;
type CalendarQuery = Omit<Parameters<typeof nextCourseDateList.page>[1], 'since_id' | 'include_deleted'>;

/** A page of course dates, always counted; with partners included every item carries its `provider`. */
export async function listCourseDates(ctx: Ctx, query: CourseDateQuery) {
  const { query: requested, scope } = await querying(ctx, query);
  return courseDateList.page(ctx, requested, { scope, withTotal: true });
}

/** A page of the dates of one course, the provider's own or a partner's that is in reach. */
export async function listDatesOfCourse(ctx: Ctx, courseId: number, query: CourseDateQuery) {
  const { query: requested, scope } = await querying(ctx, query);
  await assertVisibleCourse(ctx, courseId, query, scope);
  const courseIds = (query.course_id ?? [courseId]).filter((id) => id === courseId);
  return datesOfCourseList.page(ctx, { ...requested, course_id: courseIds }, { scope });
}

/** A page of the dates of several courses; unknown ones have none. */
export async function listCourseDatesOfCourses(ctx: Ctx, query: BatchQuery) {
  const { query: requested, scope } = await querying(ctx, query);
  return batchCourseDateList.page(ctx, requested, { scope });
}

export async function getCourseDate(ctx: Ctx, courseId: number, id: number, query: ItemQuery) {
  await assertVisibleCourse(ctx, courseId, query);
  const date = await courseDateList.byId(ctx, id, query);
  if (date?.course_id !== courseId) throw notFound('Course date');
  return date;
}

export async function listNextCourseDates(ctx: Ctx, query: CalendarQuery) {
  const { query: requested, scope } = await querying(ctx, query);
  return nextCourseDateList.page(ctx, requested, { scope });
}

async function querying<Q extends PartnerQuery & { tag_ids?: number[]; include?: string[] }>(ctx: Ctx, query: Q) {
  const scope = await getPartnerScope(ctx, query);
  await assertOwnTags(ctx, query.tag_ids);
  const requested = asksForPartners(query) ? { ...query, include: [...(query.include ?? []), 'provider'] } : query;
  return { query: requested, scope };
}

async function assertVisibleCourse(
  ctx: Ctx,
  id: number,
  { include_deleted }: ItemQuery,
  scope: TenantScope = ownScope,
) {
  const seen = and(
    inScope(ctx, scope, courses.providerId, isPublicCourse),
    eq(courses.id, id),
    include_deleted ? undefined : isNull(courses.deletedAt),
  );
  if ((await ctx.db.$count(courses, seen)) === 0) throw notFound('Course');
}

const insertCourseDate = prepareInsert(courseDates);

/** Makes a date of one of the provider's own courses, with the capacities of its location. */
export async function createCourseDate(ctx: Ctx, courseId: number, body: CourseDateBody): Promise<CourseDateWritten> {
  const { providerId, settings } = ctx;
  const days = { startAt: body.start_at, endAt: body.end_at, deadlineAt: body.deadline_at ?? body.start_at };
  const wrong = await courseDateFaults(ctx, body);
  const gatherings = readGatherings(body.gatherings);
  const work = ctx.write(async (tx, now) => {
    const course = await findCourse(ctx, tx, courseId);
    await assertNoErrors(ctx, tx, { courseId, id: null, body, days, wrong });
    const location = await findLocation(ctx, tx, body.location_id);
    const zone = body.timezone ?? settings.timezone;
    const row = insertCourseDate({
      ...toColumns(body),
      ...(await findPlaceForBody(tx, body)),
      ...days,
      ...{ providerId, courseId, zone, createdAt: now, updatedAt: now },
      teachingLanguageId: body.teaching_language ?? course.teachingLanguageId,
      capacityMax: body.capacity_max ?? location?.capacityMax,
      capacityMin: body.capacity_min ?? location?.capacityMin,
      capacityOverbook: body.capacity_overbook ?? location?.capacityOverbook,
      capacityWait: body.capacity_wait ?? location?.capacityWait,
      customProperties: mergedProperties(null, body.custom_properties),
    });
    const id = recordAffected(tx, await insert(tx, row));
    await addInstructors(ctx, tx, id, body.instructors ?? []);
    await addGatherings(ctx, tx, now, { id, zone }, gatherings);
    await stampCourse(ctx, tx, now, courseId);
    return { coursedate_id: id, course_id: courseId };
  });
  return mapConstraintErrors(rules, work);
}

/** What is not sent keeps its value, what is sent empty is cleared; the start and the end cannot be. */
export async function updateCourseDate(
  ctx: Ctx,
  courseId: number,
  id: number,
  body: CourseDateChange,
): Promise<CourseDateWritten> {
  const { start_at, end_at, timezone } = body;
  const wrong = await courseDateFaults(ctx, body);
  const gatherings = readGatherings(body.gatherings);
  const work = ctx.write(async (tx, now) => {
    const course = await findCourse(ctx, tx, courseId);
    const requested = tenantWhere(
      ctx,
      courseDates,
      eq(courseDates.id, id),
      eq(courseDates.courseId, courseId),
      notDeleted,
    );
    const isOver = sql<boolean>`${courseDates.endsAt} <= ${realTime}`;
    const [stored] = await tx
      .select({ ...getTableColumns(courseDates), isOver })
      .from(courseDates)
      .where(requested);
    if (stored === undefined) throw notFound('Course date');
    const startAt = start_at ?? stored.startAt;
    const deadline = stored.deadlineAt === stored.startAt ? startAt : stored.deadlineAt;
    const days = { startAt, endAt: end_at ?? stored.endAt, deadlineAt: orElse(body.deadline_at, startAt) ?? deadline };
    await assertNoErrors(ctx, tx, { courseId, id, body, days, wrong });

    const [changed] = await tx
      .update(courseDates)
      .set({
        ...toColumns(body),
        ...(await findPlaceForBody(tx, body, stored.placeIsSought)),
        ...days,
        zone: orElse(timezone, ctx.settings.timezone),
        teachingLanguageId: orElse(body.teaching_language, course.teachingLanguageId),
        capacityMax: orElse(body.capacity_max, 0),
        capacityMin: orElse(body.capacity_min, 0),
        capacityOverbook: orElse(body.capacity_overbook, 0),
        capacityWait: orElse(body.capacity_wait, 0),
        customProperties: mergedProperties(stored.customProperties, body.custom_properties),
        updatedAt: now,
      })
      .where(requested)
      .returning();
    const date = changed!;
    if (body.instructors !== undefined) {
      await tx
        .delete(courseDateInstructors)
        .where(tenantWhere(ctx, courseDateInstructors, eq(courseDateInstructors.courseDateId, id)));
      await addInstructors(ctx, tx, id, body.instructors ?? []);
    }
    if (date.zone !== stored.zone) await updateGatherings(ctx, tx, now, date);
    if (body.gatherings !== undefined) await replaceGatherings(ctx, tx, now, date, gatherings);
    await stampCourse(ctx, tx, now, courseId);
    if (stored.isOver || addsSeats(stored, date)) await promoteWaitingLists(ctx, tx, now, [id]);
    return { coursedate_id: id, course_id: courseId };
  });
  return mapConstraintErrors(rules, work);
}

/** Deletes a date and its children, unless somebody has a seat on one of them. */
export const deleteCourseDate = (ctx: Ctx, courseId: number, id: number): Promise<CourseDateWritten> =>
  ctx.write(async (tx, now) => {
    await findCourse(ctx, tx, courseId);
    const requested = tenantWhere(
      ctx,
      courseDates,
      eq(courseDates.id, id),
      eq(courseDates.courseId, courseId),
      notDeleted,
    );
    if ((await tx.$count(courseDates, requested)) === 0) throw notFound('Course date');
    const going = tenantWhere(ctx, courseDates, or(eq(courseDates.id, id), eq(courseDates.parentId, id)), notDeleted);
    const { numConfirmed, numOverbooked, numUnconfirmed } = courseDates;
    const taken = and(going, sql`${numConfirmed} + ${numOverbooked} + ${numUnconfirmed} > 0`);
    if ((await tx.$count(courseDates, taken)) > 0)
      throw new Problem('invalid', 'Participants hold seats on this course date');
    await tx.update(courseDates).set({ deletedAt: now, updatedAt: now }).where(going);
    await stampCourse(ctx, tx, now, courseId);
    return { coursedate_id: id, course_id: courseId };
  });

type Seats = Pick<CourseDateRow, 'statusId' | 'capacityMax' | 'capacityOverbook'>;

/** Whether a change of a date may give somebody a place who had none; a capacity of 0 is no limit. */
export function addsSeats(before: Seats, after: Seats): boolean {
  const limit = ({ capacityMax }: Seats) => (capacityMax === 0 ? Infinity : capacityMax);
  return (
    limit(after) > limit(before) ||
    after.capacityOverbook > before.capacityOverbook ||
    (before.statusId === canceled && after.statusId !== canceled)
  );
}

const notDeleted = isNull(courseDates.deletedAt);

/** With the days in order only the times of day can let a date end before it starts; the database knows its zone. */
const rules = { course_dates_order: () => invalidFields({ notValid: ['end_time_at'] }) };

/** Faults of a body that need no look at the provider's data; what its schema refuses is left to that. */
export async function courseDateFaults(ctx: Ctx, input: { gatherings?: unknown; timezone?: unknown }) {
  const { missing, notValid } = gatheringFaults(input.gatherings);
  return { missing, notValid: [...notValid, ...(await zoneFaults(ctx, input.timezone))] };
}

async function findCourse(ctx: Ctx, tx: Tx, id: number) {
  const [course] = await tx
    .select({ teachingLanguageId: courses.teachingLanguageId })
    .from(courses)
    .where(tenantWhere(ctx, courses, eq(courses.id, id), isNull(courses.deletedAt)));
  if (course === undefined) throw notFound('Course');
  return course;
}

async function findLocation(ctx: Ctx, tx: Tx, id: number | undefined) {
  if (id === undefined) return undefined;
  const [location] = await tx
    .select()
    .from(locations)
    .where(tenantWhere(ctx, locations, eq(locations.id, id)));
  return location;
}

/** The id is null for a new date. */
type Written = {
  courseId: number;
  id: number | null;
  body: CourseDateChange;
  days: Days;
  wrong: Awaited<ReturnType<typeof courseDateFaults>>;
};

/** Names all fields at fault, also those that refer to what is not the provider's own or cannot be a parent. */
async function assertNoErrors(ctx: Ctx, tx: Tx, { courseId, id, body, days, wrong }: Written) {
  const { place_id, location_id, instructors: taughtBy, parent_id } = body;
  const isPlace = async (placeId: number) => (await tx.$count(places, eq(places.id, placeId))) > 0;
  const holds: Record<string, boolean> = {
    place_id: typeof place_id !== 'number' || (await isPlace(place_id)),
    location_id: await allBelongToTenant(ctx, tx, locations, [location_id ?? []].flat()),
    instructors: await allBelongToTenant(ctx, tx, instructors, taughtBy ?? []),
    parent_id: typeof parent_id !== 'number' || (await canBeParent(ctx, tx, courseId, id, parent_id)),
  };
  const unknown = Object.keys(holds).filter((name) => !holds[name]);
  const notValid = [...wrong.notValid, ...disorder(days), ...unknown];
  if (notValid.length + wrong.missing.length > 0)
    throw inOrder(Object.keys(CourseDateBody.properties), { ...wrong, notValid });
}

/** A parent is another date of the same course; neither is it a child itself, nor has its child children. */
async function canBeParent(ctx: Ctx, tx: Tx, courseId: number, id: number | null, parentId: number) {
  const date = (...conditions: (SQL | undefined)[]) => tenantWhere(ctx, courseDates, notDeleted, ...conditions);
  const isDate = eq(courseDates.id, parentId);
  const parent = date(isDate, eq(courseDates.courseId, courseId), isNull(courseDates.parentId));
  if (parentId === id || (await tx.$count(courseDates, parent)) === 0) return false;
  return id === null || (await tx.$count(courseDates, date(eq(courseDates.parentId, id)))) === 0;
}

async function addInstructors(ctx: Ctx, tx: Tx, courseDateId: number, ids: number[]) {
  const { providerId } = ctx;
  const rows = [...new Set(ids)].map((instructorId) => ({ providerId, courseDateId, instructorId }));
  if (rows.length > 0) await tx.insert(courseDateInstructors).values(rows);
}

/** The course shows when one of its dates changed last. */
const stampCourse = (ctx: Ctx, tx: Tx, now: string, courseId: number) =>
  tx
    .update(courses)
    .set({ updatedAt: now, relatedItemsUpdatedAt: now })
    .where(tenantWhere(ctx, courses, eq(courses.id, courseId)));

const orElse = <T>(input: T | null | undefined, value: T) => (input === null ? value : input);

const toColumns = (body: CourseDateChange) => ({
  startTimeAt: body.start_time_at,
  endTimeAt: body.end_time_at,
  timezone: body.timezone,
  visibleWhenPassedDeadline: body.visible_when_passed_deadline,
  locationId: body.location_id,
  statusId: body.status_id,
  reference: body.reference,
  isVisible: body.is_visible,
  isVirtual: body.is_virtual,
  eventUrl: body.event_url,
  externalBookingUrl: body.external_booking_url,
  parentId: body.parent_id,
  triggerValue: body.trigger_value,
  title: body.title,
});
