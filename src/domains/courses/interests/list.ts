import { Type } from '@sinclair/typebox';
import { eq, isNotNull, isNull } from 'drizzle-orm';
import { t } from '../../../core/schema/types.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { defineList } from '../../../lists/define-list.ts';
import { filter } from '../../../lists/filters.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { Interest, toInterest, type InterestRow } from './schema.ts';

const interestSerializer = defineSerializer<InterestRow>()({
  reads: ['people'],
  responseSchema: Interest,
  toResponse: toInterest,
});

/** The interests in the course of the path. */
export const interestList = defineList({
  table: courseInterests,
  serializer: interestSerializer,
  pathFilters: { course_id: filter.selective(t.Id, (id) => eq(courseInterests.courseId, id)) },
  filters: {
    email: filter.email(
      { description: 'Only of this e-mail address, without regard to case; all unless sent' },
      courseInterests.email,
    ),
    confirmed: filter.plain(
      Type.Boolean({ description: 'true: only confirmed ones; false: only others; all unless sent' }),
      (isConfirmed) => (isConfirmed ? isNotNull : isNull)(courseInterests.confirmedAt),
    ),
    notified: filter.plain(
      Type.Boolean({ description: 'true: only those that were mailed a date; false: only others; all unless sent' }),
      (isNotified) => (isNotified ? isNotNull : isNull)(courseInterests.notifiedAt),
    ),
    ...filter.dateRange('created_at', courseInterests.createdAt),
  },
});
