import { eq, getTableColumns, isNull, ne, sql, type SQL } from 'drizzle-orm';
import { writeInBatches, type Ctx, type WriteCtx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { findInvalidTimezone } from '../../../database/time-zones.ts';
import type { Tx } from '../../../database/client.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import * as tables from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { instructors, locations } from '../../../database/tables/places.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { prepareUpdate } from './cancellation-service.ts';
import { deleteDates } from './deletion-service.ts';
import {
  addGatherings,
  haveOwnReferences,
  needsNewGatherings,
  updateGatherings,
} from '../../courses/gatherings/service.ts';
import { gatheringErrors } from '../../courses/gatherings/input-service.ts';
import { replaceInstructors } from '../../courses/instructors/service.ts';
import { findPlaceForBody } from '../../courses/places/service.ts';
import { CourseDateBody, type CourseDateChange } from '../../courses/coursedates/fields.ts';
import { findBrokenOrder, type Days } from './body-schema.ts';
import type { CourseDateWritten } from './schema.ts';

const { toColumns, insert, references } = bodyWriter(tables.courseDates, CourseDateBody, {
  instructors: instructors.id,
  gatherings: haveOwnReferences,
  parent_id: (parentId, { ctx, reader, params = {} }) =>
    canBeParent(ctx, reader, params['course_id']!, params['id'], parentId),
});
export const courseDateReferences = references;

/** Creates a date of an own course, by default with the capacities of its location. */
export async function createCourseDate(ctx: Ctx, courseId: number, body: CourseDateBody): Promise<CourseDateWritten> {
  const { providerId, settings } = ctx;
  const days = { startAt: body.start_at, endAt: body.end_at, deadlineAt: body.deadline_at ?? body.start_at };
  const errors = await courseDateErrors(ctx, body);
  const work = ctx.write(['catalog', 'dates'], async (w) => {
    const course = await findCourse(w, courseId);
    const child = { parentId: body.parent_id ?? null, triggerValue: body.trigger_value ?? null };
    await assertNoErrors(w, { courseId, id: null, body, days, child, errors });
    const location = await findLocation(w, body.location_id);
    const zone = body.timezone ?? settings.timezone;
    const id = await insert(w.tx, {
      ...toColumns(body),
      ...(await findPlaceForBody(w.tx, body)),
      ...days,
      ...{ providerId, courseId, zone, createdAt: w.now, updatedAt: w.now },
      teachingLanguageId: body.teaching_language ?? course.teachingLanguageId,
      capacityMax: body.capacity_max ?? location?.capacityMax,
      capacityMin: body.capacity_min ?? location?.capacityMin,
      capacityOverbook: body.capacity_overbook ?? location?.capacityOverbook,
      capacityWait: body.capacity_wait ?? location?.capacityWait,
    });
    w.tx.auditItem(id);
    if (body.instructors) await replaceInstructors(w, id, body.instructors);
    await addGatherings(w, { id, zone }, body.gatherings ?? []);
    await touchCourse(w, courseId);
    return { coursedate_id: id, course_id: courseId };
  });
  return Problem.mapConstraints(constraints, work);
}

/** Updates the fields sent; an empty one is cleared, except the start and the end. */
export async function updateCourseDate(
  ctx: Ctx,
  courseId: number,
  id: number,
  body: CourseDateChange,
): Promise<CourseDateWritten> {
  const { start_at, end_at } = body;
  const errors = await courseDateErrors(ctx, body);
  const work = ctx.write(['catalog', 'dates', 'people', 'money'], async (w) => {
    const { tx, now } = w;
    const course = await findCourse(w, courseId);
    const target = matchCourseDate(ctx, courseId, id);
    const isOver = sql<boolean>`${tables.courseDates.endsAt} <= ${currentTime}`;
    const [before] = await tx
      .select({ ...getTableColumns(tables.courseDates), isOver })
      .from(tables.courseDates)
      .where(target);
    if (before === undefined) throw Problem.notFound('Course date');
    const completeUpdate = await prepareUpdate(w, before);
    const startAt = start_at ?? before.startAt;
    const deadline = before.deadlineAt === before.startAt ? startAt : before.deadlineAt;
    const days = { startAt, endAt: end_at ?? before.endAt, deadlineAt: orElse(body.deadline_at, startAt) ?? deadline };
    const { parent_id: parentId = before.parentId, trigger_value: triggerValue = before.triggerValue } = body;
    const isMissing = body.gatherings === undefined && (await needsNewGatherings(w, before, days));
    const allErrors = { ...errors, missing: isMissing ? ['gatherings'] : errors.missing };
    const child = { parentId, triggerValue };
    await assertNoErrors(w, { courseId, id, body, days, child, errors: allErrors });

    const columns = { ...toUpdatedColumns(ctx, body, before, course), ...days };
    const place = await findPlaceForBody(tx, body, before.placeIsSought ? before.placeAdditionalInfo : null);
    const changed = await tx.updateChanged(tables.courseDates, target, { ...columns, ...place }, now);
    const [after] = await tx.select().from(tables.courseDates).where(target);
    const date = Problem.assertFound(after, 'Course date');
    const hasOtherInstructors =
      body.instructors !== undefined && (await replaceInstructors(w, id, body.instructors ?? []));
    const hasOtherGatherings = await updateGatherings(w, before, date, body.gatherings);
    const written = { coursedate_id: id, course_id: courseId };
    if (changed === 0) {
      if (!hasOtherInstructors && !hasOtherGatherings) return tx.rollBack(written);
      await tx.update(tables.courseDates).set({ updatedAt: now }).where(target);
    }
    await touchCourse(w, courseId);
    await completeUpdate(date);
    return written;
  });
  return Problem.mapConstraints(constraints, work);
}

type Before = Pick<typeof tables.courseDates.$inferSelect, 'title' | 'customProperties'>;

function toUpdatedColumns(
  ctx: Ctx,
  body: CourseDateChange,
  before: Before,
  course: Awaited<ReturnType<typeof findCourse>>,
) {
  // A date without a title of its own is read with that of its course.
  const isTitleOfCourse = before.title === null && body.title === course.title;
  return {
    ...toColumns(body, before),
    title: isTitleOfCourse ? undefined : body.title,
    zone: orElse(body.timezone, ctx.settings.timezone),
    teachingLanguageId: orElse(body.teaching_language, course.teachingLanguageId),
    capacityMax: orElse(body.capacity_max, 0),
    capacityMin: orElse(body.capacity_min, 0),
    capacityOverbook: orElse(body.capacity_overbook, 0),
    capacityWait: orElse(body.capacity_wait, 0),
  };
}

/** Deletes a date and its children, then deregisters who waits, so that nobody books; a second call continues. */
export const deleteCourseDate = (ctx: Ctx, courseId: number, id: number): Promise<CourseDateWritten> =>
  writeInBatches(ctx, ['catalog', 'dates', 'people', 'money'], async (w, isFirst) => {
    if (isFirst) await findCourse(w, courseId);
    const mayLeaveSome = await deleteDates(w, { courseId, id }, isFirst);
    if (isFirst) await touchCourse(w, courseId);
    return mayLeaveSome ? undefined : { coursedate_id: id, course_id: courseId };
  });

const notDeleted = isNull(tables.courseDates.deletedAt);
const matchCourseDate = (ctx: Ctx, courseId: number, id: number) =>
  tenantWhere(
    ctx,
    tables.courseDates,
    eq(tables.courseDates.id, id),
    eq(tables.courseDates.courseId, courseId),
    notDeleted,
  );

/** Once the days are in order, only the times of day can violate this constraint. */
const constraints = {
  course_dates_order: () => Problem.invalidFields({ rules: { end_time_at: 'end_before_start' } }),
  gatherings_order: () => Problem.invalidFields({ rules: { gatherings: 'end_before_start' } }),
};

/** Errors of a body that need no provider data and that its schema does not report. */
export async function courseDateErrors(ctx: Ctx, input: { gatherings?: unknown; timezone?: unknown }) {
  return { ...gatheringErrors(input.gatherings), notValid: await findInvalidTimezone(ctx, input.timezone) };
}

async function findCourse(w: WriteCtx, id: number) {
  const [course] = await w.tx
    .select({ teachingLanguageId: courses.teachingLanguageId, title: courses.title })
    .from(courses)
    .where(tenantWhere(w, courses, eq(courses.id, id), isNull(courses.deletedAt)));
  return Problem.assertFound(course, 'Course');
}

async function findLocation(w: WriteCtx, id: number | undefined) {
  if (id === undefined) return undefined;
  const [location] = await w.tx
    .select()
    .from(locations)
    .where(tenantWhere(w, locations, eq(locations.id, id)));
  return location;
}

type Child = { parentId: number | null; triggerValue: string | null };

type Candidate = {
  courseId: number;
  /** Null for a new date. */
  id: number | null;
  body: CourseDateChange;
  days: Days;
  /** Values of the date after the write. */
  child: Child;
  errors: Awaited<ReturnType<typeof courseDateErrors>>;
};

/** Throws with all invalid fields at once, references to foreign items included. */
async function assertNoErrors(w: WriteCtx, { courseId, id, body, days, child, errors }: Candidate) {
  const { parent_id, trigger_value } = body;
  const hasTrigger = typeof parent_id === 'number' || typeof trigger_value === 'string';
  const params = { course_id: courseId, ...(id !== null && { id }) };
  const unknown = await courseDateReferences.findUnknown(body, { ctx: w, reader: w.tx, params });
  const rules: typeof errors.rules = { ...findBrokenOrder(days), ...errors.rules };
  if (!unknown.includes('parent_id')) {
    if (hasTrigger && !(await isOnlyChild(w, id, child))) rules['trigger_value'] = 'equal_trigger_value';
  } else if ((await w.tx.$count(tables.courseDates, matchCourseDate(w, courseId, parent_id!))) > 0)
    rules['parent_id'] = parent_id === id ? 'same_item' : 'nested_children';
  const notValid = [...errors.notValid, ...unknown.filter((name) => rules[name] === undefined)];
  if (notValid.length + errors.missing.length + Object.keys(rules).length > 0)
    throw Problem.invalidFields({ ...errors, notValid, rules }, Object.keys(CourseDateBody.properties));
}

/** A parent is another date of the same course and no child itself; its child has no children. */
async function canBeParent(
  ctx: Ctx,
  reader: Pick<Tx, '$count'>,
  courseId: number,
  id: number | undefined,
  parentId: number,
) {
  const date = (...conditions: (SQL | undefined)[]) => tenantWhere(ctx, tables.courseDates, notDeleted, ...conditions);
  const isDate = eq(tables.courseDates.id, parentId);
  const parent = date(isDate, eq(tables.courseDates.courseId, courseId), isNull(tables.courseDates.parentId));
  if (parentId === id || (await reader.$count(tables.courseDates, parent)) === 0) return false;
  return id === undefined || (await reader.$count(tables.courseDates, date(eq(tables.courseDates.parentId, id)))) === 0;
}

/** True if no other child of the parent has the trigger value. */
async function isOnlyChild(w: WriteCtx, id: number | null, { parentId, triggerValue }: Child) {
  const dates = tables.courseDates;
  if (parentId === null || triggerValue === null) return true;
  const equal = sql`${tables.foldedTrigger(dates.triggerValue)} = ${tables.foldedTrigger(triggerValue)}`;
  const others = id === null ? undefined : ne(dates.id, id);
  return (
    (await w.tx.$count(dates, tenantWhere(w, dates, notDeleted, eq(dates.parentId, parentId), others, equal))) === 0
  );
}

/** Sets the course's timestamps, which include its dates. */
const touchCourse = (w: WriteCtx, courseId: number) =>
  w.tx
    .update(courses)
    .set({ updatedAt: w.now, relatedItemsUpdatedAt: w.now })
    .where(tenantWhere(w, courses, eq(courses.id, courseId)));

const orElse = <T>(input: T | null | undefined, value: T) => (input === null ? value : input);
