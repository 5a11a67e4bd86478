// Text: windows over windows.
import { participantStatus, notLeftSql } from '../../../core/reference/statuses.ts';
import { statement, typedOrNull, type RowOf } from '../../../database/statement.ts';

const isConcerned = (participant: string) =>
  `(${notLeftSql(participant)} or :withLeft and ${participant}.status_id = ${participantStatus.deregistered})`;

/**
 * The participants of a course date who have not left, of the next bookings: up to `maxBookings`, and no more than it
 * takes to have `maxPersons`. `withLeft` adds those who left free of charge. Sorted, not joined: without statistics a
 * join would compare each with all others.
 */
export const findLeaving = statement(
  'find_participants_of_canceled',
  {
    takes: {
      ...({ providerId: 'int', courseDateId: 'int', afterBookingId: 'int', maxBookings: 'int?' } as const),
      ...({ maxPersons: 'int?', startedAt: 'moment', withLeft: 'bool' } as const),
    },
    returns: {
      ...({ id: 'int', userId: 'int', statusId: 'int', courseDateId: 'int', bookingId: 'int' } as const),
      heldFor: typedOrNull<'offer' | 'name' | null>('text'),
      /** False for a person who has another place of the date, which is before this one. */
      isFirst: 'bool',
    },
  },
  `select p.id, p.user_id as "userId", p.status_id as "statusId", p.held_for as "heldFor",
      p.course_date_id as "courseDateId", p.booking_id as "bookingId", p.is_first as "isFirst"
    from (
      select *, dense_rank() over (order by is_next desc, booking_id) as place,
        count(*) filter (where is_next) over (order by booking_id)
          - count(*) filter (where is_next) over (partition by booking_id) as before
      from (
        select p.*, ${isConcerned('p')} and p.booking_id > :afterBookingId as is_next,
          row_number() over (partition by p.user_id, ${notLeftSql('p')} or p.status_updated_at >= :startedAt order by p.booking_id, p.id) = 1 as is_first
        from participants p
        where p.provider_id = :providerId and p.course_date_id = :courseDateId
          and (${isConcerned('p')} or p.status_updated_at >= :startedAt)) p) p
    where p.is_next and (:maxBookings::int is null or p.place <= :maxBookings and p.before < :maxPersons)
    order by p.booking_id, p.id`,
);
export type Leaving = RowOf<typeof findLeaving>;
