import { asc, eq } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { toMinorUnits, toNumber } from '../../../core/money.ts';
import type { Ctx } from '../../../database/context.ts';
import { bookings, orders } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { loadBalance } from '../../orders/payments/balance-service.ts';
import { paidByVouchers } from '../../orders/payments/loaders.ts';
import type { BookingQuery, StoredBooking } from './schema.ts';

/** The booking as it is now, with all of its participants, deregistered ones too. */
export async function getBooking(ctx: Ctx, id: number, { include = [] }: BookingQuery = {}): Promise<StoredBooking> {
  const [booking, booked] = await Promise.all([findBooking(ctx, id), findParticipants(ctx, id)]);
  const { orderId, courseDateId, currency, ...amounts } = Problem.assertFound(booking, 'Booking');
  const balance = await loadBalance(ctx, id);
  const exclVat = toMinorUnits(amounts.before) - toMinorUnits(amounts.discounts);
  const vat = toMinorUnits(amounts.vat);
  return {
    successful: true,
    summary: {
      order_id: String(orderId),
      booking_id: String(id),
      coursedate_id: String(courseDateId),
      currency: currency.toLowerCase(),
      total_excl_vat: toNumber(exclVat),
      total_incl_vat: toNumber(exclVat + vat),
      total_vat: toNumber(vat),
      number_of_participants: booked.length,
      participants: booked,
      paid_by_voucher: toNumber(toMinorUnits(amounts.byVoucher)),
      to_pay: balance.due,
      ...(include.includes('balance') && { balance }),
    },
  };
}

async function findBooking(ctx: Ctx, id: number) {
  const [found] = await ctx.db
    .select({
      orderId: bookings.orderId,
      courseDateId: bookings.courseDateId,
      currency: orders.currency,
      before: orders.totalBeforeDiscounts,
      discounts: orders.totalDiscounts,
      vat: orders.totalVat,
      byVoucher: paidByVouchers,
    })
    .from(bookings)
    .innerJoin(orders, sameTenant(orders, bookings, eq(orders.id, bookings.orderId)))
    .where(tenantWhere(ctx, bookings, eq(bookings.id, id)));
  return found;
}

const findParticipants = (ctx: Ctx, bookingId: number) =>
  ctx.db
    .select({ id: participants.id, status_id: participants.statusId })
    .from(participants)
    .where(tenantWhere(ctx, participants, eq(participants.bookingId, bookingId)))
    .orderBy(asc(participants.id));
