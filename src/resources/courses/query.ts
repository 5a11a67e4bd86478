import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { Flag, Id, List, OneOf } from '../../core/schema.ts';
import { courseTags } from '../../database/tables/catalog.ts';
import { courses } from '../../database/tables/courses.ts';
import { dateRange, filter, parameter } from '../../lists/filter.ts';
import { defineList, onPage } from '../../lists/list.ts';
import { own, withinReach } from '../../lists/reach.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { partnerParameters } from '../partners/schema.ts';
import { courseShape } from './shape.ts';

/** What anybody may see of a school's courses. */
const isPublic = and(
  eq(courses.isActive, true),
  eq(courses.type, 'public'),
  inArray(courses.publishingPlatform, ['both', 'catalog']),
  isNull(courses.deletedAt),
)!;

/** The courses that carry any of the provider's own tags, or every one of them. */
function taggedWith(ctx: Ctx, tagIds: number[], match: unknown) {
  const ids = [...new Set(tagIds)];
  const tagged = ctx.db
    .select({ courseId: courseTags.courseId })
    .from(courseTags)
    .where(own(ctx, courseTags, inArray(courseTags.tagId, ids)))
    .groupBy(courseTags.courseId)
    .having(match === 'all' ? sql`count(*) = ${ids.length}` : undefined);
  return own(ctx, courses, sql`${courses.id} = any(array(${tagged}))`);
}

export const courseList = defineList({
  table: courses,
  shape: courseShape,
  scope: (ctx, reach) => withinReach(ctx, reach, courses.providerId, isPublic),
  notDeleted: isNull(courses.deletedAt),
  filters: {
    customer_id: filter({ ...Id, description: 'Only the corporate courses of this customer' }, (customerId, ctx) =>
      own(ctx, courses, eq(courses.customerId, customerId)),
    ),
    ...dateRange('created_at', courses.createdAt),
    ...dateRange('updated_at', courses.updatedAt),
    description_language: parameter(
      OneOf(teachingLanguageCodes, { description: 'Texts in this language, where a course has them' }),
    ),
    tag_ids: filter(
      List(Id, { description: "Only courses with these of the school's own tags" }),
      (tagIds: number[], ctx, { tag_match }) => taggedWith(ctx, tagIds, tag_match),
    ),
    tag_match: parameter(OneOf(['any', 'all'], { default: 'any', description: 'Any of the tags, or every one' })),
    ...partnerParameters,
    paginate: parameter(Flag({ default: false, description: 'true wraps the list in the envelope' })),
  },
  rows: (ctx, ids, order) =>
    ctx.db
      .select()
      .from(courses)
      .innerJoin(ids, onPage(courses, ids))
      .orderBy(...order)
      .then((rows) => rows.map((row) => row.courses)),
});
