import { leftStatuses } from '../../core/reference/statuses.ts';
import type { participants } from '../../database/tables/participants.ts';

const stays = (participant: string) => `${participant}.status_id not in (${leftStatuses.join(', ')})`;

type Participant = typeof participants.$inferSelect;
export type Leaving = Pick<Participant, 'id' | 'userId' | 'statusId' | 'heldFor' | 'courseDateId' | 'bookingId'> & {
  /** False for a person who has another place of the date, which is before this one. */
  isFirst: boolean;
};

/**
 * The participants of the date `$2` who have not left, of the next bookings after `$3`: up to `$4`, and no more than it
 * takes to have `$5` participants. `$6` is the start. Sorted, not joined: without statistics a join would compare each
 * with all others.
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
        select p.*, ${stays('p')} and p.booking_id > $3 as is_next,
          row_number() over (partition by p.user_id order by p.booking_id, p.id) = 1 as is_first
        from participants p
        where p.provider_id = $1 and p.course_date_id = $2 and (${stays('p')} or p.status_updated_at >= $6)) p) p
    where p.is_next and ($4::int is null or p.place <= $4 and p.before < $5)
    order by p.booking_id, p.id`,
};

/**
 * A creditable line of an order. It names `people` participants: those who leave, those who stay elsewhere, and others
 * who left before. `credited` is the share of those who leave of its credits, a negative amount.
 */
export type CreditableLine = {
  orderId: number;
  lineId: number;
  people: number;
  leaving: number[];
  staying: number;
  credited: string;
};

/** Lines of orders of the participants `$2`; a line without names if nobody of its booking stays. */
export const findCreditable = {
  name: 'find_creditable_lines',
  text: `select l.order_id as "orderId", l.id as "lineId", n.people, n.leaving, n.staying,
      coalesce((select sum(round((c.quantity * c.price_at_order - c.discount_calculated_at_order) * m.leaving / m.people, 2))
        from order_lines c cross join lateral (
          select count(*) as people, count(*) filter (where participant_id = any($2::bigint[])) as leaving
          from order_line_participants where provider_id = $1 and order_line_id = c.id) m
        where c.provider_id = $1 and c.credits_line_id = l.id and m.people > 0), 0)::text as credited
    from orders o
      join order_lines l on l.provider_id = o.provider_id and l.order_id = o.id
      cross join lateral (
        select count(*)::int as people, count(*) filter (where ${stays('p')} and p.id <> all($2::bigint[]))::int as staying,
          coalesce(json_agg(p.id order by p.id) filter (where p.id = any($2::bigint[])), '[]') as leaving
        from order_line_participants n join participants p on p.provider_id = n.provider_id and p.id = n.participant_id
        where n.provider_id = $1 and n.order_line_id = l.id) n
    where o.provider_id = $1 and o.kind <> 'credit'
      and o.id in (
        select own.order_id from order_line_participants n
          join order_lines own on own.provider_id = n.provider_id and own.id = n.order_line_id
        where n.provider_id = $1 and n.participant_id = any($2::bigint[])
        union select b.order_id from participants p join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
        where p.provider_id = $1 and p.id = any($2::bigint[]))
      and l.quantity * l.price_at_order - l.discount_calculated_at_order > (
        select coalesce(-sum(c.quantity * c.price_at_order - c.discount_calculated_at_order), 0) from order_lines c
        where c.provider_id = $1 and c.credits_line_id = l.id)
      and (json_array_length(n.leaving) > 0 or n.people = 0 and not exists (
        select from bookings b join participants q on q.provider_id = b.provider_id and q.booking_id = b.id
        where b.provider_id = $1 and b.order_id = o.id and ${stays('q')} and q.id <> all($2::bigint[])))
    order by l.order_id, l.id`,
};

/** Cancellations that are not finished, the oldest first, without those of providers that are being deleted. */
export const findUnfinished = {
  name: 'find_unfinished_cancellations',
  text: `select c.provider_id as "providerId", c.course_date_id as "courseDateId" from cancellations c
    where c.finished_at is null and exists (select from provider_state s where s.provider_id = c.provider_id)
    order by c.created_at, c.provider_id, c.course_date_id limit 100`,
};
