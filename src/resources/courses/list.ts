import { eq, isNull } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import type { Ctx } from '../../core/context.ts';
import * as t from '../../schema/types.ts';
import { courses } from '../../database/tables/courses.ts';
import { dateRange, selectiveFilter, parameter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { tenantWhere, inScope, type TenantScope } from '../../lists/tenant-scope.ts';
import * as reference from '../../reference/courses.ts';
import { partnerParameters } from '../schools/partner-schema.ts';
import { tagParameters } from './tag-filters.ts';
import { courseItemShape, courseShape, fetchCourses, isPublicCourse } from './serializer.ts';

const common = {
  table: courses,
  scope: (ctx: Ctx, scope: TenantScope) => inScope(ctx, scope, courses.providerId, isPublicCourse),
  notDeleted: isNull(courses.deletedAt),
  fetch: fetchCourses,
};
const description_language = parameter(
  t.OneOf(reference.teachingLanguageCodes, { description: 'Texts in this language, where a course has them' }),
);

export const courseList = defineList({
  ...common,
  serializer: courseShape,
  filters: {
    customer_id: selectiveFilter(
      { ...t.Id, description: 'Only the corporate courses of this customer' },
      (customerId, ctx) => tenantWhere(ctx, courses, eq(courses.customerId, customerId)),
    ),
    ...dateRange('created_at', courses.createdAt),
    ...dateRange('updated_at', courses.updatedAt),
    description_language,
    ...tagParameters(courses, courses.id, 'courses'),
    ...partnerParameters,
    paginate: parameter(t.Flag({ default: false, description: 'true wraps the list in the envelope' })),
  },
});

const item = defineList({
  ...common,
  serializer: courseItemShape,
  filters: { description_language, ...partnerParameters },
});

type CourseItemQuery = Omit<Parameters<typeof item.page>[1], 'limit' | 'page' | 'since_id'>;
const {
  description_language: language,
  include,
  include_partners,
  partner_id,
  include_deleted,
} = item.Query['properties'] as Record<string, object>;

/** One course, with more includes than in a list. */
export const courseItem = {
  ...item,
  Query: Type.Unsafe<CourseItemQuery>({
    type: 'object',
    properties: { description_language: language, include, include_partners, partner_id, include_deleted },
  }),
};
