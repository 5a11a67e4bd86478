// Text: inserts of several tables, and reads of lines with what is left of them.
import { sql, type SQL } from 'drizzle-orm';
import { notLeftSql } from '../../../core/reference/statuses.ts';
import { json, statement, typed, type RowOf } from '../../../database/statement.ts';
import { keepsCampaign } from '../campaigns/loaders.ts';
import { sharesSql } from '../order-lines/loaders.ts';

/** Inserts a credit or a difference with its lines and shares, a copy of its first order in what an invoice needs. */
export const insertFollowingOrder = statement(
  'insert_following_order',
  {
    takes: {
      ...({ providerId: 'int', firstOrderId: 'int', now: 'moment' } as const),
      kind: typed<'credit' | 'difference'>('text'),
      ...({ totalBeforeDiscounts: 'numeric', totalDiscounts: 'numeric', totalVat: 'numeric' } as const),
      ...({ applied: 'numeric', reason: 'text?', isPaid: 'bool', title: 'text?', titleDetailed: 'text?' } as const),
      properties: json<object>(),
      lines: {
        rows: {
          ...({ product: 'int', quantity: 'int', price: 'numeric', percent: 'numeric', amount: 'numeric' } as const),
          ...({ calculated: 'numeric', vat: 'numeric', credits: 'int?', rounding: 'numeric' } as const),
        },
      },
      people: { rows: { line: 'int?', participant: 'int', amount: 'numeric?', isCredited: 'bool' } },
    },
    returns: { id: 'int' },
  },
  `with new_order as (
      insert into orders (id, provider_id, created_at, updated_at, kind, first_order_id, title, title_detailed, currency,
        customer_id, campaign_id, seller_id, payment_method, your_reference, booker, gln_number, invoice_address,
        invoice_address_2, invoice_address_3, invoice_zipcode, invoice_city, invoice_email, kept_until, kept_user_id, total_before_discounts,
        total_discounts, total_vat, credit_applied, credit_reason, is_paid, custom_properties)
      overriding system value
      select o.id, f.provider_id, :now, :now, :kind, f.id,
        coalesce(:title, regexp_replace(f.title, ' #' || f.id || '$', '')) || ' #' || o.id, coalesce(:titleDetailed, f.title_detailed),
        f.currency, f.customer_id, case :kind when 'credit' then f.campaign_id end, f.seller_id, f.payment_method,
        f.your_reference, f.booker, f.gln_number, f.invoice_address, f.invoice_address_2, f.invoice_address_3,
        f.invoice_zipcode, f.invoice_city, f.invoice_email, f.kept_until, f.kept_user_id, :totalBeforeDiscounts, :totalDiscounts, :totalVat, :applied, :reason, :isPaid,
        nullif(coalesce(f.custom_properties - '{voucher_code,voucher_amount}'::text[], '{}') || :properties::jsonb, '{}')
      from orders f cross join (select nextval('orders_id_seq') as id) o
      where f.provider_id = :providerId and f.id = :firstOrderId
      returning id),
    new_lines as (
      insert into order_lines (provider_id, created_at, updated_at, order_id, product_id, quantity, price_at_order,
        discount_percent_at_order, discount_amount_at_order, discount_calculated_at_order, vat_percentage,
        credits_line_id, vat_rounding)
      select :providerId, :now, :now, o.id, lines.product, lines.quantity, lines.price, lines.percent, lines.amount,
        lines.calculated, lines.vat, lines.credits, lines.rounding
      from new_order o, :lines
      order by lines.place
      returning id, product_id, credits_line_id),
    named as (
      insert into order_line_participants (provider_id, order_line_id, participant_id, amount, is_credited)
      select :providerId, l.id, people.participant, people.amount, people."isCredited"
      from :people join new_lines l on l.credits_line_id is not distinct from people.line)
    select id from new_order`,
);

/** The redeemed amount of each voucher of an order that is not archived, less what credits returned to it. */
export const returnable = (provider: SQL | number, order: SQL | number) => sql`(
    select r.voucher_id, v.code, sum(r.amount)::text as amount
    from orders o
      join voucher_redemptions r on r.provider_id = o.provider_id and r.order_id = o.id
      join vouchers v on v.provider_id = r.provider_id and v.id = r.voucher_id
    where o.provider_id = ${provider} and (o.id = ${order} or o.first_order_id = ${order} and o.kind = 'credit')
      and num_nonnulls(v.archived_at, v.deleted_at) = 0
    group by r.voucher_id, v.code having sum(r.amount) > 0) r`;

/** The amount that archived vouchers paid of a row of `orders` and that none of its credits owes. */
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

/** Returns amounts to vouchers by a credit. */
export const returnToVouchers = statement(
  'return_to_vouchers',
  {
    takes: {
      ...({ providerId: 'int', creditId: 'int', now: 'moment' } as const),
      returned: { rows: { voucher: 'int', amount: 'numeric' } },
    },
  },
  `with raised as (
      update vouchers v set balance = v.balance + returned.amount, updated_at = :now
      from :returned where v.provider_id = :providerId and v.id = returned.voucher)
    insert into voucher_redemptions (provider_id, voucher_id, order_id, amount, created_at)
    select :providerId, voucher, :creditId, -amount, :now from :returned`,
);

/** The lines that name a participant and their credits, which have the line as their source; the newest line first. */
export const findPriceLines = statement(
  'find_price_lines',
  {
    takes: { providerId: 'int', participantId: 'int', courseId: 'int' },
    returns: {
      ...({ quantity: 'int', priceAtOrder: 'numeric', discountPercentAtOrder: 'numeric' } as const),
      ...({ discountAmountAtOrder: 'numeric', discountCalculatedAtOrder: 'numeric' } as const),
      ...({ vatPercentage: 'numeric', vatRounding: 'numeric', currency: 'text' } as const),
      ...({ sourceId: 'int', orderId: 'int', firstOrderId: 'int', productId: 'int', courseId: 'int' } as const),
      isBooked: 'bool',
      /** True if the campaign counts for the course. */
      keepsPercent: 'bool',
      /** The participants whom the line names. */
      people: json<number[]>(),
      /** The stored share of the participant. */
      amount: 'numeric?',
    },
  },
  `select l.quantity, l.price_at_order as "priceAtOrder", l.discount_percent_at_order as "discountPercentAtOrder",
      l.discount_amount_at_order as "discountAmountAtOrder",
      l.discount_calculated_at_order as "discountCalculatedAtOrder", l.vat_percentage as "vatPercentage",
      l.vat_rounding as "vatRounding", s.id as "sourceId", s.order_id as "orderId", b.order_id as "firstOrderId",
      p.id as "productId", p.course_id as "courseId", o.currency, o.kind = 'order' and l.id = s.id as "isBooked",
      ${keepsCampaign(':providerId', 'o', ':courseId::bigint')} as "keepsPercent",
      to_json(array(
        select m.participant_id from order_line_participants m
        where m.provider_id = :providerId and m.order_line_id = l.id order by 1)) as people,
      (select m.amount from order_line_participants m
        where m.provider_id = :providerId and m.order_line_id = l.id and m.participant_id = :participantId)::text as amount
    from participants t
      join bookings b on b.provider_id = t.provider_id and b.id = t.booking_id
      join course_dates d on d.provider_id = b.provider_id and d.id = b.course_date_id
      join order_line_participants n on n.provider_id = t.provider_id and n.participant_id = t.id
      join order_lines s on s.provider_id = n.provider_id and s.id = n.order_line_id and s.credits_line_id is null
      join order_lines l on l.provider_id = s.provider_id and (l.id = s.id or l.credits_line_id = s.id)
      join orders o on o.provider_id = s.provider_id and o.id = s.order_id
      join products p on p.provider_id = s.provider_id and p.id = s.product_id
    where t.provider_id = :providerId and t.id = :participantId and (o.kind = 'difference' or p.course_id = d.course_id)
    order by s.id desc, l.id`,
);
export type PriceLine = RowOf<typeof findPriceLines>;

const ofBooking = `from bookings b join participants q on q.provider_id = b.provider_id and q.booking_id = b.id
          where b.provider_id = :providerId and b.order_id = coalesce(o.first_order_id, o.id)`;

/**
 * Creditable lines of the orders of participants: those of them of whom something of the line is left. Of a line that
 * names nobody, if nobody of its booking stays, the first of them in its booking.
 */
export const findCreditable = statement(
  'find_creditable_lines',
  {
    takes: { providerId: 'int', participantIds: 'int[]' },
    returns: { orderId: 'int', firstOrderId: 'int?', lineId: 'int', people: json<number[]>() },
  },
  `select l.order_id as "orderId", o.first_order_id as "firstOrderId", l.id as "lineId", case when n.named > 0 then n.people else (
        select json_build_array(q.id) ${ofBooking} and q.id = any(array:participantIds)
        order by array_position(array:participantIds, q.id) limit 1) end as people
    from orders o
      join order_lines l on l.provider_id = o.provider_id and l.order_id = o.id
      cross join lateral (
        select count(*) as named, json_agg(s.participant_id order by s.participant_id) filter (
          where s.participant_id = any(array:participantIds) and s.share > 0 and not s.is_credited) as people
        from ${sharesSql('l')} s) n
    where o.provider_id = :providerId and o.kind <> 'credit'
      and o.id in (
        select own.order_id from order_line_participants n
          join order_lines own on own.provider_id = n.provider_id and own.id = n.order_line_id
        where n.provider_id = :providerId and n.participant_id = any(array:participantIds)
        union select b.order_id from participants p join bookings b on b.provider_id = p.provider_id and b.id = p.booking_id
        where p.provider_id = :providerId and p.id = any(array:participantIds))
      and l.quantity * l.price_at_order - l.discount_calculated_at_order > (
        select coalesce(-sum(c.quantity * c.price_at_order - c.discount_calculated_at_order), 0) from order_lines c
        where c.provider_id = :providerId and c.credits_line_id = l.id)
      and (n.people is not null or n.named = 0 and not exists (
          select ${ofBooking} and ${notLeftSql('q')} and q.id <> all(array:participantIds)))
    order by l.order_id, l.id`,
);
export type CreditableLine = RowOf<typeof findCreditable>;
