import { sql } from 'drizzle-orm';
import { canceled, participantStatus } from '../../../core/reference/statuses.ts';
import { columnName, currentTimeSql } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { participants } from '../../../database/tables/participants.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import type { Seats } from './schema.ts';

const offersOn = (date: string, condition: string) => `from participants o where o.provider_id = ${date}.provider_id
      and o.course_date_id = ${date}.id and o.status_id = ${participantStatus.unconfirmed} and ${condition}`;
/** SQL for a date; costs nothing without unconfirmed participants. */
const ifUnconfirmed = (date: string, value: string, otherwise: string) =>
  `case when ${date}.num_unconfirmed > 0 then ${value} else ${otherwise} end`;

const openOffersSql = (date: string) =>
  ifUnconfirmed(date, `(select count(*)::int ${offersOn(date, 'o.held_until is not null')})`, '0');
/** True if an offer has ended that still holds its seat. */
export const hasDueOffersSql = (date: string) =>
  ifUnconfirmed(date, `exists (select ${offersOn(date, `o.held_until <= ${currentTimeSql}`)})`, 'false');

/** True for a date on which participants may move up. */
export const isOngoingSql = (date: string) =>
  `(${date}.status_id <> ${canceled} and ${date}.deleted_at is null and ${date}.ends_at > ${currentTimeSql})`;

const { capacityMax, capacityOverbook, capacityWait } = courseDates;
const { numConfirmed, numOverbooked, numUnconfirmed, numWaiting } = courseDates;
const stored = { capacityMax, capacityOverbook, capacityWait, numConfirmed, numOverbooked, numUnconfirmed, numWaiting };

/** The seats of `course_dates`. */
export const seatColumns = { ...stored, openOffers: sql<number>`${sql.raw(openOffersSql('course_dates'))}` };
/** SQL for the same columns, and their kinds in a declared statement. */
export const seatsSql = (date: string) =>
  [
    ...Object.entries(stored).map(([name, column]) => `${date}.${columnName(column)} as "${name}"`),
    `${openOffersSql(date)} as "openOffers"`,
  ].join(', ');
export const seatReturns = {
  ...({ capacityMax: 'int', capacityOverbook: 'int', capacityWait: 'int', openOffers: 'int' } as const),
  ...({ numConfirmed: 'int', numOverbooked: 'int', numUnconfirmed: 'int', numWaiting: 'int' } as const),
} satisfies Record<keyof Seats, 'int'>;

/** How many offers of the date `course_dates` have ended that still hold their seats; only second ones if that is sent. */
export const dueOffers = (lapsedBefore = 0) => {
  const isDue = `o.held_until <= ${currentTimeSql} and o.lapsed_offers >= ${lapsedBefore}`;
  return sql.raw(ifUnconfirmed('course_dates', `(select count(*) ${offersOn('course_dates', isDue)})`, '0'));
};
/** Somebody waits on the date `course_dates`, or is about to. */
export const hasWaiting = sql`course_dates.num_waiting + ${dueOffers()} > 0`;

/** The number of open offers of course dates that have any. */
export const fetchOpenOffers = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: participants.courseDateId, open: sql<number>`count(*)::int` })
    .from(participants)
    .where(sql`${keys.match(participants, participants.courseDateId)} and ${participants.heldUntil} is not null`)
    .groupBy(participants.courseDateId),
);
