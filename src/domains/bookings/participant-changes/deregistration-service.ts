import { and, asc, eq, inArray, type SQL } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { isConfirmed, participantStatus } from '../../../core/reference/statuses.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { defineReferences } from '../../../lists/references.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { bookingProblem } from '../../../core/booking-errors.ts';
import { queueMails, type NewMail } from '../../messages/mails/queue-service.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import { changeStates, endDueHoldsOfDates } from '../seat-assignment/promotion-service.ts';
import { deregisterParticipants, type Participant } from '../seat-assignment/service.ts';
import type { DeregisterBody } from './body-schema.ts';

/** The participants are those of the booking. */
export const deregistrationReferences = defineReferences<DeregisterBody>({
  participants: async (named, { ctx, reader, params = {} }) => {
    const ids = toIds(named);
    const chosen = and(eq(participants.bookingId, params['id']!), inArray(participants.id, [...ids]));
    return (await reader.$count(participants, tenantWhere(ctx, participants, chosen))) === ids.size;
  },
});
const toIds = (named: NonNullable<DeregisterBody['participants']>) =>
  new Set(named.map((one) => (typeof one === 'number' ? one : one.id)));

type Deregistration = {
  withFee: boolean;
  /** The switch of the school decides unless sent. */
  sendMail?: boolean | undefined;
  /** True: also to a person with an earlier mail about the place. */
  isFollowUp?: boolean;
};

/** Deregisters participants, with their mails, and promotes the waiting lists; returns those who had not left before. */
export async function deregisterWithMails(
  ctx: Ctx,
  tx: Tx,
  now: string,
  chosen: Participant[],
  { withFee, sendMail, isFollowUp = false }: Deregistration,
) {
  const leaving = await deregisterParticipants(ctx, tx, now, chosen, withFee);
  const named = leaving.filter(({ heldFor }) => heldFor !== 'name');
  const mails = named.map(({ id, statusId }): NewMail => ({
    ...{ purpose: 'deregistration', participantId: id, endsPlace: isConfirmed(statusId) },
    ...{ isRequested: sendMail === true, isFollowUp },
  }));
  if (sendMail !== false) await queueMails(ctx, tx, now, mails);
  return leaving;
}

/**
 * Ends the next due offers of dates that are deleted. Deregisters the next ones who wait there, with a mail and a credit
 * of what is unpaid; nobody moves up. Returns true if others may be left.
 */
export async function endWaiting(ctx: Ctx, tx: Tx, now: string, dates: SQL | undefined) {
  const limit = await endDueHoldsOfDates(ctx, tx, now, dates);
  const waits = eq(participants.statusId, participantStatus.waiting);
  const waiting = await tx
    .select({ participantId: participants.id })
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(tenantWhere(ctx, participants, waits, dates))
    .orderBy(asc(participants.id))
    .limit(limit);
  const change = { from: 'waiting', cause: 'deregister', place: 'own', isMailRequested: true } as const;
  const changes = waiting.map((one) => ({ ...one, ...change }));
  await changeStates(ctx, tx, now, changes);
  return waiting.length === limit;
}

/** Unknown participants that an error names. */
const maxNamed = 100;
const unknownParticipants = (ids: number[]) =>
  bookingProblem(
    ids.map((participantId) => {
      const message = 'Field(s) not valid: participants';
      return { code: 'field_invalid', message, field: 'participants', participantId };
    }),
  );

/**
 * Deregisters all participants of a booking, or those named, and promotes the waiting lists. Idempotent: those
 * deregistered before stay as they are.
 */
export async function deregister(ctx: Ctx, bookingId: number, body: DeregisterBody) {
  const { with_fee = false, send_receipt_email_to_participant: sendMail } = body.config ?? {};
  const chosenIds = body.participants && toIds(body.participants);
  const ofBooking = tenantWhere(ctx, participants, eq(participants.bookingId, bookingId));
  await ctx.write(['dates', 'people', 'money'], async (tx, now) => {
    if ((await tx.$count(bookings, tenantWhere(ctx, bookings, eq(bookings.id, bookingId)))) === 0)
      throw Problem.notFound('Booking');

    const booked = await tx.select().from(participants).where(ofBooking);
    const chosen = chosenIds === undefined ? booked : booked.filter(({ id }) => chosenIds.has(id));
    const known = new Set(booked.map(({ id }) => id));
    const unknown = [...(chosenIds ?? [])].filter((id) => !known.has(id));
    if (unknown.length > 0) throw unknownParticipants(unknown.slice(0, maxNamed));
    const leaving = await deregisterWithMails(ctx, tx, now, chosen, { withFee: with_fee, sendMail });
    if (leaving.length === 0) tx.rollbackNoChange();
  });
  const rows = await ctx.db.select().from(participants).where(ofBooking).orderBy(asc(participants.id));
  return {
    successful: true,
    booking_id: String(bookingId),
    participants: await participantSerializer.embed(ctx, rows, {}, []),
  };
}
