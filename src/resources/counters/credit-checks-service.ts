import { eq, isNull, sql, type SQL } from 'drizzle-orm';
import type { Reader } from '../../database/client.ts';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { sharesSql } from '../credits/loaders.ts';
import { due } from '../payments/loaders.ts';
import type { Check, CountedItem } from './recount-sql.ts';

/** The rows of a statement, each with the stored and the counted value of a figure. */
async function readFigures(db: Reader, figure: string, statement: SQL): Promise<CountedItem[]> {
  const rows = await db
    .select({
      providerId: sql<number>`r.provider_id`.mapWith(Number),
      id: sql<number>`r.id`.mapWith(Number),
      stored: sql<string>`r.stored::text`,
      counted: sql<string>`r.counted::text`,
    })
    .from(sql`(${statement}) r`)
    .orderBy(sql`r.provider_id`, sql`r.id`);
  return rows.map(({ stored, counted, ...key }) => ({
    ...{ ...key, stored: { [figure]: stored }, counted: { [figure]: counted } },
  }));
}

/**
 * What credits lower the amount due of their orders by: at most what is neither returned nor refunded of them, and no
 * less as long as something is due.
 */
export const creditCheck: Check = {
  items: 'orders',
  table: orders,
  only: eq(orders.kind, 'credit'),
  recount: (db, page) =>
    readFigures(
      db,
      'credit_applied',
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
      select s.provider_id, s.id, s.credit_applied as stored,
        s.applied + least(s.due, s.upto) - least(s.due, s.upto - s.owed) as counted
      from shared s join page p on p.provider_id = s.provider_id and p.id = s.id`,
    ),
};

/** Charges of all participants of a line less its credits. The stored shares of the credits add up to that amount. */
export const shareCheck: Check = {
  items: 'order_lines',
  table: orderLines,
  only: isNull(orderLines.creditsLineId),
  recount: (db, page) =>
    readFigures(
      db,
      'shares',
      sql`
      select l.provider_id, l.id, coalesce(s.shares, 0.00) as stored, coalesce(n.net, 0.00) as counted
      from ${page} join order_lines l on l.provider_id = page.provider_id and l.id = page.id
        cross join lateral (select sum(p.share) as shares from ${sql.raw(sharesSql('l'))} p) s
        cross join lateral (
          select sum(m.quantity * m.price_at_order - m.discount_calculated_at_order) as net from order_lines m
          where m.provider_id = l.provider_id and (m.id = l.id or m.credits_line_id = l.id) and exists (
            select from order_line_participants o where o.provider_id = m.provider_id and o.order_line_id = m.id)) n`,
    ),
  /** Gives those whom a credit names equal shares again. */
  store: (tx, items) =>
    tx.execute(sql`update order_line_participants n set amount = null from order_lines c
      where n.provider_id = ${items[0]!.providerId} and c.provider_id = n.provider_id and c.id = n.order_line_id
        and c.credits_line_id = any(${sql.param(items.map(({ id }) => id))}::bigint[])`),
};
