import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { schoolOf, type Ctx } from '../../database/context.ts';
import * as catalog from '../../database/tables/catalog.ts';
import { courses } from '../../database/tables/courses.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { isPublicCourse } from '../courses/loaders.ts';

const ofTag = sameTenant(courses, catalog.courseTags, eq(courses.id, catalog.courseTags.courseId));

/** Tags that a public course has. */
const isTagOfPublicCourse = sql`exists (
  select from ${catalog.courseTags} join ${courses} on ${ofTag} where ${sameTenant(
    catalog.courseTags,
    catalog.tags,
    and(eq(catalog.courseTags.tagId, catalog.tags.id), isPublicCourse),
  )})`;

/** The tags of the provider; with a publishable key, those of public courses. */
export function visibleTags(ctx: Ctx, ids?: number[]) {
  const { tags } = catalog;
  const own = tenantWhere({ providerId: schoolOf(ctx) }, tags, ids && inArray(tags.id, ids));
  if (ctx.publishableFor === undefined) return own;
  return ctx.publishableFor.isActive ? and(own, isTagOfPublicCourse) : sql`false`;
}

export const fetchTags = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: catalog.courseTags.courseId, id: catalog.tags.id, title: catalog.tags.title })
    .from(catalog.courseTags)
    .innerJoin(
      catalog.tags,
      sameTenant(catalog.tags, catalog.courseTags, eq(catalog.tags.id, catalog.courseTags.tagId)),
    )
    .where(keys.match(catalog.courseTags, catalog.courseTags.courseId))
    .orderBy(asc(catalog.tags.id)),
);

export const fetchLabels = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: catalog.courseLabels.courseId, id: catalog.labels.id, title: catalog.labels.title })
    .from(catalog.courseLabels)
    .innerJoin(
      catalog.labels,
      sameTenant(catalog.labels, catalog.courseLabels, eq(catalog.labels.id, catalog.courseLabels.labelId)),
    )
    .where(keys.match(catalog.courseLabels, catalog.courseLabels.courseId))
    .orderBy(asc(catalog.labels.id)),
);
