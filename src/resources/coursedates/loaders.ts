import { and, asc, eq, isNull, or, sql, type Placeholder } from 'drizzle-orm';
import { omitColumns } from '../../database/tables/columns.ts';
import { bundles, courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { isPublicCourse } from '../courses/loaders.ts';
import { hiddenColumns } from './schema.ts';

/** The deadline ends with its day in the time zone of the date. */
export const isShownAfterDeadline = or(
  eq(courseDates.visibleWhenPassedDeadline, true),
  sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
)!;

/** Course dates that the public and partners may see. */
export const isPublicDate = and(
  eq(courseDates.isVisible, true),
  isNull(courseDates.deletedAt),
  isShownAfterDeadline,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    courseDates,
    eq(courses.id, courseDates.courseId),
    isPublicCourse,
  )})`,
)!;

/** Dates inside another one: all own ones, of a partner's only public ones. */
const isEmbeddable = ({ providerId }: { providerId: Placeholder }) =>
  and(isNull(courseDates.deletedAt), or(eq(courseDates.providerId, providerId), isPublicDate));

const dateColumns = {
  ...omitColumns(courseDates, hiddenColumns),
  course: { title: courses.title, slug: courses.slug },
};
const ofCourse = sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId));

/** The children of course dates. */
export const fetchChildren = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${courseDates.parentId}`.mapWith(Number) })
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(courseDates, courseDates.parentId), isEmbeddable(ctx)))
    .orderBy(asc(courseDates.id)),
);

/** The dates of bundles. */
export const fetchMembers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ...dateColumns, ownerId: sql<number>`${courseDates.bundleId}`.mapWith(Number) })
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(and(keys.match(courseDates, courseDates.bundleId), isEmbeddable(ctx)))
    .orderBy(asc(courseDates.id)),
);

export const fetchBundles = batchLoader((ctx, keys) =>
  ctx.db
    .select({ providerId: bundles.providerId, id: bundles.id, title: bundles.title })
    .from(bundles)
    .where(keys.match(bundles, bundles.id)),
);

/** Course dates by their ids, deleted ones too. */
export const fetchCourseDates = batchLoader((ctx, keys) =>
  ctx.db
    .select(dateColumns)
    .from(courseDates)
    .innerJoin(courses, ofCourse)
    .where(keys.match(courseDates, courseDates.id)),
);
