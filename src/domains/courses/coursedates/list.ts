import { Type } from '@sinclair/typebox';
import { eq, inArray, isNull } from 'drizzle-orm';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import * as tables from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { taughtBy } from '../instructors/filters.ts';
import { seatParameters } from '../seats/filters.ts';
import { partnerParameters, withPartners } from '../../school/schools/partner-filters.ts';
import { tagParameters } from '../tags/filters.ts';
import { fetchCourseDates, isUpcoming } from './loaders.ts';
import { isPublicDate } from '../visibility/loaders.ts';
import { courseDateSerializer, dateOfCourseSerializer, nextCourseDateSerializer } from './serializer.ts';

const ofCourses = (options: { description: string; examples?: number[][] }) =>
  filter.selective(
    t.List(t.Id, options),
    (ids: number[]) => inArray(tables.courseDates.courseId, ids),
    (ids) => ids.length <= 20,
  );

const filters = {
  course_id: ofCourses({ description: 'Only dates of these courses; all unless sent' }),
  coursedate_id: filter.selective({ ...t.Id, description: 'Only this course date; all unless sent' }, (id: number) =>
    eq(tables.courseDates.id, id),
  ),
  ...filter.timestamps(tables.courseDates),
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
  q: filter.search(tables.courseDates, {
    related: { table: courses, by: tables.courseDates.courseId, member: 'course' },
    description: 'the title of the date, or of the title or reference of its course',
  }),
  ...seatParameters,
  is_visible: filter.indexed(
    Type.Boolean({ description: 'true: only visible dates; false: only hidden ones; all unless sent' }),
    { column: tables.courseDates.isVisible },
    (isVisible) => eq(tables.courseDates.isVisible, isVisible),
  ),
  location_id: filter.indexed(
    { ...t.Id, description: 'Only dates at this location; all unless sent' },
    { column: tables.courseDates.locationId },
    (id) => eq(tables.courseDates.locationId, id),
  ),
  instructor_id: taughtBy,
  ...partnerParameters,
  ...tagParameters(tables.courseDates, tables.courseDates.courseId, 'dates of courses'),
};

const startMembers = ['start_at', 'start_time_at', 'timezone'];
const readMembers = {
  course_ids: ['course_id'],
  start_date_at: startMembers,
  startdate: startMembers,
  end_date_at: ['end_at', 'end_time_at', 'timezone'],
  has_participants: ['seats.booking_status'],
  tag_ids: ['course.tags'],
};

const unsorted = {
  table: tables.courseDates,
  isPublic: isPublicDate,
  notDeleted: isNull(tables.courseDates.deletedAt),
  fetch: fetchCourseDates,
  readMembers,
};
const dates = {
  ...unsorted,
  sorting: { name: 'CourseDateOrder', columns: { startdate: tables.courseDates.startsAt } },
};

export const courseDateList = withPartners(
  defineList({ ...dates, serializer: courseDateSerializer, filters, spreadsheet: {} }),
);

/** The newest first, for the feed of the catalog, which shows when a date was created. */
export const newestDateList = defineList({
  ...unsorted,
  serializer: courseDateSerializer,
  filters,
  order: () => ({ column: tables.courseDates.createdAt, descending: true }),
});

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

const upcomingDates = {
  table: tables.courseDates,
  isPublic: isPublicDate,
  condition: isUpcoming,
  filters: {
    ...partnerParameters,
    ...tagParameters(tables.courseDates, tables.courseDates.courseId, 'dates of courses'),
  },
  paging: { defaultLimit: 250, sinceId: false },
  order: () => ({ column: tables.courseDates.startsAt }),
  fetch: fetchCourseDates,
  readMembers,
};

/** The calendar, in order of time; by default one page holds it all. */
export const nextCourseDateList = withPartners(defineList({ ...upcomingDates, serializer: nextCourseDateSerializer }));

/** Dates without default includes. */
export const upcomingDateList = withPartners(defineList({ ...upcomingDates, serializer: courseDateSerializer }));
