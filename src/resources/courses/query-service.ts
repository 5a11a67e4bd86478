import { and, eq, isNull } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import { courses } from '../../database/tables/courses.ts';
import { inScope, ownScope, type TenantScope } from '../../lists/tenant-scope.ts';
import { resolvePartners } from '../schools/partner-service.ts';
import { assertOwnTags } from '../tags/service.ts';
import { courseItem, courseList } from './list.ts';
import { isPublicCourse } from './serializer.ts';

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

export async function assertVisibleCourse(
  ctx: Ctx,
  id: number,
  { include_deleted }: { include_deleted?: boolean },
  scope: TenantScope = ownScope,
) {
  const visible = and(
    inScope(ctx, scope, courses.providerId, isPublicCourse),
    eq(courses.id, id),
    include_deleted ? undefined : isNull(courses.deletedAt),
  );
  if ((await ctx.db.$count(courses, visible)) === 0) throw Problem.notFound('Course');
}
