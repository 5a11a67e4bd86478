// Text: sums over windows, of several steps.
import { participantStatus } from '../../../core/reference/statuses.ts';
import { statement } from '../../../database/statement.ts';
import { paysOwnPlaceSql } from '../../orders/payments/loaders.ts';

/**
 * The credits of the moment in which a participant left free of charge: the participant's shares, with VAT, which
 * add up to the amount of each line, and the proportional part of what returned to vouchers. `isOwn` is true if the
 * participant pays the booking, and is the only one of it.
 */
export const findCredit = statement(
  'find_credit_of_left_place',
  {
    takes: { providerId: 'int', participantId: 'int' },
    returns: { currency: 'text', credited: 'numeric', returned: 'numeric', isOwn: 'bool' },
  },
  `with place as (
      select p.id, c.id as credit_id, c.currency, ${paysOwnPlaceSql({ order: 'o', booking: 'b', user: 'u' })}
          and not exists (select from participants q where q.provider_id = :providerId and q.booking_id = b.id and q.id <> p.id) as "isOwn"
      from participants p
        join course_users u on u.provider_id = :providerId and u.id = p.user_id
        join bookings b on b.provider_id = :providerId and b.id = p.booking_id
        join orders o on o.provider_id = :providerId and o.id = b.order_id
        join orders f on f.provider_id = :providerId and (f.id = o.id or f.first_order_id = o.id)
        join orders c on c.provider_id = :providerId and c.first_order_id = f.id and c.kind = 'credit' and c.created_at = p.status_updated_at
      where p.provider_id = :providerId and p.id = :participantId and p.status_id = ${participantStatus.deregistered}
    ), named as (
      select l.order_id, n.participant_id, -(l.net + round(l.net * l.vat_percentage / 100, 2) + l.vat_rounding) as gross,
        sum(n.amount) over line as upto, n.amount, nullif(l.net, 0) as net
      from (select *, quantity * price_at_order - discount_calculated_at_order as net from order_lines
          where provider_id = :providerId and order_id in (select credit_id from place)) l
        cross join lateral (
          select participant_id, coalesce(amount, l.net / count(*) over ()) as amount from order_line_participants
          where provider_id = :providerId and order_line_id = l.id) n
      window line as (partition by l.id order by n.participant_id)
    ), shares as (
      select order_id, participant_id, coalesce(
        sum(round(gross * upto / net, 2) - round(gross * (upto - amount) / net, 2)), 0) as credited
      from named group by order_id, participant_id
    ), returns as (
      select s.*, sum(s.credited) over credit as upto, nullif(sum(s.credited) over (partition by s.order_id), 0) as whole, (
          select coalesce(-sum(r.amount), 0) from voucher_redemptions r
          where r.provider_id = :providerId and r.order_id = s.order_id) as returned
      from shares s window credit as (partition by s.order_id order by s.participant_id))
    select p.currency, sum(r.credited)::text as credited, p."isOwn",
      sum(coalesce(round(r.returned * r.upto / r.whole, 2) - round(r.returned * (r.upto - r.credited) / r.whole, 2), 0))::text as returned
    from place p join returns r on r.order_id = p.credit_id and r.participant_id = p.id
    group by p.currency, p."isOwn"`,
);
