import { eq, inArray, ne, or, sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { toMinorUnits } from '../../../core/money.ts';
import { canceled, participantStatus } from '../../../core/reference/statuses.ts';
import type { Ctx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { bookings, orderLines, orders } from '../../../database/tables/orders.ts';
import { orderLineParticipants, participants } from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { sharesSql } from '../order-lines/loaders.ts';
import { toBalance } from './schema.ts';
import { due, orderTotal, paidByVouchers, paysOwnPlaceSql } from './loaders.ts';

type School = Pick<Ctx, 'providerId' | 'db'>;

/** Selects the order of a booking, those that moves have added, and the credits of all of these. */
export function ordersOfBooking({ providerId, db }: School, bookingId: number): SQL {
  const school = { providerId };
  const first = db
    .select({ id: bookings.orderId })
    .from(bookings)
    .where(tenantWhere(school, bookings, eq(bookings.id, bookingId)));
  const added = db
    .select({ id: orders.id })
    .from(orders)
    .where(tenantWhere(school, orders, inArray(orders.firstOrderId, first)));
  const belongs = or(
    inArray(orders.id, first),
    inArray(orders.firstOrderId, first),
    inArray(orders.firstOrderId, added),
  );
  return tenantWhere(school, orders, belongs);
}

export type BookingBalance = Awaited<ReturnType<typeof loadBookingBalance>>;

/** The sums of all orders of a booking. The total and its VAT are without what is credited. */
export async function loadBookingBalance(school: School, bookingId: number) {
  const [sums, waiting] = await Promise.all([loadSums(school, bookingId), findWaiting(school, bookingId)]);
  return { ...sums, credited: sums.ordered - sums.total, paid: sums.total - sums.due, waiting };
}

/** Whether places of a booking are on the waiting list; those of canceled dates are not. */
async function findWaiting(school: School, bookingId: number) {
  const waits = sql`${participants.statusId} = ${participantStatus.waiting} and ${courseDates.statusId} <> ${canceled}`;
  const [found] = await school.db
    .select({
      waiting: sql<'all' | 'some' | 'none'>`case when bool_and(${waits}) then 'all'
        when bool_or(${waits}) then 'some' else 'none' end`,
    })
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(tenantWhere(school, participants, eq(participants.bookingId, bookingId)));
  return Problem.assertFound(found, 'Booking').waiting;
}

/** The price of a participant's place with VAT, and whether the participant pays it; undefined without a booking. */
export async function loadPlacePrice(ctx: Ctx, participantId: number) {
  const { participantId: payee, orderLineId } = orderLineParticipants;
  const [found] = await ctx.unlockedStore
    .select({
      currency: orders.currency,
      price: sql`sum(round(s.share * (1 + ${orderLines.vatPercentage} / 100), 2))`.mapWith(toMinorUnits),
      isOwn,
    })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .innerJoin(orderLineParticipants, sameTenant(orderLineParticipants, participants, eq(payee, participants.id)))
    .innerJoin(orderLines, sameTenant(orderLines, orderLineParticipants, eq(orderLines.id, orderLineId)))
    .innerJoin(orders, sameTenant(orders, orderLines, eq(orders.id, orderLines.orderId), ne(orders.kind, 'credit')))
    .innerJoinLateral(sql`${sql.raw(sharesSql('order_lines'))} s`, sql`s.participant_id = ${participants.id}`)
    .where(tenantWhere(ctx, participants, eq(participants.id, participantId)))
    .groupBy(orders.currency, isOwn);
  return found;
}
const isOwn = sql<boolean>`(${sql.raw(paysOwnPlaceSql({ order: 'orders', booking: 'bookings', user: 'course_users' }))})`;

/** What is paid of all orders of a booking: what the school owes of one lowers what is due of the others. */
export const loadBalance = async (school: School, bookingId: number) => toBalance(await loadSums(school, bookingId));

async function loadSums(school: School, bookingId: number) {
  const ordered = sql`filter (where ${orders.kind} <> 'credit')`;
  const [found] = await school.db
    .select({
      orderId: sql<number>`min(${orders.id}) filter (where ${orders.firstOrderId} is null)`.mapWith(Number),
      currency: sql<string>`min(${orders.currency})`,
      total: sql`sum(${orderTotal})`.mapWith(toMinorUnits),
      vat: sql`sum(${orders.totalVat})`.mapWith(toMinorUnits),
      due: sql`sum(${due})`.mapWith(toMinorUnits),
      byVouchers: sql`sum(${paidByVouchers})`.mapWith(toMinorUnits),
      ordered: sql`sum(${orderTotal}) ${ordered}`.mapWith(toMinorUnits),
      orderedVat: sql`sum(${orders.totalVat}) ${ordered}`.mapWith(toMinorUnits),
      discounts: sql`sum(${orders.totalDiscounts}) ${ordered}`.mapWith(toMinorUnits),
    })
    .from(orders)
    .where(ordersOfBooking(school, bookingId));
  return Problem.assertFound(found, 'Booking');
}
