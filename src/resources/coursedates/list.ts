import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import { CourseDateStatusId } from '../../schema/codes.ts';
import * as t from '../../schema/types.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { dateRange, filter, momentRange, selectiveFilter, parameter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { sameTenant, inScope, type Tenant, type TenantScope } from '../../lists/tenant-scope.ts';
import { canceled } from '../../reference/statuses.ts';
import { partnerParameters } from '../schools/partner-schema.ts';
import { tagParameters } from '../courses/tag-filters.ts';
import {
  courseDateSerializer,
  dateOfCourseSerializer,
  fetchCourseDates,
  isPublicDate,
  isShownAfterDeadline,
  nextCourseDateSerializer,
} from './serializer.ts';

const within = (tenant: Tenant, scope: TenantScope) => inScope(tenant, scope, courseDates.providerId, isPublicDate);

const ofCourses = selectiveFilter(
  t.List(t.Id, { description: 'Only dates of these courses' }),
  (ids: number[]) => inArray(courseDates.courseId, ids),
  (ids) => ids.length <= 20,
);

const filters = {
  course_id: ofCourses,
  coursedate_id: selectiveFilter({ ...t.Id, description: 'Only this course date' }, (id: number) =>
    eq(courseDates.id, id),
  ),
  ...dateRange('created_at', courseDates.createdAt),
  ...dateRange('updated_at', courseDates.updatedAt),
  ...momentRange('start_date_at', courseDates.startsAt),
  ...momentRange('end_date_at', courseDates.endsAt),
  status_id: filter({ ...CourseDateStatusId, description: 'Only dates of this status' }, (id) =>
    eq(courseDates.statusId, id),
  ),
  has_participants: filter(
    t.Flag({
      description: 'true: with a participant, confirmed, overbooked, unconfirmed or waiting; false: without any',
    }),
    (hasParticipants) => eq(courseDates.hasParticipants, hasParticipants),
  ),
  order_by: parameter(t.OneOf(['id', 'startdate'], { default: 'id', description: 'Equal starts are by id' })),
  order_direction: parameter(t.OneOf(['asc', 'desc'], { default: 'asc', description: 'Ascending or descending' })),
  ...partnerParameters,
  ...tagParameters(courseDates, courseDates.courseId, 'dates of courses'),
};

const dates = {
  table: courseDates,
  scope: within,
  notDeleted: isNull(courseDates.deletedAt),
  order({ order_by, order_direction }: { order_by?: unknown; order_direction?: unknown }) {
    const descending = order_direction === 'desc';
    if (order_by === 'startdate') return { column: courseDates.startsAt, descending };
    return descending ? { column: courseDates.id, descending } : undefined;
  },
  fetch: fetchCourseDates,
};

export const courseDateList = defineList({ ...dates, serializer: courseDateSerializer, filters });

export const datesOfCourseList = defineList({ ...dates, serializer: dateOfCourseSerializer, filters });

/** The dates of the courses in `course_ids`, on shorter pages. */
export const batchCourseDateList = defineList({
  ...dates,
  serializer: courseDateSerializer,
  filters: { course_ids: ofCourses, ...filters },
  requiredFilters: ['course_ids'],
  paging: { defaultLimit: 25 },
});

/** Visible dates of active courses, not canceled and no children, from today on in the date's time zone. */
const upcoming = and(
  eq(courseDates.isVisible, true),
  isNull(courseDates.deletedAt),
  ne(courseDates.statusId, canceled),
  isNull(courseDates.parentId),
  isShownAfterDeadline,
  // No zone is more than a day away: the first bound uses the index, the second checks zones only near today.
  sql`${courseDates.startsAt} >= now() - interval '2 days'`,
  sql`(${courseDates.startsAt} >= now() + interval '2 days'
    or ${courseDates.startAt} >= timezone(${courseDates.zone}, now())::date)`,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    courseDates,
    eq(courses.id, courseDates.courseId),
    eq(courses.isActive, true),
    isNull(courses.deletedAt),
  )})`,
)!;

/** The calendar, in order of time; by default one page holds it all. */
export const nextCourseDateList = defineList({
  table: courseDates,
  serializer: nextCourseDateSerializer,
  scope: (tenant, scope) => and(within(tenant, scope), upcoming)!,
  filters: { ...partnerParameters, ...tagParameters(courseDates, courseDates.courseId, 'dates of courses') },
  paging: { defaultLimit: 250, sinceId: false },
  order: () => ({ column: courseDates.startsAt }),
  fetch: fetchCourseDates,
});
