import { and, asc, eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { getSchoolId, type Ctx } from '../../../database/context.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import * as catalog from '../../../database/tables/catalog.ts';
import { courses } from '../../../database/tables/courses.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { isPublicCourse } from '../visibility/loaders.ts';

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
  const own = tenantWhere({ providerId: getSchoolId(ctx) }, tags, ids && hasAnyId(tags.id, ids));
  if (ctx.publishableFor === undefined) return own;
  return ctx.publishableFor.isActive ? and(own, isTagOfPublicCourse) : sql`false`;
}

export type TagTable = typeof catalog.tags | typeof catalog.labels;
type Links = typeof catalog.courseTags | typeof catalog.courseLabels;

/** The tags or the labels of courses; `column` names them. */
const fetchLinked = (table: TagTable, links: Links, column: PgColumn) =>
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: links.courseId, id: table.id, title: table.title })
      .from(links)
      .innerJoin(table, sameTenant(table, links, eq(table.id, column)))
      .where(keys.match(links, links.courseId))
      .orderBy(asc(table.id)),
  );

export const fetchTags = fetchLinked(catalog.tags, catalog.courseTags, catalog.courseTags.tagId);
export const fetchLabels = fetchLinked(catalog.labels, catalog.courseLabels, catalog.courseLabels.labelId);
