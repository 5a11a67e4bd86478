import { eq, sql } from 'drizzle-orm';
import { canceled } from '../../../core/reference/statuses.ts';
import type { Ctx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { participants } from '../../../database/tables/participants.ts';
import { courseUsers, fullName } from '../../../database/tables/users.ts';
import { grouped } from '../../../lists/relations.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { loadBookingBalance, loadPlacePrice } from '../../../domains/orders/payments/balance-service.ts';
import type { CancellationTerms } from '../../../domains/bookings/participant-changes/schema.ts';
import { loadCancellationTerms } from '../../../domains/bookings/participant-changes/deregistration-service.ts';
import { findEnrolments, findShownCredit, type Enrolment } from './courses.ts';

export type LinkedPlace = {
  enrolment: Enrolment;
  name: string;
  mayBeNamed: boolean;
  /** Undefined where the school has not allowed cancellations. */
  terms: CancellationTerms | undefined;
};
export type LinkedBooking = Awaited<ReturnType<typeof loadLinkedBooking>>;

/** A booking as its payer sees it: its places by date, without links to join, and its amounts. */
export async function loadLinkedBooking(ctx: Ctx, bookingId: number) {
  const enrolments = await findEnrolments(ctx, eq(participants.bookingId, bookingId));
  const names = await loadNames(ctx, bookingId);
  const ids = enrolments.map(({ id }) => id);
  const terms = await loadCancellationTerms(ctx, ctx.db, ids);
  const places = enrolments.reverse().map((enrolment): LinkedPlace => {
    const { name, heldFor } = names.get(enrolment.id)!;
    const mayBeNamed = heldFor === 'name' && !enrolment.isOver && enrolment.dateStatusId !== canceled;
    return { enrolment: { ...enrolment, eventUrl: null }, name, mayBeNamed, terms: terms.get(enrolment.id) };
  });
  const byDate = grouped(places, ({ enrolment }) => enrolment.courseDateId);
  return { places, dates: [...byDate.values()], ...(await loadBookingBalance(ctx, bookingId)) };
}

async function loadNames(ctx: Ctx, bookingId: number) {
  const rows = await ctx.db
    .select({ id: participants.id, heldFor: participants.heldFor, name: fullName })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .where(tenantWhere(ctx, participants, eq(participants.bookingId, bookingId)));
  return new Map(rows.map((row) => [row.id, row]));
}

/** A waiting person's place, with its offer while that can be answered; undefined if the date is gone. */
export async function loadOffer(ctx: Ctx, participantId: number) {
  const [enrolment] = await findEnrolments(ctx, eq(participants.id, participantId));
  const [hold] = await ctx.db
    .select({
      isOffered: sql<boolean>`${participants.heldFor} is not distinct from 'offer'`,
      isOpen: sql<boolean>`coalesce(${participants.heldUntil} > now(), false) and ${courseDates.statusId} <> ${canceled}`,
      until: sql<
        string | null
      >`to_char(timezone(${courseDates.zone}, ${participants.heldUntil}), 'YYYY-MM-DD HH24:MI')`,
    })
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(tenantWhere(ctx, participants, eq(participants.id, participantId)));
  if (!enrolment || !hold) return undefined;
  const [credit, price] = await Promise.all([findShownCredit(ctx, enrolment), loadPlacePrice(ctx, participantId)]);
  return { enrolment, ...hold, credit, price };
}
export type Offer = NonNullable<Awaited<ReturnType<typeof loadOffer>>>;
