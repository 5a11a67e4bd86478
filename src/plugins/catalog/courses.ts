import { and, asc, desc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { sameTenant, tenantWhere } from '../../lists/tenant-scope.ts';
import { isPublicCourse } from '../../resources/courses/loaders.ts';
import { courseDateList } from '../../resources/coursedates/list.ts';
import { isPublicDate } from '../../resources/coursedates/loaders.ts';
import { dateIncludes, toCatalogDate, type CatalogDate, type DateItem } from './dates/model.ts';

/** The school itself, for statements that begin with a tenant. */
export const schoolOf = (ctx: Ctx) => ({ ...ctx, providerId: ctx.publishableFor!.id });

const maxCourses = 10_000;

/** The public courses by title; the first 10,000. */
export const listCourses = (ctx: Ctx) =>
  ctx.db
    .select({ id: courses.id, title: courses.title, updatedAt: courses.updatedAt })
    .from(courses)
    .where(tenantWhere(schoolOf(ctx), courses, isPublicCourse))
    .orderBy(asc(courses.title), asc(courses.id))
    .limit(maxCourses);

/** Undefined unless the course is public. */
export async function findCourse(ctx: Ctx, id: number) {
  const [found] = await ctx.db
    .select({ id: courses.id, title: courses.title, external_more_info_url: courses.externalMoreInfoUrl })
    .from(courses)
    .where(tenantWhere(schoolOf(ctx), courses, eq(courses.id, id), isPublicCourse));
  return found;
}

/** A public date, which may be over or canceled. */
export async function findDate(ctx: Ctx, id: number): Promise<CatalogDate | undefined> {
  const found = await courseDateList.byId(ctx, id, { include: dateIncludes });
  return found && toCatalogDate(found as unknown as DateItem, ctx.settings);
}

/** Of public dates those that are no part of another date, the newest first. */
export const listWholeDates = (ctx: Ctx, ids: number[], limit = ids.length) =>
  ctx.db
    .select({ id: courseDates.id, createdAt: courseDates.createdAt })
    .from(courseDates)
    .where(
      tenantWhere(
        schoolOf(ctx),
        courseDates,
        sql`${courseDates.id} = any(${sql.param(ids)}::bigint[])`,
        isNull(courseDates.parentId),
        isPublicDate,
      ),
    )
    .orderBy(desc(courseDates.createdAt), desc(courseDates.id))
    .limit(limit);

/** True for a date that was public, and is deleted or not shown after its deadline. */
export async function wasPublic(ctx: Ctx, id: number) {
  const isOver = sql`${courseDates.deadlineAt} < timezone(${courseDates.zone}, now())::date`;
  const found = await ctx.db
    .select({ id: courseDates.id })
    .from(courseDates)
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(
      tenantWhere(
        schoolOf(ctx),
        courseDates,
        eq(courseDates.id, id),
        eq(courseDates.isVisible, true),
        and(isPublicCourse, or(isNotNull(courseDates.deletedAt), isOver)),
      ),
    );
  return found.length > 0;
}
