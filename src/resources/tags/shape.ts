import { inArray, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../core/context.ts';
import { Id, List, OneOf } from '../../core/schema.ts';
import { courseTags } from '../../database/tables/catalog.ts';
import { filter, parameter } from '../../lists/filter.ts';
import { own } from '../../lists/reach.ts';

/** What lists of courses, and of what belongs to courses, take to select by tags; `courseId` names the course of a row. */
export const tagParameters = (table: { providerId: PgColumn }, courseId: PgColumn, whose: string) => ({
  tag_ids: filter(
    List(Id, { description: `Only ${whose} with these of the school's own tags` }),
    (tagIds: number[], ctx, { tag_match }) =>
      own(ctx, table, sql`${courseId} = any(array(${tagged(ctx, tagIds, tag_match)}))`),
  ),
  tag_match: parameter(OneOf(['any', 'all'], { default: 'any', description: 'Any of the tags, or every one' })),
});

/** The courses that carry any of the provider's own tags, or every one of them. */
function tagged(ctx: Ctx, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  return ctx.db
    .select({ courseId: courseTags.courseId })
    .from(courseTags)
    .where(own(ctx, courseTags, inArray(courseTags.tagId, ids)))
    .groupBy(courseTags.courseId)
    .having(match === 'all' ? sql`count(*) = ${ids.length}` : undefined);
}
