import { and, asc, eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { courseDates } from '../database/tables/coursedates.ts';
import { participants } from '../database/tables/participants.ts';
import { seat } from '../reference/statuses.ts';
import { onPage, type Check } from './check.ts';

const withStatus = (status: number) => sql<string>`count(*) filter (where ${participants.statusId} = ${status})::text`;
const asText = (counter: PgColumn) => sql<string>`${counter}::text`;

const stored = {
  num_confirmed: asText(courseDates.numConfirmed),
  num_overbooked: asText(courseDates.numOverbooked),
  num_unconfirmed: asText(courseDates.numUnconfirmed),
  num_waiting: asText(courseDates.numWaiting),
};
const counted = {
  num_confirmed: withStatus(seat.confirmed),
  num_overbooked: withStatus(seat.overbooked),
  num_unconfirmed: withStatus(seat.unconfirmed),
  num_waiting: withStatus(seat.waiting),
};

/** The seat counters of course dates, from their participants. */
export const seats: Check = {
  items: 'course_dates',
  table: courseDates,
  recount: async (db, page) =>
    db
      .select({ providerId: courseDates.providerId, id: courseDates.id, stored, counted })
      .from(courseDates)
      .innerJoin(page, onPage(courseDates, page))
      .leftJoin(
        participants,
        and(eq(participants.providerId, courseDates.providerId), eq(participants.courseDateId, courseDates.id)),
      )
      .groupBy(courseDates.providerId, courseDates.id)
      .orderBy(asc(courseDates.providerId), asc(courseDates.id)),
};
