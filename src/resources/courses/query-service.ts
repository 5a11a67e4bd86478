import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { resolvePartners } from '../schools/partner-service.ts';
import { assertOwnTags } from '../tags/service.ts';
import { courseItem, courseList } from './list.ts';

type CourseQuery = Parameters<typeof courseList.page>[1];
type CourseItemQuery = Static<typeof courseItem.Query>;

/** A page of courses, with its total for `paginate`. */
export async function listCourses(ctx: Ctx, input: CourseQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  await assertOwnTags(ctx, query.tag_ids);
  return courseList.page(ctx, query, { scope, withTotal: query.paginate === true });
}

/** One course, which may be a partner's in the query's scope. */
export async function getCourse(ctx: Ctx, id: number, input: CourseItemQuery) {
  const { query, scope } = await resolvePartners(ctx, input);
  const course = await courseItem.byId(ctx, id, query, { scope });
  if (course === undefined) throw Problem.notFound('Course');
  return course;
}

/** Throws unless the course is visible in the scope, which is the provider's own by default. */
export async function assertVisibleCourse(...args: Parameters<typeof courseList.exists>) {
  if (!(await courseList.exists(...args))) throw Problem.notFound('Course');
}
