import { and, eq, inArray, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../core/context.ts';
import * as t from '../../schema/types.ts';
import { courseTags } from '../../database/tables/catalog.ts';
import { courses } from '../../database/tables/courses.ts';
import { filter, parameter } from '../../lists/filters.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';

/** What lists of courses, and of what belongs to courses, take to select by tags; `courseId` names the course of a row. */
export const tagParameters = (table: { providerId: PgColumn }, courseId: PgColumn, owner: string) => ({
  tag_ids: filter(
    t.List(t.Id, { description: `Only ${owner} with these of the school's own tags` }),
    async (tagIds: number[], ctx, { tag_match }, isNarrowed) => {
      if (isNarrowed) return tenantWhere(ctx, table, carries(ctx, courseId, tagIds, tag_match));
      const found = tagged(ctx, tagIds, tag_match);
      // `is true` keeps it a condition of each row; a join would begin with all of them.
      const condition = (await areMany(ctx, tagIds, tag_match))
        ? sql`(${courseId} in ${found}) is true`
        : sql`${courseId} = any(array(${found}))`;
      return tenantWhere(ctx, table, condition);
    },
  ),
  tag_match: parameter(t.OneOf(['any', 'all'], { default: 'any', description: 'Any of the tags, or every one' })),
});

/** Whether this one course carries them: asked of each row, where only few are left by what else is asked. */
function carries(ctx: Ctx, courseId: PgColumn, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  const carried = ctx.db
    .select({ count: sql`count(*)` })
    .from(courseTags)
    .where(tenantWhere(ctx, courseTags, and(eq(courseTags.courseId, courseId), inArray(courseTags.tagId, ids))));
  return sql`${carried} >= ${match === 'all' ? ids.length : 1}`;
}

/** The courses that carry any of the provider's own tags, or every one of them. */
function tagged(ctx: Ctx, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  return ctx.db
    .select({ courseId: courseTags.courseId })
    .from(courseTags)
    .where(tenantWhere(ctx, courseTags, inArray(courseTags.tagId, ids)))
    .groupBy(courseTags.courseId)
    .having(match === 'all' ? sql`count(*) = ${ids.length}` : undefined);
}

/**
 * Whether a fifth of all courses or more carry them: then a page is full soon on the way through the list, and where they are the
 * last ones after four fifths of it. The planner cannot know how many there are, and would always read and sort all that they have.
 */
async function areMany(ctx: Ctx, tagIds: number[], match: unknown) {
  const carrying = await ctx.db.$count(sql`${tagged(ctx, tagIds, match)} as tagged`);
  const most = 5 * carrying;
  const more = ctx.db
    .select({ id: courses.id })
    .from(courses)
    .where(tenantWhere(ctx, courses))
    .limit(most + 1);
  return (await ctx.db.$count(sql`${more} as some_courses`)) <= most;
}
