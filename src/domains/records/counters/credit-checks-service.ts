import { eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Reader } from '../../../database/client.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { sharesSql } from '../../orders/order-lines/loaders.ts';
import { due } from '../../orders/payments/loaders.ts';
import type { Check, CountedItem, Counters } from './recount-sql.ts';

/** The rows of a statement, each with stored and counted figures. */
async function readFigures(db: Reader, statement: SQL): Promise<CountedItem[]> {
  return db
    .select({
      providerId: sql<number>`r.provider_id`.mapWith(Number),
      id: sql<number>`r.id`.mapWith(Number),
      stored: sql<Counters>`r.stored`,
      counted: sql<Counters>`r.counted`,
    })
    .from(sql`(${statement}) r`)
    .orderBy(sql`r.provider_id`, sql`r.id`);
}

/**
 * The amount by which credits reduce the amount due of their orders: at most the part of them that is neither returned
 * nor refunded, and no less as long as something is due.
 */
export const creditCheck: Check = {
  items: 'orders',
  table: orders,
  only: eq(orders.kind, 'credit'),
  recount: (db, page) =>
    readFigures(
      db,
      sql`
      with page as materialized (select * from ${page}), credits as (
        select provider_id, id, first_order_id, credit_applied, greatest(credit_applied - ${due}, 0.00) as whole
        from orders where (provider_id, first_order_id) in (
          select f.provider_id, f.first_order_id from orders f join page p on p.provider_id = f.provider_id and p.id = f.id
        ) and kind = 'credit'
      ), bounded as (
        select c.*, least(c.credit_applied, c.whole) as applied, c.whole - least(c.credit_applied, c.whole) as owed from credits c
      ), shared as (
        select b.*, sum(b.owed) over (same order by b.id) as upto,
          greatest(f.due + sum(b.credit_applied - b.applied) over same, 0.00) as due
        from bounded b cross join lateral (
          select ${due} as due from orders where provider_id = b.provider_id and id = b.first_order_id) f
        window same as (partition by b.provider_id, b.first_order_id))
      select s.provider_id, s.id, json_build_object('credit_applied', s.credit_applied::text) as stored,
        json_build_object('credit_applied', (
          s.applied + least(s.due, s.upto) - least(s.due, s.upto - s.owed))::text) as counted
      from shared s join page p on p.provider_id = s.provider_id and p.id = s.id`,
    ),
};

/**
 * Charges of all participants of a line less its credits, and what is credited above the charge of one of them: whom a
 * credit names never changes, so a difference is only reported.
 */
export const shareCheck: Check = {
  items: 'order_lines',
  table: orderLines,
  only: isNull(orderLines.creditsLineId),
  isReportOnly: true,
  recount: (db, page) =>
    readFigures(
      db,
      sql`
      select l.provider_id, l.id,
        json_build_object('shares', coalesce(s.shares, 0.00)::text, 'excess', coalesce(s.excess, 0.00)::text) as stored,
        json_build_object('shares', coalesce(n.net, 0.00)::text, 'excess', '0.00') as counted
      from ${page} join order_lines l on l.provider_id = page.provider_id and l.id = page.id
        cross join lateral (
          select sum(p.share) as shares, -sum(p.share) filter (where p.share < 0 and p.charged >= 0) as excess
          from ${sql.raw(sharesSql('l'))} p) s
        cross join lateral (
          select sum(m.quantity * m.price_at_order - m.discount_calculated_at_order) as net from order_lines m
          where m.provider_id = l.provider_id and (m.id = l.id or m.credits_line_id = l.id) and exists (
            select from order_line_participants o where o.provider_id = m.provider_id and o.order_line_id = m.id)) n`,
    ),
};
