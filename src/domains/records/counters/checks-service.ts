import { asc, eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { campaigns, vouchers } from '../../../database/tables/campaigns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { voucherRedemptions } from '../../../database/tables/redemptions.ts';
import { grouped } from '../../../lists/relations.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { toMinorUnits } from '../../../core/money.ts';
import { participantStatus } from '../../../core/reference/statuses.ts';
import { due } from '../../orders/payments/loaders.ts';
import { isSettled } from '../../orders/payments/service.ts';
import { agreedTotals } from '../../orders/orders/price-service.ts';
import { matchesPage, type Check, type Counters } from './recount-sql.ts';

const withStatus = (status: number) => sql<string>`count(*) filter (where ${participants.statusId} = ${status})::text`;
const toText = (counter: PgColumn) => sql<string>`${counter}::text`;

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
  recount: async (db, page) =>
    db
      .select({ providerId: courseDates.providerId, id: courseDates.id, stored, counted })
      .from(courseDates)
      .innerJoin(page, matchesPage(courseDates, page))
      .leftJoin(participants, sameTenant(participants, courseDates, eq(participants.courseDateId, courseDates.id)))
      .groupBy(courseDates.providerId, courseDates.id)
      .orderBy(asc(courseDates.providerId), asc(courseDates.id)),
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
  recount: async (db, page) =>
    db
      .select({
        providerId: campaigns.providerId,
        id: campaigns.id,
        stored: { uses: toText(campaigns.uses) },
        counted: { uses: sql<string>`count(*) filter (where ${isUse})::text` },
      })
      .from(campaigns)
      .innerJoin(page, matchesPage(campaigns, page))
      .leftJoin(orders, sameTenant(orders, campaigns, eq(orders.campaignId, campaigns.id)))
      .groupBy(campaigns.providerId, campaigns.id)
      .orderBy(asc(campaigns.providerId), asc(campaigns.id)),
};

const redeemed = sql`coalesce(sum(${voucherRedemptions.amount}), 0)`;
/** At least 0, even if orders redeemed more than the amount. */
const expectedBalance = sql<string>`greatest(0.00, ${vouchers.amount} - ${vouchers.spentBefore} - ${redeemed})::text`;

/** Balances of vouchers, recounted from redemptions. */
export const balanceCheck: Check = {
  items: 'vouchers',
  table: vouchers,
  recount: async (db, page) =>
    db
      .select({
        providerId: vouchers.providerId,
        id: vouchers.id,
        stored: { balance: sql<string>`${vouchers.balance}::text` },
        counted: { balance: expectedBalance },
      })
      .from(vouchers)
      .innerJoin(page, matchesPage(vouchers, page))
      .leftJoin(
        voucherRedemptions,
        sameTenant(voucherRedemptions, vouchers, eq(voucherRedemptions.voucherId, vouchers.id)),
      )
      .groupBy(vouchers.providerId, vouchers.id)
      .orderBy(asc(vouchers.providerId), asc(vouchers.id)),
};
