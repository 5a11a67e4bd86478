import { participantStatus, staysSql } from '../../../core/reference/statuses.ts';
import type { participants } from '../../../database/tables/participants.ts';

const isConcerned = (participant: string) =>
  `(${staysSql(participant)} or $7 and ${participant}.status_id = ${participantStatus.deregistered})`;

type Participant = typeof participants.$inferSelect;
export type Leaving = Pick<Participant, 'id' | 'userId' | 'statusId' | 'heldFor' | 'courseDateId' | 'bookingId'> & {
  /** False for a person who has another place of the date, which is before this one. */
  isFirst: boolean;
};

/**
 * The participants of the date `$2` who have not left, of the next bookings after `$3`: up to `$4`, and no more than it
 * takes to have `$5` participants. `$6` is the start. With `$7` those who left free of charge, too. Sorted, not joined:
 * without statistics a join would compare each with all others.
 */
export const findLeaving = {
  name: 'find_participants_of_canceled',
  text: `select p.id, p.user_id as "userId", p.status_id as "statusId", p.held_for as "heldFor",
      p.course_date_id as "courseDateId", p.booking_id as "bookingId", p.is_first as "isFirst"
    from (
      select *, dense_rank() over (order by is_next desc, booking_id) as place,
        count(*) filter (where is_next) over (order by booking_id)
          - count(*) filter (where is_next) over (partition by booking_id) as before
      from (
        select p.*, ${isConcerned('p')} and p.booking_id > $3 as is_next,
          row_number() over (partition by p.user_id, ${staysSql('p')} or p.status_updated_at >= $6 order by p.booking_id, p.id) = 1 as is_first
        from participants p
        where p.provider_id = $1 and p.course_date_id = $2 and (${isConcerned('p')} or p.status_updated_at >= $6)) p) p
    where p.is_next and ($4::int is null or p.place <= $4 and p.before < $5)
    order by p.booking_id, p.id`,
};

/** Cancellations that are not finished, the oldest first, without those of providers that are being deleted. */
export const findUnfinished = {
  name: 'find_unfinished_cancellations',
  text: `select c.provider_id as "providerId", c.course_date_id as "courseDateId" from cancellations c
    where c.finished_at is null and exists (select from provider_state s where s.provider_id = c.provider_id)
    order by c.created_at, c.provider_id, c.course_date_id limit 100`,
};
