import { staysSql } from '../../../core/reference/statuses.ts';
import { keepsCampaign } from '../campaigns/loaders.ts';
import { sharesSql } from '../order-lines/loaders.ts';

/** The shares of the participants of the lines of an order `$2`, in the order in which those who left did so. */
export const findShares = {
  name: 'find_line_shares',
  text: `select l.id as "lineId", p.id, p.status_id as "statusId", p.held_for as "heldFor",
      p.course_date_id as "courseDateId", s.charged::text, s.share::text, s.is_credited as "isCredited"
    from order_lines l cross join lateral ${sharesSql('l')} s
      join participants p on p.provider_id = l.provider_id and p.id = s.participant_id
    where l.provider_id = $1 and l.order_id = $2 order by l.id, p.status_updated_at, p.id`,
};

/**
 * Inserts a credit or a difference with its lines: a copy of its first order `$2` in what an invoice needs. `$4` is its
 * kind, `$5` to `$7` are the totals, `$11` are its lines, `$12` the participants whom they name with their shares.
 * Returns its id.
 */
export const insertFollowingOrder = {
  name: 'insert_following_order',
  text: `with new_order as (
      insert into orders (id, provider_id, created_at, updated_at, kind, first_order_id, title, title_detailed, currency,
        customer_id, campaign_id, seller_id, payment_method, your_reference, booker, gln_number, invoice_address,
        invoice_address_2, invoice_address_3, invoice_zipcode, invoice_city, invoice_email, kept_until, kept_user_id, total_before_discounts,
        total_discounts, total_vat, credit_applied, credit_reason, is_paid, custom_properties)
      overriding system value
      select o.id, f.provider_id, $3, $3, $4, f.id,
        coalesce($14, regexp_replace(f.title, ' #' || f.id || '$', '')) || ' #' || o.id, coalesce($15, f.title_detailed),
        f.currency, f.customer_id, case $4 when 'credit' then f.campaign_id end, f.seller_id, f.payment_method,
        f.your_reference, f.booker, f.gln_number, f.invoice_address, f.invoice_address_2, f.invoice_address_3,
        f.invoice_zipcode, f.invoice_city, f.invoice_email, f.kept_until, f.kept_user_id, $5, $6, $7, $8, $9, $10,
        nullif(coalesce(f.custom_properties - '{voucher_code,voucher_amount}'::text[], '{}') || $13::jsonb, '{}')
      from orders f cross join (select nextval('orders_id_seq') as id) o
      where f.provider_id = $1 and f.id = $2
      returning id),
    new_lines as (
      insert into order_lines (provider_id, created_at, updated_at, order_id, product_id, quantity, price_at_order,
        discount_percent_at_order, discount_amount_at_order, discount_calculated_at_order, vat_percentage,
        credits_line_id, vat_rounding)
      select $1, $3, $3, o.id, l.product, l.quantity, l.price, l.percent, l.amount, l.calculated, l.vat, l.credits, l.rounding
      from new_order o, json_to_recordset($11) l (place int, product bigint, quantity int, price numeric, percent numeric,
        amount numeric, calculated numeric, vat numeric, credits bigint, rounding numeric)
      order by l.place
      returning id, product_id, credits_line_id),
    named as (
      insert into order_line_participants (provider_id, order_line_id, participant_id, amount, is_credited)
      select $1, l.id, p.participant, p.amount, coalesce(p."isCredited", false)
      from json_to_recordset($12) p (line bigint, participant bigint, amount numeric, "isCredited" boolean)
        join new_lines l on l.credits_line_id is not distinct from p.line)
    select id from new_order`,
};

/** The redeemed amount of each voucher of an order that is not archived, less what credits returned to it. */
export const returnableSql = (provider: string, order: string) => `
    select r.voucher_id as "voucherId", v.code, sum(r.amount)::text as amount
    from orders o
      join voucher_redemptions r on r.provider_id = o.provider_id and r.order_id = o.id
      join vouchers v on v.provider_id = r.provider_id and v.id = r.voucher_id
    where o.provider_id = ${provider} and (o.id = ${order} or o.first_order_id = ${order} and o.kind = 'credit')
      and num_nonnulls(v.archived_at, v.deleted_at) = 0
    group by r.voucher_id, v.code having sum(r.amount) > 0 order by r.voucher_id`;
export const findReturnable = { name: 'find_returnable_redemptions', text: returnableSql('$1', '$2') };

/** Of the row of `orders`: what archived vouchers paid that none of its credits owes. */
export const archivedSql = `(
    select greatest(0, sum(v.archived) - coalesce(
      sum(o.total_discounts - o.total_before_discounts - o.total_vat - o.credit_applied + v.paid)
        filter (where o.kind = 'credit'), 0))
    from orders o cross join lateral (
      select coalesce(sum(r.amount), 0) as paid,
        coalesce(sum(r.amount) filter (where num_nonnulls(v.archived_at, v.deleted_at) > 0), 0) as archived
      from voucher_redemptions r join vouchers v on v.provider_id = r.provider_id and v.id = r.voucher_id
      where r.provider_id = o.provider_id and r.order_id = o.id) v
    where o.provider_id = orders.provider_id and (o.id = orders.id or o.first_order_id = orders.id and o.kind = 'credit'))`;

/** Returns amounts to vouchers, by the credit `$2`. */
export const returnToVouchers = {
  name: 'return_to_vouchers',
  text: `with returned as (
      select voucher, amount from json_to_recordset($3) r (voucher bigint, amount numeric)),
    raised as (
      update vouchers v set balance = v.balance + r.amount, updated_at = $4
      from returned r where v.provider_id = $1 and v.id = r.voucher)
    insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at)
    select $1, voucher, $2, -amount, $4 from returned`,
};

/**
 * The lines that name the participant `$2`, of the booked course or of differences, and the credits of those lines, the
 * newest line first; each with the participants whom it names, the stored share of `$2`, and whether its campaign
 * counts for the course `$3`.
 */
export const findPriceLines = {
  name: 'find_price_lines',
  text: `select l.quantity, l.price_at_order as "priceAtOrder", l.discount_percent_at_order as "discountPercentAtOrder",
      l.discount_amount_at_order as "discountAmountAtOrder",
      l.discount_calculated_at_order as "discountCalculatedAtOrder", l.vat_percentage as "vatPercentage",
      l.vat_rounding as "vatRounding", s.id as "sourceId", s.order_id as "orderId", b.order_id as "firstOrderId",
      p.id as "productId", p.course_id as "courseId", o.currency, o.kind = 'order' and l.id = s.id as "isBooked",
      ${keepsCampaign('$1', 'o', '$3::bigint')} as "keepsPercent",
      to_json(array(
        select m.participant_id from order_line_participants m
        where m.provider_id = $1 and m.order_line_id = l.id order by 1)) as people,
      (select m.amount from order_line_participants m
        where m.provider_id = $1 and m.order_line_id = l.id and m.participant_id = $2)::text as amount
    from participants t
      join bookings b on b.provider_id = t.provider_id and b.id = t.booking_id
      join course_dates d on d.provider_id = b.provider_id and d.id = b.course_date_id
      join order_line_participants n on n.provider_id = t.provider_id and n.participant_id = t.id
      join order_lines s on s.provider_id = n.provider_id and s.id = n.order_line_id and s.credits_line_id is null
      join order_lines l on l.provider_id = s.provider_id and (l.id = s.id or l.credits_line_id = s.id)
      join orders o on o.provider_id = s.provider_id and o.id = s.order_id
      join products p on p.provider_id = s.provider_id and p.id = s.product_id
    where t.provider_id = $1 and t.id = $2 and (o.kind = 'difference' or p.course_id = d.course_id)
    order by s.id desc, l.id`,
};

/**
 * A creditable line of an order: those of the participants `$2` of whom something is left, or the first of its booking if
 * it names nobody.
 */
export type CreditableLine = { orderId: number; firstOrderId: number | null; lineId: number; people: number[] };

const ofBooking = `from bookings b join participants q on q.provider_id = b.provider_id and q.booking_id = b.id
          where b.provider_id = $1 and b.order_id = coalesce(o.first_order_id, o.id)`;

/** Lines of orders of the participants `$2`; a line without names if nobody of its booking stays. */
export const findCreditable = {
  name: 'find_creditable_lines',
  text: `select l.order_id as "orderId", o.first_order_id as "firstOrderId", l.id as "lineId", case when n.named > 0 then n.people else (
        select json_build_array(q.id) ${ofBooking} and q.id = any($2::bigint[])
        order by array_position($2::bigint[], q.id) limit 1) end as people
    from orders o
      join order_lines l on l.provider_id = o.provider_id and l.order_id = o.id
      cross join lateral (
        select count(*) as named, json_agg(s.participant_id order by s.participant_id) filter (
          where s.participant_id = any($2::bigint[]) and s.share > 0 and not s.is_credited) as people
        from ${sharesSql('l')} s) n
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
      and (n.people is not null or n.named = 0 and not exists (
          select ${ofBooking} and ${staysSql('q')} and q.id <> all($2::bigint[])))
    order by l.order_id, l.id`,
};
