import { asc, eq } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { courses } from '../../database/tables/courses.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { isPublicCourse } from '../../resources/courses/loaders.ts';

/** The school itself, for statements that begin with a tenant. */
export const toSchoolContext = (ctx: Ctx) => ({ ...ctx, providerId: ctx.publishableFor!.id });

const maxCourses = 10_000;

/** The public courses by title; the first 10,000. */
export const listCourses = (ctx: Ctx) =>
  ctx.db
    .select({ id: courses.id, title: courses.title, updatedAt: courses.updatedAt })
    .from(courses)
    .where(tenantWhere(toSchoolContext(ctx), courses, isPublicCourse))
    .orderBy(asc(courses.title), asc(courses.id))
    .limit(maxCourses);

/** Undefined unless the course is public. */
export async function findCourse(ctx: Ctx, id: number) {
  const [found] = await ctx.db
    .select({ id: courses.id, title: courses.title, external_more_info_url: courses.externalMoreInfoUrl })
    .from(courses)
    .where(tenantWhere(toSchoolContext(ctx), courses, eq(courses.id, id), isPublicCourse));
  return found;
}
