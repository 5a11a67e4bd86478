import { hasAnyId } from '../../../../database/tables/columns.ts';
import { and, asc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { Problem } from '../../../../core/errors.ts';
import type { Ctx } from '../../../../database/context.ts';
import { courseDates } from '../../../../database/tables/coursedates.ts';
import { courses } from '../../../../database/tables/courses.ts';
import { sameTenant, tenantWhere } from '../../../../lists/tenant-scope.ts';
import { isOrWasPublicCourse, isPublicDate } from '../../../../domains/courses/visibility/loaders.ts';
import { courseDateList } from '../../../../domains/courses/coursedates/list.ts';
import { isFromToday, isUpcoming } from '../../../../domains/courses/coursedates/loaders.ts';
import { toSchoolContext } from '../courses.ts';
import { dateIncludes, toCatalogDate, type CatalogDate, type DateItem } from './model.ts';
import { createVersionedCache } from '../../../../database/versioned-cache.ts';

/** A public date, which may be over or canceled. */
export async function findDate(ctx: Ctx, id: number): Promise<CatalogDate | undefined> {
  const found = await courseDateList.byId(ctx, id, { include: [...dateIncludes, 'gatherings'] });
  return found && (await toCatalogDates(ctx, [found as unknown as DateItem]))[0];
}

export async function toCatalogDates(ctx: Ctx, items: DateItem[]): Promise<CatalogDate[]> {
  const ids = [...new Set(items.map(({ course_id }) => course_id))];
  const found = await ctx.db
    .select({ id: courses.id })
    .from(courses)
    .where(tenantWhere(toSchoolContext(ctx), courses, hasAnyId(courses.id, ids), isNull(courses.priceValue)));
  const unpriced = new Set(found.map(({ id }) => id));
  return items.map((item) => toCatalogDate(item, ctx.settings, unpriced));
}

const cache = createVersionedCache<CatalogDate | undefined>(4_000_000);

/** `findDate`, read once for each version of the data; throws gone for a date that was public, else not_found. */
export async function getDate(ctx: Ctx, id: number): Promise<CatalogDate> {
  const found = await cache(ctx, String(id), () => findDate(ctx, id));
  if (found) return found;
  throw (await wasPublic(ctx, id)) ? new Problem('gone', 'The date is over') : Problem.notFound('Date');
}

/** The public dates without a parent date. */
export async function listWholeDates(ctx: Ctx, ids: number[]) {
  if (ids.length === 0) return [];
  const isListed = hasAnyId(courseDates.id, ids);
  return ctx.db
    .select({ id: courseDates.id, createdAt: courseDates.createdAt })
    .from(courseDates)
    .where(tenantWhere(toSchoolContext(ctx), courseDates, isListed, isNull(courseDates.parentId), isPublicDate));
}

/** The public dates from today on, canceled ones too, in order of time; those of the sitemap. */
export const listComingDates = (ctx: Ctx, max: number) =>
  ctx.db
    .select({
      id: courseDates.id,
      title: sql<string>`coalesce(${courseDates.title}, ${courses.title})`,
    })
    .from(courseDates)
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(tenantWhere(toSchoolContext(ctx), courseDates, isNull(courseDates.parentId), isFromToday, isPublicDate))
    .orderBy(asc(courseDates.startsAt), asc(courseDates.id))
    .limit(max);

/** The courses that have a date from today on which is not canceled; `courseId`: that one alone. */
export async function findDatedCourses(ctx: Ctx, courseId?: number): Promise<Set<number>> {
  const isWanted = courseId === undefined ? undefined : eq(courseDates.courseId, courseId);
  const found = await ctx.db
    .selectDistinct({ id: courseDates.courseId })
    .from(courseDates)
    .where(tenantWhere(toSchoolContext(ctx), courseDates, isWanted, isUpcoming));
  return new Set(found.map(({ id }) => id));
}

/** True for a date that was public, and is deleted, also with its course, or not shown after its deadline. */
async function wasPublic(ctx: Ctx, id: number) {
  const isOver = sql`${courseDates.deadlineAt} < timezone(${courseDates.zone}, now())::date`;
  const found = await ctx.db
    .select({ id: courseDates.id })
    .from(courseDates)
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(
      tenantWhere(
        toSchoolContext(ctx),
        courseDates,
        eq(courseDates.id, id),
        eq(courseDates.isVisible, true),
        and(isOrWasPublicCourse, or(isNotNull(courseDates.deletedAt), isNotNull(courses.deletedAt), isOver)),
      ),
    );
  return found.length > 0;
}
