import { and, asc, eq, type SQL, sql } from 'drizzle-orm';
import { bookingProblem } from '../../../core/booking-errors.ts';
import { Problem } from '../../../core/errors.ts';
import { toMinorUnits, type Minor } from '../../../core/money.ts';
import { isConfirmed, participantStatus, canceled } from '../../../core/reference/statuses.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import type { Queryable } from '../../../database/statements.ts';
import { currentTime, hasAnyId } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { locations } from '../../../database/tables/places.ts';
import { bookingSettings } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { defineReferences } from '../../../lists/references.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { queueMails, type NewMail, reserveFormMail } from '../../messages/mails/queue-service.ts';
import { creditUnpaid } from '../../orders/credits/place-service.ts';
import { hasAttended } from '../../participants/attendance/loaders.ts';
import { participantSerializer } from '../../participants/participants/serializer.ts';
import { changeStates, endDueHoldsOfDates, endDueHolds } from '../seat-assignment/promotion-service.ts';
import { deregisterParticipants, type Participant } from '../seat-assignment/service.ts';
import type { DeregisterBody } from './body-schema.ts';
import { decideTerms, type CancellationTerms } from './schema.ts';
import { findCredit } from './sql.ts';

/** The participants are those of the booking. */
export const deregistrationReferences = defineReferences<DeregisterBody>({
  participants: async (named, { ctx, reader, params = {} }) => {
    const ids = toIds(named);
    const chosen = and(eq(participants.bookingId, params['id']!), hasAnyId(participants.id, [...ids]));
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
  w: WriteCtx,
  chosen: Participant[],
  { withFee, sendMail, isFollowUp = false }: Deregistration,
) {
  const leaving = await deregisterParticipants(w, chosen, withFee);
  const named = leaving.filter(({ heldFor }) => heldFor !== 'name');
  const mails = named.map(({ id, statusId }): NewMail => ({
    ...{ purpose: 'deregistration', participantId: id, endsPlace: isConfirmed(statusId) },
    ...{ isRequested: sendMail === true, isFollowUp },
  }));
  if (sendMail !== false) await queueMails(w, mails);
  return leaving;
}

/** Ends due offers of deleted dates and deregisters who waits, with mail and credit; true if others may be left. */
export async function endWaiting(w: WriteCtx, dates: SQL | undefined) {
  const limit = await endDueHoldsOfDates(w, dates);
  const waits = eq(participants.statusId, participantStatus.waiting);
  const waiting = await w.tx
    .select({ participantId: participants.id })
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(tenantWhere(w, participants, waits, dates))
    .orderBy(asc(participants.id))
    .limit(limit);
  const change = { from: 'waiting', cause: 'deregister', place: 'own', isMailRequested: true } as const;
  const changes = waiting.map((one) => ({ ...one, ...change }));
  await changeStates(w, changes);
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

/** Deregisters a booking's participants, or those named, and promotes the waiting lists; idempotent. */
export async function deregister(ctx: Ctx, bookingId: number, body: DeregisterBody) {
  const { with_fee = false, send_receipt_email_to_participant: sendMail } = body.config ?? {};
  const chosenIds = body.participants && toIds(body.participants);
  const ofBooking = tenantWhere(ctx, participants, eq(participants.bookingId, bookingId));
  await ctx.write(['dates', 'people', 'money'], async (w) => {
    if ((await w.tx.$count(bookings, tenantWhere(ctx, bookings, eq(bookings.id, bookingId)))) === 0)
      throw Problem.notFound('Booking');

    const booked = await w.tx.select().from(participants).where(ofBooking);
    const chosen = chosenIds === undefined ? booked : booked.filter(({ id }) => chosenIds.has(id));
    const known = new Set(booked.map(({ id }) => id));
    const unknown = [...(chosenIds ?? [])].filter((id) => !known.has(id));
    if (unknown.length > 0) throw unknownParticipants(unknown.slice(0, maxNamed));
    const leaving = await deregisterWithMails(w, chosen, { withFee: with_fee, sendMail });
    if (leaving.length === 0) w.tx.rollBack();
  });
  const rows = await ctx.db.select().from(participants).where(ofBooking).orderBy(asc(participants.id));
  return {
    successful: true,
    booking_id: String(bookingId),
    participants: await participantSerializer.embed(ctx, rows, {}, []),
  };
}

export type PlaceCredit = { credited: Minor; returned: Minor; currency: string; isOwn: boolean };

/** The amount credited when a participant left, and its part that went back to vouchers; undefined without a credit. */
export async function loadCredit(on: Queryable, providerId: number, participantId: number) {
  const [found] = await findCredit(on, { providerId, participantId });
  const credit = found && { ...found, credited: toMinorUnits(found.credited), returned: toMinorUnits(found.returned) };
  return credit satisfies PlaceCredit | undefined;
}

/** Dates of earlier millennia would be out of the range of PostgreSQL. */
const maxDays = 1_000_000;
const isWithoutTime = sql`coalesce(${courseDates.startTimeAt}, '00:00') = '00:00'`;
const startsAt = sql`${courseDates.startAt} + coalesce(${courseDates.startTimeAt}, '00:00'::time)`;
const freeUntil = sql`${startsAt} - least(coalesce(${locations.cancellationDays}, 0), ${maxDays}) * interval '1 day'`;
/** The end of a day is shown as 23:59, and a time that the clock skips as the one that it shows instead. */
const toText = (localTime: typeof startsAt) =>
  sql<string>`to_char(timezone(${courseDates.zone}, timezone(${courseDates.zone}, ${localTime}
    - case when ${isWithoutTime} then interval '1 minute' else interval '0' end)), 'YYYY-MM-DD HH24:MI')`;

/** The fields of a date and its school that decide the terms of cancellation. */
const selectDateFacts = (time: SQL) => ({
  lateCancellation: bookingSettings.lateCancellation,
  isDateCanceled: sql<boolean>`${courseDates.statusId} = ${canceled} or ${courseDates.deletedAt} is not null`,
  isStarted: sql<boolean>`${courseDates.startsAt} <= ${time}`,
  isLate: sql<boolean>`timezone(${courseDates.zone}, ${freeUntil}) <= ${time}`,
  freeUntil: toText(freeUntil),
  startsAt: toText(startsAt),
});

/** The terms of a seat that is booked now; undefined where the school has not allowed cancellations. */
export async function findDateTerms(ctx: Ctx, courseDateId: number): Promise<CancellationTerms | undefined> {
  const [facts] = await ctx.db
    .select(selectDateFacts(currentTime))
    .from(courseDates)
    .innerJoin(bookingSettings, sameTenant(bookingSettings, courseDates, eq(bookingSettings.selfCancellation, true)))
    .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
    .where(tenantWhere(ctx, courseDates, eq(courseDates.id, courseDateId)));
  return facts && decideTerms({ ...facts, statusId: participantStatus.confirmed, heldFor: null, isAttended: false });
}

/** The terms of these participants at a time, by default now; none where the school has not allowed cancellations. */
export async function loadCancellationTerms(
  ctx: Ctx,
  db: Ctx['db'] | Tx,
  participantIds: number[],
  at?: string,
): Promise<Map<number, CancellationTerms>> {
  const time = at === undefined ? currentTime : sql`${at}::timestamptz`;
  const rows = await db
    .select({
      id: participants.id,
      statusId: participants.statusId,
      heldFor: participants.heldFor,
      isAttended: hasAttended,
      ...selectDateFacts(time),
    })
    .from(participants)
    .innerJoin(bookingSettings, sameTenant(bookingSettings, participants, eq(bookingSettings.selfCancellation, true)))
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .leftJoin(locations, sameTenant(locations, courseDates, eq(locations.id, courseDates.locationId)))
    .where(tenantWhere(ctx, participants, hasAnyId(participants.id, participantIds)));
  return new Map(rows.map(({ id, ...facts }) => [id, decideTerms(facts)]));
}

/** A place of the person, or one of the booking of a payer. */
export type OwnPlace = { participantId: number } & ({ userId: number } | { bookingId: number });

/** What the person has confirmed: the participant may have another date since, or the school charge a fee. */
type Confirmed = { courseDateId: number; acceptsFee: boolean };

/**
 * Cancels a place, credits what is unpaid if it is free of charge, and promotes; returns the terms where it may not.
 */
export const cancelOwnPlace = (ctx: Ctx, place: OwnPlace, confirmed: Confirmed): Promise<CancellationTerms | 'done'> =>
  ctx.write(['dates', 'people', 'money'], async (w) => {
    const { courseDateId } = await findOwn(w, place);
    await endDueHolds(w, [courseDateId], place.participantId);
    const terms = (await loadCancellationTerms(ctx, w.tx, [place.participantId], w.now)).get(place.participantId);
    if (terms === undefined) throw Problem.notFound('Participant');
    const isOpen = terms.kind === 'free' || (terms.kind === 'fee' && confirmed.acceptsFee);
    if (!isOpen || confirmed.courseDateId !== courseDateId) return w.tx.rollBack(terms);
    const row = await findOwn(w, place);
    const sendMail = 'userId' in place || (await mayMail(w, row.id));
    await deregisterWithMails(w, [row], { withFee: terms.kind === 'fee', sendMail });
    if (terms.kind === 'free') await creditUnpaid(w, [row.id]);
    return 'done';
  });

/** True within the limit of mails to a recipient: the participant, or the booker of one without an address. */
async function mayMail(w: WriteCtx, participantId: number) {
  const [found] = await w.tx
    .select({ own: courseUsers.email, booker: bookings.bookerEmail })
    .from(participants)
    .innerJoin(courseUsers, sameTenant(courseUsers, participants, eq(courseUsers.id, participants.userId)))
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(tenantWhere(w, participants, eq(participants.id, participantId)));
  const email = found?.own ?? found?.booker ?? null;
  return email !== null && reserveFormMail(w, email);
}

async function findOwn(w: WriteCtx, place: OwnPlace) {
  const owner = 'userId' in place ? eq(participants.userId, place.userId) : eq(participants.bookingId, place.bookingId);
  const where = tenantWhere(w, participants, owner, eq(participants.id, place.participantId));
  const [row] = await w.tx.select().from(participants).where(where);
  return Problem.assertFound(row, 'Participant');
}
