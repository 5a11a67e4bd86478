import { asc, eq, type SQL, sql, isNull } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { toMinorUnits } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import type { Reader } from '../../../database/client.ts';
import { campaigns, vouchers } from '../../../database/tables/campaigns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { orderLines, orders, voucherRedemptions } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import type { Key } from '../../../lists/loaders.ts';
import { grouped } from '../../../lists/relations.ts';
import { sameTenant, type TenantTable } from '../../../lists/tenant-scope.ts';
import { sharesSql } from '../../orders/order-lines/loaders.ts';
import { agreedTotals } from '../../orders/orders/price-service.ts';
import { due } from '../../orders/payments/loaders.ts';
import { isSettled } from '../../orders/payments/service.ts';

/** Counters of an item by column name, as PostgreSQL formats them. */
type Counters = Record<string, string>;

/** Stored and recounted counters of an item. */
export type CountedItem = Key & { stored: Counters; counted: Counters };

/** Subquery with the ids of a page, in the order of the primary key. */
export const selectPage = (db: Reader, table: TenantTable, condition: SQL, limit: number) =>
  db
    .select({ providerId: table.providerId, id: table.id })
    .from(table)
    .where(condition)
    .orderBy(asc(table.providerId), asc(table.id))
    .limit(limit)
    .as('page');
type Page = ReturnType<typeof selectPage>;

/** Join condition of a page's ids and their table. */
const matchesPage = (table: TenantTable, page: Page) => sameTenant(table, page, eq(table.id, page.id));

/** Stored counters that can be recounted from other rows. */
export type Check = {
  /** Name of the items in reports, such as `course_dates`. */
  items: string;
  table: TenantTable;
  /** Only these rows of the table, which a report does not count. */
  only?: SQL;
  /** Another check of the same rows counts them in a report. */
  isPartial?: boolean;
  /** Differences stay as they are. */
  isReportOnly?: boolean;
  /** Items of a page in its order, read in one statement for a consistent snapshot. */
  recount(db: Reader, page: Page): Promise<CountedItem[]>;
};

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

/** The amounts by which credits reduce their orders: all while it is due, at most the part that is not returned. */
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

const withStatus = (status: number) => sql<string>`count(*) filter (where ${participants.statusId} = ${status})::text`;
const toText = (counter: PgColumn) => sql<string>`${counter}::text`;

type Figures = Record<'stored' | 'counted', Record<string, SQL<string>>>;

/** Recounts items from the rows of another table, whose column `ofItem` has their ids. */
const countRows =
  (
    table: TenantTable,
    rows: PgTable & { providerId: PgColumn },
    ofItem: PgColumn,
    figures: Figures,
  ): Check['recount'] =>
  async (db, page) =>
    db
      .select({ providerId: table.providerId, id: table.id, ...figures })
      .from(table)
      .innerJoin(page, matchesPage(table, page))
      .leftJoin(rows, sameTenant(rows, table, eq(ofItem, table.id)))
      .groupBy(table.providerId, table.id)
      .orderBy(asc(table.providerId), asc(table.id));

const stored = {
  num_confirmed: toText(courseDates.numConfirmed),
  num_overbooked: toText(courseDates.numOverbooked),
  num_unconfirmed: toText(courseDates.numUnconfirmed),
  num_waiting: toText(courseDates.numWaiting),
};
const counted = {
  num_confirmed: withStatus(participantStatus.confirmed),
  num_overbooked: withStatus(participantStatus.overbooked),
  num_unconfirmed: withStatus(participantStatus.unconfirmed),
  num_waiting: withStatus(participantStatus.waiting),
};

/** Seat counters of course dates, recounted from participants. */
export const seatCheck: Check = {
  items: 'course_dates',
  table: courseDates,
  recount: countRows(courseDates, participants, participants.courseDateId, { stored, counted }),
};

const { providerId, id, kind, isPaid, totalBeforeDiscounts, totalDiscounts, totalVat } = orders;
const { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage, vatRounding } = orderLines;

/** Totals of orders, recounted from their lines, and whether they are paid, from what is due of the totals. */
export const orderCheck: Check = {
  items: 'orders',
  table: orders,
  async recount(db, page) {
    const rows = await db
      .select({
        order: { providerId, id, isPaid, totalBeforeDiscounts, totalDiscounts, totalVat, due },
        line: { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage, vatRounding },
      })
      .from(orders)
      .innerJoin(page, matchesPage(orders, page))
      .leftJoin(orderLines, sameTenant(orderLines, orders, eq(orderLines.orderId, id)))
      .orderBy(asc(providerId), asc(id));
    const byOrder = grouped(rows, ({ order }) => order.id);
    return [...byOrder.values()].map((found) => {
      const { order } = found[0]!;
      const lines = found.flatMap(({ line }) => (line === null ? [] : [line]));
      const { providerId, id } = order;
      const counted = agreedTotals(lines);
      const stored = toCounters(order, order.isPaid);
      return { providerId, id, stored, counted: toCounters(counted, countPaid(order, counted)) };
    });
  },
};

type Totals = ReturnType<typeof agreedTotals>;
const toTotal = ({ totalBeforeDiscounts, totalDiscounts, totalVat }: Totals) =>
  toMinorUnits(totalBeforeDiscounts) - toMinorUnits(totalDiscounts) + toMinorUnits(totalVat);

function countPaid(order: Totals & { isPaid: boolean; due: string }, counted: Totals) {
  const total = toTotal(counted);
  return isSettled({ isPaid: order.isPaid, total, due: toMinorUnits(order.due) - toTotal(order) + total });
}

const toCounters = (order: Totals, isPaid: boolean): Counters => ({
  total_before_discounts: order.totalBeforeDiscounts,
  total_discounts: order.totalDiscounts,
  total_vat: order.totalVat,
  is_paid: String(isPaid),
});

const isUse = sql`${kind} = 'order' and not is_order_void(${orders.providerId}, ${id})`;

/** Uses of campaigns, recounted from orders. */
export const usesCheck: Check = {
  items: 'campaigns',
  table: campaigns,
  recount: countRows(campaigns, orders, orders.campaignId, {
    stored: { uses: toText(campaigns.uses) },
    counted: { uses: sql<string>`count(*) filter (where ${isUse})::text` },
  }),
};

const redeemed = sql`coalesce(sum(${voucherRedemptions.amount}), 0)`;
/** The balance, at least 0, even if orders redeemed more than the amount. */
const expectedBalance = sql<string>`greatest(0.00, ${vouchers.amount} - ${vouchers.spentBefore} - ${redeemed})::text`;

/** Balances of vouchers, recounted from redemptions. */
export const balanceCheck: Check = {
  items: 'vouchers',
  table: vouchers,
  recount: countRows(vouchers, voucherRedemptions, voucherRedemptions.voucherId, {
    stored: { balance: toText(vouchers.balance) },
    counted: { balance: expectedBalance },
  }),
};
