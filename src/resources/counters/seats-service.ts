import { asc, eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { courseDates } from '../../database/tables/coursedates.ts';
import { participants } from '../../database/tables/participants.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { participantStatus } from '../../core/reference/statuses.ts';
import { matchesPage, type Check } from './recount-sql.ts';

const withStatus = (status: number) => sql<string>`count(*) filter (where ${participants.statusId} = ${status})::text`;
const toText = (counter: PgColumn) => sql<string>`${counter}::text`;

const stored = {
  num_confirmed: toText(courseDates.numConfirmed),
  num_overbooked: toText(courseDates.numOverbooked),
  num_unconfirmed: toText(courseDates.numUnconfirmed),
  num_waiting: toText(courseDates.numWaiting),
};
const counted = {
  num_confirmed: withStatus(participantStatus.confirmed),
  num_overbooked: withStatus(participantStatus.overbooked),
  num_unconfirmed: withStatus(participantStatus.unconfirmed),
  num_waiting: withStatus(participantStatus.waiting),
};

/** Seat counters of course dates, recounted from participants. */
export const seatCheck: Check = {
  items: 'course_dates',
  table: courseDates,
  recount: async (db, page) =>
    db
      .select({ providerId: courseDates.providerId, id: courseDates.id, stored, counted })
      .from(courseDates)
      .innerJoin(page, matchesPage(courseDates, page))
      .leftJoin(participants, sameTenant(participants, courseDates, eq(participants.courseDateId, courseDates.id)))
      .groupBy(courseDates.providerId, courseDates.id)
      .orderBy(asc(courseDates.providerId), asc(courseDates.id)),
};
