import { and, ne, sql } from 'drizzle-orm';
import { postponed } from '../../../core/reference/statuses.ts';
import { toSqlText } from '../../../database/tables/columns.ts';
import { courseDates, seatsStatus } from '../../../database/tables/coursedates.ts';
import { courseInterests } from '../../../database/tables/interests.ts';
import { isUpcoming } from '../coursedates/loaders.ts';
import { isPublicDate } from '../visibility/loaders.ts';
import { maxUnconfirmedDays } from './schema.ts';

/** Condition on the table `course_dates`: dates of the catalog's list that can be booked without a waiting list. */
export const isBookable = and(
  isUpcoming,
  isPublicDate,
  ne(courseDates.statusId, postponed),
  sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
  sql`${seatsStatus(courseDates)} = 'open'`,
)!;
export const isBookableSql = toSqlText(isBookable);

const { confirmedAt, createdAt } = courseInterests;
/** True for an interest whose link works. */
export const isAlive = sql`(${confirmedAt} is not null or ${createdAt} > now() - interval '${sql.raw(String(maxUnconfirmedDays))} days')`;
