import { participantStatus } from '../../../core/reference/statuses.ts';
import { caseFoldedSql } from '../../../database/tables/columns.ts';

/** Those of the participants `$2` who have registered attendance. */
export const findAttended = {
  name: 'find_attended_of_moved',
  text: `select distinct participant_id as id from attendances
    where provider_id = $1 and participant_id = any($2::bigint[]) and attended is not null order by 1`,
};

export const moveParticipants = {
  name: 'move_participants',
  text: `update participants p set course_id = $3, course_date_id = $4, status_id = m."statusId", held_for = m."heldFor",
      held_until = null, lapsed_offers = 0, status_updated_at = $5, updated_at = $5
    from json_to_recordset($2) m (id bigint, "statusId" smallint, "heldFor" text)
    where p.provider_id = $1 and p.id = m.id`,
};

/** The customer and the company of the participant's order; `isAttended` is true once attendance was registered. */
export const findPlace = {
  name: 'find_swapped_place',
  text: `select o.customer_id as "customerId", o.custom_properties->>'company' as company,
      o.custom_properties->>'company_number' as "companyNumber", exists (
        select from attendances a
        where a.provider_id = $1 and a.participant_id = p.id and a.attended is not null) as "isAttended"
    from participants p
      join bookings b on b.provider_id = $1 and b.id = p.booking_id
      join orders o on o.provider_id = $1 and o.id = b.order_id
    where p.provider_id = $1 and p.id = $2`,
};
export type PlaceFound = {
  customerId: number | null;
  company: string | null;
  companyNumber: string | null;
  isAttended: boolean;
};

/** Orders show their participants. */
export const touchOrders = {
  name: 'touch_orders_of_participants',
  text: `update orders set updated_at = $3 where provider_id = $1 and id in (
    select b.order_id from participants p join bookings b on b.provider_id = $1 and b.id = p.booking_id
    where p.provider_id = $1 and p.id = any($2::bigint[])
    union select l.order_id from order_line_participants p
      join order_lines l on l.provider_id = $1 and l.id = p.order_line_id
    where p.provider_id = $1 and p.participant_id = any($2::bigint[]))`,
};

/** Only attendance that was taken back is left here: a registered one forbids a swap or a move. */
export const deleteAttendances = {
  name: 'delete_attendances',
  text: `with marks as (delete from attendance_marks where provider_id = $1 and participant_id = any($2::bigint[]))
    delete from attendances where provider_id = $1 and participant_id = any($2::bigint[])`,
};

/** Notices that named the person of the participant `$2` before a swap, whom `$3` is. */
export const nameFormerUser = {
  name: 'name_former_user_of_notices',
  text: `update outbox set named_user_id = $3
    where provider_id = $1 and participant_id = $2 and num_nonnulls(user_id, named_user_id, booking_id) = 0
      and (sent_at is not null or attempts > 0)`,
};

/** The address of a participant ($2), or the booker's for one without. */
export const findRecipient = {
  name: 'find_recipient_of_cancellation',
  text: `select coalesce(u.email, b.booker_email) as email
    from participants p
      join course_users u on u.provider_id = $1 and u.id = p.user_id
      left join bookings b on b.provider_id = $1 and b.id = p.booking_id
    where p.provider_id = $1 and p.id = $2 and coalesce(u.email, b.booker_email) is not null`,
};

/**
 * The credits of the moment in which the participant $2 left free of charge: the participant's shares, with VAT, which
 * add up to the amount of each line, and the proportional part of what returned to vouchers. `isOwn` is true if the
 * participant pays the booking, and is the only one of it.
 */
export const findCredit = {
  name: 'find_credit_of_left_place',
  text: `with place as (
      select p.id, c.id as credit_id, c.currency, o.customer_id is null
          and coalesce(${caseFoldedSql('b.booker_email')} = ${caseFoldedSql('u.email')}, b.booker_email is null)
          and not exists (select from participants q where q.provider_id = $1 and q.booking_id = b.id and q.id <> p.id) as "isOwn"
      from participants p
        join course_users u on u.provider_id = $1 and u.id = p.user_id
        join bookings b on b.provider_id = $1 and b.id = p.booking_id
        join orders o on o.provider_id = $1 and o.id = b.order_id
        join orders f on f.provider_id = $1 and (f.id = o.id or f.first_order_id = o.id)
        join orders c on c.provider_id = $1 and c.first_order_id = f.id and c.kind = 'credit' and c.created_at = p.status_updated_at
      where p.provider_id = $1 and p.id = $2 and p.status_id = ${participantStatus.deregistered}
    ), named as (
      select l.order_id, n.participant_id, -(l.net + round(l.net * l.vat_percentage / 100, 2) + l.vat_rounding) as gross,
        sum(n.amount) over line as upto, n.amount, nullif(l.net, 0) as net
      from (select *, quantity * price_at_order - discount_calculated_at_order as net from order_lines
          where provider_id = $1 and order_id in (select credit_id from place)) l
        cross join lateral (
          select participant_id, coalesce(amount, l.net / count(*) over ()) as amount from order_line_participants
          where provider_id = $1 and order_line_id = l.id) n
      window line as (partition by l.id order by n.participant_id)
    ), shares as (
      select order_id, participant_id, coalesce(
        sum(round(gross * upto / net, 2) - round(gross * (upto - amount) / net, 2)), 0) as credited
      from named group by order_id, participant_id
    ), returns as (
      select s.*, sum(s.credited) over credit as upto, nullif(sum(s.credited) over (partition by s.order_id), 0) as whole, (
          select coalesce(-sum(r.amount), 0) from voucher_redemptions r
          where r.provider_id = $1 and r.order_id = s.order_id) as returned
      from shares s window credit as (partition by s.order_id order by s.participant_id))
    select p.currency, sum(r.credited)::text as credited, p."isOwn",
      sum(coalesce(round(r.returned * r.upto / r.whole, 2) - round(r.returned * (r.upto - r.credited) / r.whole, 2), 0))::text as returned
    from place p join returns r on r.order_id = p.credit_id and r.participant_id = p.id
    group by p.currency, p."isOwn"`,
};
export type CreditFound = { currency: string; credited: string; returned: string; isOwn: boolean };
