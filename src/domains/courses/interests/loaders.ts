import { and, ne, sql } from 'drizzle-orm';
import { postponed } from '../../../core/reference/statuses.ts';
import { caseFoldedSql, toSqlText } from '../../../database/tables/columns.ts';
import { courseDates, seatsStatus } from '../../../database/tables/coursedates.ts';
import { isUpcoming } from '../coursedates/loaders.ts';
import { isPublicDate } from '../visibility/loaders.ts';
import { maxUnconfirmedDays } from './schema.ts';

/** Condition on the table `course_dates`: dates of the catalog's list that can be booked without a waiting list. */
export const isBookableSql = toSqlText(
  and(
    isUpcoming,
    isPublicDate,
    ne(courseDates.statusId, postponed),
    sql`${courseDates.deadlineAt} >= timezone(${courseDates.zone}, now())::date`,
    sql`${seatsStatus(courseDates)} = 'open'`,
  )!,
);

/** True for an interest whose link works. */
export const isAliveSql = (interest: string) =>
  `(${interest}.confirmed_at is not null or ${interest}.created_at > now() - interval '${maxUnconfirmedDays} days')`;

/** The stored form of an address. */
export const interestEmailSql = (email: string) => caseFoldedSql(email);
