import { eq, isNull } from 'drizzle-orm';
import { Flag, Id, OneOf } from '../../core/schema.ts';
import { courses } from '../../database/tables/courses.ts';
import { dateRange, filter, parameter } from '../../lists/filter.ts';
import { defineList, onPage } from '../../lists/list.ts';
import { own, withinReach } from '../../lists/reach.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { partnerParameters } from '../partners/schema.ts';
import { tagParameters } from '../tags/shape.ts';
import { courseShape, isPublicCourse } from './shape.ts';

export const courseList = defineList({
  table: courses,
  shape: courseShape,
  scope: (ctx, reach) => withinReach(ctx, reach, courses.providerId, isPublicCourse),
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
    ...tagParameters(courses, courses.id, 'courses'),
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
