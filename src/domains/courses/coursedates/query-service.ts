import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { assertVisibleCourse } from '../courses/service.ts';
import { courseDateList, datesOfCourseList } from './list.ts';

type CourseDateQuery = Parameters<typeof datesOfCourseList.page>[1];
type ItemQuery = NonNullable<Parameters<typeof courseDateList.byId>[2]>;

/** A page of the dates of one course, which is the provider's own or a partner's in the query. */
export async function listDatesOfCourse(ctx: Ctx, courseId: number, query: CourseDateQuery) {
  const courseIds = (query.course_id ?? [courseId]).filter((id) => id === courseId);
  const page = await datesOfCourseList.page(ctx, { ...query, course_id: courseIds });
  // After the page, which refuses unknown tags.
  await assertVisibleCourse(ctx, courseId, query);
  return page;
}

export async function getCourseDate(ctx: Ctx, courseId: number, id: number, query: ItemQuery) {
  await assertVisibleCourse(ctx, courseId, query);
  const date = await courseDateList.byId(ctx, id, query);
  if (date?.course_id !== courseId) throw Problem.notFound('Course date');
  return date;
}
