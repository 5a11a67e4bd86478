import { and, eq, inArray, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { Problem } from '../../../core/errors.ts';
import { getSchoolId, type Ctx } from '../../../database/context.ts';
import { t } from '../../../core/schema/types.ts';
import * as catalog from '../../../database/tables/catalog.ts';
import * as tables from '../../../database/tables/courses.ts';
import { filter } from '../../../lists/filters.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { visibleTags } from './loaders.ts';

const TagMatch = t.named('TagMatch', t.OneOf(['any', 'all']));

/** Filters by tags for lists of courses or of their children; `courseId` is the column that names the course. */
export const tagParameters = (table: { providerId: PgColumn }, courseId: PgColumn, owner: string) => ({
  tag_ids: filter.plain(
    t.List(t.Id, { description: `Only ${owner} with these of the school's own tags; all unless sent` }),
    async (tagIds: number[], reader, { tag_match }, hasSelective) => {
      await assertVisible(reader, tagIds);
      const ctx = { ...reader, providerId: getSchoolId(reader) };
      if (hasSelective) return tenantWhere(ctx, table, hasTags(ctx, courseId, tagIds, tag_match));
      const tagged = taggedCourses(ctx, tagIds, tag_match);
      // `is true` makes it a condition of each row; a join would begin with all tagged courses.
      const condition = (await areFrequent(ctx, tagIds, tag_match))
        ? sql`(${courseId} in ${tagged}) is true`
        : sql`${courseId} = any(array(${tagged}))`;
      return tenantWhere(ctx, table, condition);
    },
  ),
  tag_match: filter.parameter({ ...TagMatch, default: 'any', description: 'Any of the tags, or every one' }),
});

/** Throws if any of the ids is not a tag that the reader sees. */
async function assertVisible(ctx: Ctx, tagIds: number[]) {
  const ids = [...new Set(tagIds)];
  if ((await ctx.db.$count(catalog.tags, visibleTags(ctx, ids))) !== ids.length)
    throw Problem.invalidFields({ notValid: ['tag_ids'] });
}

/** A condition on each row, for a query whose other filters leave only a few. */
function hasTags(ctx: Ctx, courseId: PgColumn, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  const { courseTags } = catalog;
  const count = ctx.db
    .select({ count: sql`count(*)` })
    .from(courseTags)
    .where(tenantWhere(ctx, courseTags, and(eq(courseTags.courseId, courseId), inArray(courseTags.tagId, ids))));
  return sql`${count} >= ${match === 'all' ? ids.length : 1}`;
}

/** The ids of the courses with any of the provider's own tags, or with every one of them. */
function taggedCourses(ctx: Ctx, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  const { courseTags } = catalog;
  return ctx.db
    .select({ courseId: courseTags.courseId })
    .from(courseTags)
    .where(tenantWhere(ctx, courseTags, inArray(courseTags.tagId, ids)))
    .groupBy(courseTags.courseId)
    .having(match === 'all' ? sql`count(*) = ${ids.length}` : undefined);
}

/** True for tags of at least 20 % of the courses, which a scan in the list's order finds faster than their ids. */
async function areFrequent(ctx: Ctx, tagIds: number[], match: unknown) {
  const maxCourses = 5 * (await ctx.db.$count(sql`${taggedCourses(ctx, tagIds, match)} as tagged`));
  const someCourses = ctx.db
    .select({ id: tables.courses.id })
    .from(tables.courses)
    .where(tenantWhere(ctx, tables.courses))
    .limit(maxCourses + 1);
  return (await ctx.db.$count(sql`${someCourses} as some_courses`)) <= maxCourses;
}
