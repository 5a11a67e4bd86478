import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm';
import { toMinorUnits } from '../../../core/money.ts';
import type { Database } from '../../../database/client.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { courses, products } from '../../../database/tables/courses.ts';
import { orderLines, orders } from '../../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { ordersOfBooking } from '../../../domains/orders/payments/balance-service.ts';
import { agreedTotals } from '../../../domains/orders/orders/price-service.ts';

type School = { providerId: number; db: Database['db'] };

/** Participants, and lines, that a receipt lists. */
const maxListed = 100;

export type Receipt = Awaited<ReturnType<typeof loadReceipt>>;

/** A booking as its payer sees it: its participants, what they have bought, and the data of the invoice. */
export async function loadReceipt(school: School, bookingId: number, orderId: number) {
  const ofBooking = tenantWhere(school, participants, eq(participants.bookingId, bookingId));
  const booked = await loadParticipants(school, ofBooking);
  return {
    participants: booked,
    numParticipants: await school.db.$count(participants, ofBooking),
    ...(await loadLines(school, bookingId)),
    order: await loadOrder(school, orderId),
  };
}

async function loadParticipants(school: School, ofBooking: ReturnType<typeof tenantWhere>) {
  const rows = await school.db
    .select({
      id: participants.id,
      name: sql<string>`concat_ws(' ', ${courseUsers.firstname}, ${courseUsers.lastname})`,
      statusId: participants.statusId,
      dateStatusId: courseDates.statusId,
      courseDateId: courseDates.id,
      title: sql<string>`coalesce(nullif(${courseDates.title}, ''), ${courses.title})`,
      startAt: courseDates.startAt,
    })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .innerJoin(courses, sameTenant(courses, courseDates, eq(courses.id, courseDates.courseId)))
    .where(ofBooking)
    .orderBy(asc(participants.id))
    .limit(maxListed);
  const bought = await loadProducts(
    school,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({ ...row, products: bought.get(row.id) ?? [] }));
}

/** Titles of the products of each participant. */
async function loadProducts(school: School, participantIds: number[]) {
  if (participantIds.length === 0) return new Map<number, string[]>();
  const rows = await school.db
    .select({
      participantId: orderLineParticipants.participantId,
      titles: sql<string[]>`json_agg(${products.title} order by ${orderLines.id})`,
    })
    .from(orderLineParticipants)
    .innerJoin(
      orderLines,
      sameTenant(orderLines, orderLineParticipants, eq(orderLines.id, orderLineParticipants.orderLineId)),
    )
    .innerJoin(
      orders,
      sameTenant(orders, orderLines, and(eq(orders.id, orderLines.orderId), ne(orders.kind, 'credit'))),
    )
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(tenantWhere(school, orderLineParticipants, inArray(orderLineParticipants.participantId, participantIds)))
    .groupBy(orderLineParticipants.participantId);
  return new Map(rows.map(({ participantId, titles }) => [participantId, titles]));
}

/** The lines of the order and of those that moves have added, with VAT as their totals have it. */
async function loadLines(school: School, bookingId: number) {
  const rows = await school.db
    .select({
      title: products.title,
      quantity: orderLines.quantity,
      vatPercentage: orderLines.vatPercentage,
      priceAtOrder: orderLines.priceAtOrder,
      discountCalculatedAtOrder: orderLines.discountCalculatedAtOrder,
      vatRounding: orderLines.vatRounding,
      count: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(orderLines)
    .innerJoin(orders, sameTenant(orders, orderLines, eq(orders.id, orderLines.orderId)))
    .innerJoin(products, sameTenant(products, orderLines, eq(products.id, orderLines.productId)))
    .where(and(ordersOfBooking(school, bookingId), ne(orders.kind, 'credit')))
    .orderBy(asc(orderLines.id))
    .limit(maxListed);
  const lines = rows.map((row) => {
    const { totalBeforeDiscounts, totalDiscounts, totalVat } = agreedTotals([row]);
    const [before, discount, vat] = [totalBeforeDiscounts, totalDiscounts, totalVat].map(toMinorUnits);
    const { title, quantity, vatPercentage } = row;
    return { title, quantity, vatPercentage, discount: discount!, vat: vat!, total: before! - discount! + vat! };
  });
  return { lines, numLines: rows[0]?.count ?? 0 };
}

/** The data of the invoice, as the booker has entered it. */
async function loadOrder(school: School, orderId: number) {
  const custom = (name: string) => sql<string | null>`${orders.customProperties} ->> ${name}`;
  const [order] = await school.db
    .select({
      reference: orders.yourReference,
      company: custom('company'),
      companyNumber: custom('company_number'),
      gln: orders.glnNumber,
      address: orders.invoiceAddress,
      address2: orders.invoiceAddress2,
      address3: orders.invoiceAddress3,
      zipcode: orders.invoiceZipcode,
      city: orders.invoiceCity,
      email: orders.invoiceEmail,
    })
    .from(orders)
    .where(tenantWhere(school, orders, eq(orders.id, orderId)));
  return order!;
}
