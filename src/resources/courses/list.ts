import { eq, isNull } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import { Flag, Id, OneOf } from '../../schema/types.ts';
import { courses } from '../../database/tables/courses.ts';
import { dateRange, narrow, parameter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { own, withinReach, type Reach } from '../../lists/tenant-scope.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { partnerParameters } from '../schools/partner-schema.ts';
import { tagParameters } from '../tags/serializer.ts';
import { courseItemShape, courseShape, fetchCourses, isPublicCourse } from './serializer.ts';

const common = {
  table: courses,
  scope: (ctx: Ctx, reach: Reach) => withinReach(ctx, reach, courses.providerId, isPublicCourse),
  notDeleted: isNull(courses.deletedAt),
  fetch: fetchCourses,
};
const description_language = parameter(
  OneOf(teachingLanguageCodes, { description: 'Texts in this language, where a course has them' }),
);

export const courseList = defineList({
  ...common,
  shape: courseShape,
  filters: {
    customer_id: narrow({ ...Id, description: 'Only the corporate courses of this customer' }, (customerId, ctx) =>
      own(ctx, courses, eq(courses.customerId, customerId)),
    ),
    ...dateRange('created_at', courses.createdAt),
    ...dateRange('updated_at', courses.updatedAt),
    description_language,
    ...tagParameters(courses, courses.id, 'courses'),
    ...partnerParameters,
    paginate: parameter(Flag({ default: false, description: 'true wraps the list in the envelope' })),
  },
});

const item = defineList({ ...common, shape: courseItemShape, filters: { description_language, ...partnerParameters } });

type CourseItemQuery = Omit<Parameters<typeof item.page>[1], 'limit' | 'page' | 'since_id'>;
const {
  description_language: language,
  include,
  include_partners,
  partner_id,
  include_deleted,
} = item.Query['properties'] as Record<string, object>;

/** One course, which may embed more than those of a list. */
export const courseItem = {
  ...item,
  Query: Type.Unsafe<CourseItemQuery>({
    type: 'object',
    properties: { description_language: language, include, include_partners, partner_id, include_deleted },
  }),
};
