import { asc, eq } from 'drizzle-orm';
import { orderLines, orders } from '../../database/tables/orders.ts';
import { grouped } from '../../lists/relations.ts';
import { sameTenant } from '../../lists/tenant-scope.ts';
import { agreedTotals } from '../quotes/price-service.ts';
import { matchesPage, type Check, type Counters } from './recount-sql.ts';

const { providerId, id, totalBeforeDiscounts, totalDiscounts, totalVat } = orders;
const { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage } = orderLines;

/** Totals of orders, recounted from their lines. */
export const totalsCheck: Check = {
  items: 'orders',
  table: orders,
  async recount(db, page) {
    const rows = await db
      .select({
        order: { providerId, id, totalBeforeDiscounts, totalDiscounts, totalVat },
        line: { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage },
      })
      .from(orders)
      .innerJoin(page, matchesPage(orders, page))
      .leftJoin(orderLines, sameTenant(orderLines, orders, eq(orderLines.orderId, id)))
      .orderBy(asc(providerId), asc(id));
    const byOrder = grouped(
      rows,
      ({ order }) => order.id,
      (row) => row,
    );
    return [...byOrder.values()].map((found) => {
      const { order } = found[0]!;
      const lines = found.flatMap(({ line }) => (line === null ? [] : [line]));
      const { providerId, id } = order;
      return { providerId, id, stored: toCounters(order), counted: toCounters(agreedTotals(lines)) };
    });
  },
};

const toCounters = (order: ReturnType<typeof agreedTotals>): Counters => ({
  total_before_discounts: order.totalBeforeDiscounts,
  total_discounts: order.totalDiscounts,
  total_vat: order.totalVat,
});
