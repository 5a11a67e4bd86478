import { and, asc, eq, isNull, ne, or, sql, type Placeholder } from 'drizzle-orm';
import { canceled } from '../../../core/reference/statuses.ts';
import { omitColumns } from '../../../database/tables/columns.ts';
import * as tables from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { allOf, sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { isPublicCourse, isPublicDate, isShownAfterDeadline } from '../visibility/loaders.ts';
import { hiddenColumns } from './schema.ts';

/** True for dates from today on in their time zone. */
export const isFromToday = allOf(
  // No zone is more than a day away: the first bound uses the index, the second checks zones only near today.
  sql`${tables.courseDates.startsAt} >= now() - interval '2 days'`,
  sql`(${tables.courseDates.startsAt} >= now() + interval '2 days'
    or ${tables.courseDates.startAt} >= timezone(${tables.courseDates.zone}, now())::date)`,
);

/** Visible dates of active courses, not canceled and no children, from today on in the date's time zone. */
export const isUpcoming = allOf(
  eq(tables.courseDates.isVisible, true),
  isNull(tables.courseDates.deletedAt),
  ne(tables.courseDates.statusId, canceled),
  isNull(tables.courseDates.parentId),
  isShownAfterDeadline,
  isFromToday,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    tables.courseDates,
    eq(courses.id, tables.courseDates.courseId),
    eq(courses.isActive, true),
    isNull(courses.deletedAt),
  )})`,
);

/** Dates inside another one: all own ones, of a partner's only public ones. */
const isEmbeddable = (tenant: { providerId: Placeholder }) =>
  and(isNull(tables.courseDates.deletedAt), or(tenantWhere(tenant, tables.courseDates), isPublicDate));

const dateColumns = {
  ...omitColumns(tables.courseDates, hiddenColumns),
  course: { title: courses.title, slug: courses.slug, isPublic: sql<boolean>`(${isPublicCourse})` },
};
const ofCourse = sameTenant(courses, tables.courseDates, eq(courses.id, tables.courseDates.courseId));

/** The children of course dates. */
export const fetchChildren = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${tables.courseDates.parentId}`.mapWith(Number) })
    .from(tables.courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(tables.courseDates, tables.courseDates.parentId), isEmbeddable(ctx)))
    .orderBy(asc(tables.courseDates.id)),
);

/** The dates of bundles. */
export const fetchMembers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${tables.courseDates.bundleId}`.mapWith(Number) })
    .from(tables.courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(tables.courseDates, tables.courseDates.bundleId), isEmbeddable(ctx)))
    .orderBy(asc(tables.courseDates.id)),
);

export const fetchBundles = batchLoader((ctx, keys) =>
  ctx.db
    .select({ providerId: tables.bundles.providerId, id: tables.bundles.id, title: tables.bundles.title })
    .from(tables.bundles)
    .where(keys.match(tables.bundles, tables.bundles.id)),
);

/** Negative while overbook places are used. */
const freeSeats = sql`${tables.courseDates.capacityMax} - ${tables.courseDates.numConfirmed}
  - ${tables.courseDates.numOverbooked} - ${tables.courseDates.numUnconfirmed}`;

/** Whether a booking of one person is given a seat now, of course dates by their ids. */
export const fetchBookable = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ownerId: tables.courseDates.id,
      isBookable: sql<boolean>`${and(
        ...[eq(courses.isActive, true), isNull(courses.deletedAt), isNull(tables.courseDates.deletedAt)],
        ne(tables.courseDates.statusId, canceled),
        sql`timezone(${tables.courseDates.zone}, now())::date <= ${tables.courseDates.deadlineAt}`,
        sql`${tables.courseDates.endsAt} > now()`,
        or(eq(tables.courseDates.capacityMax, 0), sql`${freeSeats} + ${tables.courseDates.capacityOverbook} > 0`),
      )}`,
    })
    .from(tables.courseDates)
    .innerJoin(courses, ofCourse)
    .where(keys.match(tables.courseDates, tables.courseDates.id)),
);

/** Course dates by their ids, deleted ones too. */
export const fetchCourseDates = batchLoader((ctx, keys) =>
  ctx.db
    .select(dateColumns)
    .from(tables.courseDates)
    .innerJoin(courses, ofCourse)
    .where(keys.match(tables.courseDates, tables.courseDates.id)),
);
