import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { assertVisibleCourse } from '../courses/query-service.ts';
import { resolvePartners } from '../schools/partner-service.ts';
import { assertOwnTags } from '../tags/service.ts';
import { batchCourseDateList, courseDateList, datesOfCourseList, nextCourseDateList } from './list.ts';

type CourseDateQuery = Parameters<typeof courseDateList.page>[1];
type BatchQuery = Parameters<typeof batchCourseDateList.page>[1];
type ItemQuery = NonNullable<Parameters<typeof courseDateList.byId>[2]>;
type CalendarQuery = Omit<Parameters<typeof nextCourseDateList.page>[1], 'since_id' | 'include_deleted'>;

/** A page of course dates with its total. */
export async function listCourseDates(ctx: Ctx, input: CourseDateQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  await assertOwnTags(ctx, query.tag_ids);
  return courseDateList.page(ctx, query, { scope, withTotal: true });
}

/** A page of the dates of one course, which is the provider's own or a partner's in scope. */
export async function listDatesOfCourse(ctx: Ctx, courseId: number, input: CourseDateQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  await assertOwnTags(ctx, query.tag_ids);
  await assertVisibleCourse(ctx, courseId, query, { scope });
  const courseIds = (query.course_id ?? [courseId]).filter((id) => id === courseId);
  return datesOfCourseList.page(ctx, { ...query, course_id: courseIds }, { scope });
}

/** A page of the dates of several courses; unknown courses have none. */
export async function listCourseDatesOfCourses(ctx: Ctx, input: BatchQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  await assertOwnTags(ctx, query.tag_ids);
  return batchCourseDateList.page(ctx, query, { scope });
}

export async function getCourseDate(ctx: Ctx, courseId: number, id: number, query: ItemQuery) {
  await assertVisibleCourse(ctx, courseId, query);
  const date = await courseDateList.byId(ctx, id, query);
  if (date?.course_id !== courseId) throw Problem.notFound('Course date');
  return date;
}

export async function listNextCourseDates(ctx: Ctx, input: CalendarQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  await assertOwnTags(ctx, query.tag_ids);
  return nextCourseDateList.page(ctx, query, { scope });
}
