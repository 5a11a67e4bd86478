import { eq, isNull } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import * as tables from '../../../database/tables/courses.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { partnerParameters, withPartners } from '../../school/schools/partner-filters.ts';
import { tagParameters } from '../tags/filters.ts';
import { isPublicCourse } from '../visibility/loaders.ts';
import { courseItemSerializer, courseSerializer } from './serializer.ts';

const common = {
  table: tables.courses,
  isPublic: isPublicCourse,
  notDeleted: isNull(tables.courses.deletedAt),
  readMembers: { tag_ids: ['tags'] },
};
const description_language = filter.parameter({
  ...codes.teachingLanguage.Code,
  description: 'Texts in this language, where a course has them; in its own language unless sent',
});

export const courseList = withPartners(
  defineList({
    ...common,
    serializer: courseSerializer,
    sorting: {},
    filters: {
      customer_id: filter.selective(
        { ...t.Id, description: 'Only the corporate courses of this customer; all courses unless sent' },
        (customerId) => eq(tables.courses.customerId, customerId),
      ),
      is_active: filter.indexed(
        Type.Boolean({ description: 'true: only active courses; false: only inactive ones; all unless sent' }),
        { column: tables.courses.isActive },
        (isActive) => eq(tables.courses.isActive, isActive),
      ),
      reference: filter.text(
        {
          description: 'Only courses of this reference, without regard to case; all unless sent',
        },
        tables.courses.reference,
      ),
      q: filter.search(tables.courses, { description: 'the title or reference' }),
      ...filter.timestamps(tables.courses),
      description_language,
      ...tagParameters(tables.courses, tables.courses.id, 'courses'),
      ...partnerParameters,
      paginate: filter.parameter(
        Type.Boolean({
          default: false,
          description: 'true: an object with `pagination` and `items` instead of an array',
        }),
      ),
    },
  }),
);

const item = withPartners(
  defineList({
    ...common,
    serializer: courseItemSerializer,
    filters: { description_language, ...partnerParameters },
    paging: false,
  }),
);

const { include, include_deleted } = item.itemParameters;

/** One course, with more includes than in a list. */
export const courseItem = {
  byId: item.byId,
  View: item.View,
  forbidden: item.forbidden,
  Query: Type.Unsafe<Parameters<typeof item.page>[1]>(
    Type.Object({
      description_language: Type.Optional(description_language.schema),
      ...{ include: include!, include_partners: Type.Optional(partnerParameters.include_partners.schema) },
      ...{ partner_id: Type.Optional(partnerParameters.partner_id.schema), include_deleted: include_deleted! },
    }),
  ),
};
