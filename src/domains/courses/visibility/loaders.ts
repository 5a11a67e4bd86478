import { eq, inArray, isNull, sql, or } from 'drizzle-orm';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { allOf, sameTenant } from '../../../lists/tenant-scope.ts';

/** A course that is public, or was until it was deleted. */
export const isOrWasPublicCourse = allOf(
  eq(courses.isActive, true),
  eq(courses.type, 'public'),
  inArray(courses.publishingPlatform, ['both', 'catalog']),
);

/** Courses that the public and partners may see. */
export const isPublicCourse = allOf(isOrWasPublicCourse, isNull(courses.deletedAt));

/** The deadline ends with its day in the time zone of the date. */
export const isShownAfterDeadline = or(
  eq(courseDates.visibleWhenPassedDeadline, true),
  sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
)!;

/** Course dates that the public and partners may see. */
export const isPublicDate = allOf(
  eq(courseDates.isVisible, true),
  isNull(courseDates.deletedAt),
  isShownAfterDeadline,
  sql`exists (select from ${courses} where ${sameTenant(
    courses,
    courseDates,
    eq(courses.id, courseDates.courseId),
    isPublicCourse,
  )})`,
);
