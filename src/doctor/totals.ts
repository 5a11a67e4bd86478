import { and, asc, eq } from 'drizzle-orm';
import { orderLines, orders } from '../database/tables/orders.ts';
import { grouped } from '../lists/relations.ts';
import { agreedTotals } from '../resources/booking/price-service.ts';
import { onPage, type Check, type Figures } from './check.ts';

const { providerId, id, totalBeforeDiscounts, totalDiscounts, totalVat } = orders;
const { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage } = orderLines;

/** The totals of orders, from their lines as they were agreed. */
export const totals: Check = {
  items: 'orders',
  table: orders,
  async recount(db, page) {
    const rows = await db
      .select({
        order: { providerId, id, totalBeforeDiscounts, totalDiscounts, totalVat },
        line: { quantity, priceAtOrder, discountCalculatedAtOrder, vatPercentage },
      })
      .from(orders)
      .innerJoin(page, onPage(orders, page))
      .leftJoin(orderLines, and(eq(orderLines.providerId, providerId), eq(orderLines.orderId, id)))
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
      return { providerId, id, stored: toFigures(order), counted: toFigures(agreedTotals(lines)) };
    });
  },
};

const toFigures = (order: ReturnType<typeof agreedTotals>): Figures => ({
  total_before_discounts: order.totalBeforeDiscounts,
  total_discounts: order.totalDiscounts,
  total_vat: order.totalVat,
});
