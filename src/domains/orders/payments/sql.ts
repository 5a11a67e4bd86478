import { caseFoldedSql } from '../../../database/tables/columns.ts';
import { sharesSql } from '../order-lines/loaders.ts';

/** The price of the place of the participant $2 with VAT, and whether the participant pays it. */
export const findPlacePrice = {
  name: 'find_price_of_place',
  text: `select o.currency, sum(round(s.share * (1 + l.vat_percentage / 100), 2))::text as price,
      o.customer_id is null and coalesce(${caseFoldedSql('b.booker_email')} = ${caseFoldedSql('u.email')}, b.booker_email is null) as "isOwn"
    from participants p
      join course_users u on u.provider_id = $1 and u.id = p.user_id
      join bookings b on b.provider_id = $1 and b.id = p.booking_id
      join order_line_participants n on n.provider_id = $1 and n.participant_id = p.id
      join order_lines l on l.provider_id = $1 and l.id = n.order_line_id
      join orders o on o.provider_id = $1 and o.id = l.order_id and o.kind <> 'credit'
      cross join lateral ${sharesSql('l')} s
    where p.provider_id = $1 and p.id = $2 and s.participant_id = p.id
    group by o.currency, "isOwn"`,
};

/** Payments and refunds of the order `$2`, or of the one that this credit credits, and of its credits; the latest first. */
export const findRefundable = {
  name: 'find_refundable_payments',
  text: `select p.method, p.amount
    from (select case kind when 'credit' then first_order_id else id end as id from orders
        where provider_id = $1 and id = $2) f
      join orders o on o.provider_id = $1 and (o.id = f.id or o.first_order_id = f.id and o.kind = 'credit')
      join payments p on p.provider_id = $1 and p.order_id = o.id and p.reversed_at is null
    order by p.paid_at desc, p.id desc`,
};
