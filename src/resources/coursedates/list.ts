import { Type } from '@sinclair/typebox';
import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import * as tables from '../../database/tables/coursedates.ts';
import { courses } from '../../database/tables/courses.ts';
import { filter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import * as statuses from '../../core/reference/statuses.ts';
import { partnerParameters, withPartners } from '../schools/partner-filters.ts';
import { tagParameters } from '../tags/filters.ts';
import { fetchCourseDates, isPublicDate, isShownAfterDeadline } from './loaders.ts';
import { courseDateSerializer, dateOfCourseSerializer, nextCourseDateSerializer } from './serializer.ts';

const ofCourses = (options: { description: string; examples?: number[][] }) =>
  filter.selective(
    t.List(t.Id, options),
    (ids: number[]) => inArray(tables.courseDates.courseId, ids),
    (ids) => ids.length <= 20,
  );

const CourseDateOrder = t.named('CourseDateOrder', t.OneOf(['id', 'startdate']));
const OrderDirection = t.named('OrderDirection', t.OneOf(['asc', 'desc']));

const filters = {
  course_id: ofCourses({ description: 'Only dates of these courses; all unless sent' }),
  coursedate_id: filter.selective({ ...t.Id, description: 'Only this course date; all unless sent' }, (id: number) =>
    eq(tables.courseDates.id, id),
  ),
  ...filter.dateRange('created_at', tables.courseDates.createdAt),
  ...filter.dateRange('updated_at', tables.courseDates.updatedAt),
  ...filter.momentRange('start_date_at', tables.courseDates.startsAt),
  ...filter.momentRange('end_date_at', tables.courseDates.endsAt),
  status_id: filter.plain(
    { ...codes.courseDateStatus.Code, description: 'Only dates of this status; all unless sent' },
    (id) => eq(tables.courseDates.statusId, id),
  ),
  has_participants: filter.plain(
    Type.Boolean({
      description:
        'true: with a participant, confirmed, overbooked, unconfirmed or waiting; false: without any; all unless sent',
    }),
    (hasParticipants) => eq(tables.courseDates.hasParticipants, hasParticipants),
  ),
  order_by: filter.parameter({
    ...CourseDateOrder,
    default: 'id',
    description: 'Sort by id or start; equal starts by id',
  }),
  order_direction: filter.parameter({ ...OrderDirection, default: 'asc', description: 'Ascending or descending' }),
  ...partnerParameters,
  ...tagParameters(tables.courseDates, tables.courseDates.courseId, 'dates of courses'),
};

const dates = {
  table: tables.courseDates,
  isPublic: isPublicDate,
  notDeleted: isNull(tables.courseDates.deletedAt),
  order({ order_by, order_direction }: { order_by?: unknown; order_direction?: unknown }) {
    const descending = order_direction === 'desc';
    if (order_by === 'startdate') return { column: tables.courseDates.startsAt, descending };
    return descending ? { column: tables.courseDates.id, descending } : undefined;
  },
  fetch: fetchCourseDates,
};

export const courseDateList = withPartners(defineList({ ...dates, serializer: courseDateSerializer, filters }));

export const datesOfCourseList = withPartners(
  defineList({
    ...dates,
    serializer: dateOfCourseSerializer,
    filters,
    includeName: 'CourseDateInclude',
  }),
);

/** The dates of the courses in `course_ids`, on shorter pages. */
export const batchCourseDateList = withPartners(
  defineList({
    ...dates,
    serializer: courseDateSerializer,
    filters: { course_ids: ofCourses({ description: 'Only dates of these courses', examples: [[1, 39]] }), ...filters },
    requiredFilters: ['course_ids'],
    paging: { defaultLimit: 25 },
  }),
);

/** Visible dates of active courses, not canceled and no children, from today on in the date's time zone. */
const upcoming = and(
  eq(tables.courseDates.isVisible, true),
  isNull(tables.courseDates.deletedAt),
  ne(tables.courseDates.statusId, statuses.canceled),
  isNull(tables.courseDates.parentId),
  isShownAfterDeadline,
  // No zone is more than a day away: the first bound uses the index, the second checks zones only near today.
  sql`${tables.courseDates.startsAt} >= now() - interval '2 days'`,
  sql`(${tables.courseDates.startsAt} >= now() + interval '2 days'
    or ${tables.courseDates.startAt} >= timezone(${tables.courseDates.zone}, now())::date)`,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    tables.courseDates,
    eq(courses.id, tables.courseDates.courseId),
    eq(courses.isActive, true),
    isNull(courses.deletedAt),
  )})`,
)!;

/** The calendar, in order of time; by default one page holds it all. */
export const nextCourseDateList = withPartners(
  defineList({
    table: tables.courseDates,
    serializer: nextCourseDateSerializer,
    isPublic: isPublicDate,
    condition: upcoming,
    filters: {
      ...partnerParameters,
      ...tagParameters(tables.courseDates, tables.courseDates.courseId, 'dates of courses'),
    },
    paging: { defaultLimit: 250, sinceId: false },
    order: () => ({ column: tables.courseDates.startsAt }),
    fetch: fetchCourseDates,
  }),
);
