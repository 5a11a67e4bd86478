import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, eq, gt, inArray, isNotNull, isNull, or } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import { nextState, states, toState } from '../../../core/reference/participant-states.ts';
import { hasLeft, isConfirmed } from '../../../core/reference/statuses.ts';
import { t } from '../../../core/schema/types.ts';
import { todayIn } from '../../../core/timestamps.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Ctx, SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { bookings, orderLines, orders } from '../../../database/tables/orders.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import {
  attendanceMarks,
  attendances,
  orderLineParticipants,
  participants,
} from '../../../database/tables/participants.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { replaceOfferLinks } from '../../messages/links/service.ts';
import { queueMails, reserveFormMail, isMailSwitchedOn, type NewMail } from '../../messages/mails/queue-service.ts';
import { queueNotices } from '../../messages/notices/service.ts';
import { hasAttended } from '../../participants/attendance/loaders.ts';
import type { ParticipantRow } from '../../participants/participants/schema.ts';
import { findParticipant, getParticipant } from '../../participants/participants/service.ts';
import { deletePlaceholder, enrolUsers, findExistingUsers, type Person } from '../../people/users/enrolment-service.ts';
import { isPerson } from '../../people/users/loaders.ts';
import { endDueHolds, promoteAfterLeaving } from '../seat-assignment/promotion-service.ts';
import { decideStatus } from '../seat-assignment/service.ts';
import type { ParticipantChange } from './body-schema.ts';

/**
 * A new status that holds a seat follows the rules of booking; a freed seat promotes the waiting list. Another person on
 * the place keeps nothing of the former one. A `user` with its id and names is who has the place, as it was read.
 */
export async function updateParticipant(ctx: Ctx, id: number, body: ParticipantChange) {
  const { id: userId, external_id: externalId } = body.user ?? {};
  const hasOthers = Object.keys(body.user ?? {}).length > 1;
  if (hasOthers && userId === undefined && externalId !== undefined)
    throw new Problem('invalid', 'Field(s) not valid: user. An id or external_id stands alone', { notValid: ['user'] });
  const isRead = hasOthers && userId !== undefined;
  const user = isRead ? undefined : body.user;
  const participant = tenantWhere(ctx, participants, eq(participants.id, id));
  const areas: Areas = user || body.idStatus !== undefined ? ['dates', 'people', 'money'] : ['dates', 'people'];
  await ctx.write(areas, async (w) => {
    const found = await findParticipant(w, id);
    if (isRead && userId !== found.userId) throw Problem.invalidFields({ notValid: ['user'] });
    const newStatusId = body.idStatus === found.statusId ? undefined : body.idStatus;
    const isDecided = user !== undefined || newStatusId !== undefined;
    const hasEnded = isDecided && (await endDueHolds(w, [found.courseDateId], id));
    const row = hasEnded ? await findParticipant(w, id) : found;
    const isToldOfEnd = !hasLeft(found.statusId) && hasLeft(row.statusId);

    const swap = user && (await decideSwap(w, row, user));
    const before = { ...row, ...swap };
    const { columns, freesPlace, mail } = await decideStatus(w, before, newStatusId ?? before.statusId);
    const changes = {
      ...swap,
      paidId: body.idPaid,
      completed: body.completed ?? before.completed,
      passed: body.passed ?? before.passed,
      noShow: body.no_show ?? before.noShow,
      userComment: body.user_comment === undefined ? before.userComment : body.user_comment,
      certificateIssuedAt:
        body.certificate_issued_at === undefined ? before.certificateIssuedAt : body.certificate_issued_at,
      customProperties: t.mergeCustomProperties(before.customProperties, body.custom_properties),
      ...columns,
    };
    const setsCompleted = body.completed !== undefined && !(isRead && body.completed === before.completed);
    const isByHand = !before.completedByHand && setsCompleted;
    const changed = await w.tx.updateChanged(participants, participant, changes, w.now);
    // Not a change that anybody sees: `updated_at` stays.
    if (isByHand) await w.tx.update(participants).set({ completedByHand: true }).where(participant);
    if (changed === 0 && !hasEnded) {
      if (!isByHand) w.tx.rollBack();
      return;
    }
    if (swap) await completeSwap(w, row, swap.userId);
    else if (mail && !isToldOfEnd) {
      const endsPlace = isConfirmed(row.statusId);
      await queueMails(w, [{ purpose: mail, participantId: id, isFollowUp: true, endsPlace }]);
    }
    if (freesPlace) await promoteAfterLeaving(w, [row]);
    const { statusId = before.statusId }: { statusId?: number } = columns;
    if (statusId !== before.statusId) await notifyOfStatus(w, before, statusId);
  });
  return getParticipant(ctx, id, {}, true);
}

async function notifyOfStatus(w: WriteCtx, { id, statusId: before, courseDateId }: ParticipantRow, after: number) {
  await queueNotices(w, {
    booked: hasLeft(before) && !hasLeft(after) ? [id] : [],
    canceled: !hasLeft(before) && hasLeft(after) ? [id] : [],
    courseDateIds: [courseDateId],
  });
}

/** The names of a person, or the id of a course user in either form. */
type NewPerson = Partial<
  Pick<Person, 'firstname' | 'lastname' | 'email' | 'phone' | 'company' | 'position'> &
    Record<'date_of_birth' | 'external_id', string> & { id: number }
>;

/** The columns of a place whose person changes, by the rules of booking; undefined for the person who has it. */
async function decideSwap(w: WriteCtx, row: ParticipantRow, person: NewPerson) {
  const { date_of_birth: dateOfBirth, id, external_id: externalId, ...others } = person;
  if (dateOfBirth !== undefined && dateOfBirth > todayIn(w.settings.timezone))
    throw Problem.invalidFields({ rules: { 'user.date_of_birth': 'date_in_future' } });
  const { customerId, properties, isAttended } = await findPlace(w, row.id);
  const { company, company_number: companyNumber } = properties ?? {};
  const fromOrder = { company: others.company ?? company ?? undefined, companyNumber: companyNumber ?? undefined };
  const persons = [{ ...others, dateOfBirth, ...fromOrder } as Person];
  const known = id === undefined && externalId === undefined ? undefined : await findUser(w, id, externalId);
  const found = known ? [] : await findExistingUsers(w, persons);
  const existing = known ?? itemAt(found).id;
  if (existing === row.userId) return undefined;
  assertNotAttended(isAttended ? [row] : []);

  const userId = existing ?? itemAt(await enrolUsers(w, persons, found, customerId)).userId;
  const state = nextState(toState(row), 'name', 'own');
  const named = state && states[state];
  return {
    userId,
    userComment: null,
    customProperties: null,
    certificateIssuedAt: null,
    ...{ completed: false, completedByHand: false, passed: false, noShow: false },
    ...named,
    ...(named && named.statusId !== row.statusId && { statusUpdatedAt: w.now }),
  };
}

/** The customer and the properties of the participant's order; `isAttended` is true once attendance was registered. */
async function findPlace(w: WriteCtx, id: number) {
  const [place] = await w.tx
    .select({ customerId: orders.customerId, properties: orders.customProperties, isAttended: hasAttended })
    .from(participants)
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .innerJoin(orders, sameTenant(orders, bookings, eq(orders.id, bookings.orderId)))
    .where(tenantWhere(w, participants, eq(participants.id, id)));
  return Problem.assertFound(place, 'Participant');
}

async function findUser(w: WriteCtx, id: number | undefined, externalId = '') {
  const isNamed = id === undefined ? eq(courseUsers.externalId, externalId) : eq(courseUsers.id, id);
  const { id: userId, erasedAt } = courseUsers;
  const isFound = tenantWhere(w, courseUsers, and(isNamed, isPerson));
  const [user, other] = await w.tx.select({ id: userId, erasedAt }).from(courseUsers).where(isFound).limit(2);
  if (!user) throw Problem.invalidFields({ notValid: ['user'] });
  if (other) throw Problem.invalidFields({ rules: { user: 'person_ambiguous' } });
  if (user.erasedAt !== null) throw Problem.invalidFields({ rules: { user: 'person_erased' } });
  return user.id;
}

export function assertNotAttended(attended: { id: number }[]) {
  const message = 'Attendance of the participant is registered already';
  const errors = attended.map(({ id }) => ({ code: 'attendance_registered' as const, message, participantId: id }));
  if (errors.length > 0) throw new Problem('invalid', message, { errors });
}

/** Records a swap that is written, with its mails, and deletes the former user if it was a placeholder. */
async function completeSwap(
  w: WriteCtx,
  { id, userId: formerId, statusId, heldFor, courseDateId }: ParticipantRow,
  userId: number,
  { sendMail = true } = {},
) {
  const isNamed = !(await deletePlaceholder(w, formerId, userId));
  await deleteAttendances(w, [id]);
  await touchOrders(w, [id]);
  await recordEvents(w, [{ type: 'participant.swapped', id }]);
  const namesNobody = and(isNull(outbox.userId), isNull(outbox.namedUserId), isNull(outbox.bookingId));
  const isTried = or(isNotNull(outbox.sentAt), gt(outbox.attempts, 0));
  await w.tx
    .update(outbox)
    .set({ namedUserId: formerId })
    .where(tenantWhere(w, outbox, eq(outbox.participantId, id), namesNobody, isTried));
  const users = isNamed && !hasLeft(statusId) ? [userId, formerId] : [userId];
  const endsPlace = isConfirmed(statusId);
  const mails = users.map((user): NewMail => ({ purpose: 'swap', userId: user, participantId: id, endsPlace }));
  if (sendMail) await queueMails(w, mails);
  await replaceOfferLinks(w, userId, [id]);
  if (heldFor === 'name') await queueNotices(w, { courseDateIds: [courseDateId] });
}

export type NamedPlace = { participantId: number; person: Pick<Person, 'firstname' | 'lastname' | 'email'> };

/** Names unnamed places of a booking and returns how many; who reached the daily mail limit gets no mail. */
export const namePlaces = (ctx: Ctx, bookingId: number, places: NamedPlace[]): Promise<number> =>
  ctx.write(['dates', 'people', 'money'], async (w) => {
    const isOn = await isMailSwitchedOn(ctx, w.tx, 'swap');
    let named = 0;
    for (const { participantId, person } of places) {
      const ofBooking = and(eq(participants.bookingId, bookingId), eq(participants.id, participantId));
      const place = tenantWhere(ctx, participants, ofBooking, eq(participants.heldFor, 'name'));
      const [row] = await w.tx.select().from(participants).where(place);
      const swap = row && (await decideSwap(w, row, person));
      if (row === undefined || swap === undefined) continue;
      await w.tx.updateChanged(participants, place, swap, w.now);
      const sendMail = isOn && (await reserveFormMail(w, person.email));
      await completeSwap(w, row, swap.userId, { sendMail });
      named += 1;
    }
    return named > 0 ? named : w.tx.rollBack(named);
  });

/** Deletes what is left of attendance when the person or date changes; a registered one forbids both. */
export async function deleteAttendances(w: SchoolWrite, participantIds: number[]) {
  for (const table of [attendanceMarks, attendances])
    await w.tx.delete(table).where(tenantWhere(w, table, hasAnyId(table.participantId, participantIds)));
}

/** Call when the orders show other persons or dates. */
export async function touchOrders(w: WriteCtx, participantIds: number[]) {
  const booked = w.tx
    .select({ id: bookings.orderId })
    .from(participants)
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(tenantWhere(w, participants, hasAnyId(participants.id, participantIds)));
  const { participantId, orderLineId } = orderLineParticipants;
  const charged = w.tx
    .select({ id: orderLines.orderId })
    .from(orderLineParticipants)
    .innerJoin(orderLines, sameTenant(orderLines, orderLineParticipants, eq(orderLines.id, orderLineId)))
    .where(tenantWhere(w, orderLineParticipants, hasAnyId(participantId, participantIds)));
  const chosen = tenantWhere(w, orders, inArray(orders.id, booked.union(charged)));
  await w.tx.update(orders).set({ updatedAt: w.now }).where(chosen);
}
