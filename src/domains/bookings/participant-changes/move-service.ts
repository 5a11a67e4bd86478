import { hasAnyId } from '../../../database/tables/columns.ts';
import { asc, isNotNull } from 'drizzle-orm';
import { Problem, type CodedError } from '../../../core/errors.ts';
import { findTransition, states, toState } from '../../../core/reference/participant-states.ts';
import { hasLeft, holdsSeat, isConfirmed } from '../../../core/reference/statuses.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { attendances, participants } from '../../../database/tables/participants.ts';
import { grouped } from '../../../lists/relations.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { bookingProblem, participantError, bookingError } from '../../../core/booking-errors.ts';
import { changePrice } from '../../orders/credits/difference-service.ts';
import { queueMails, type NewMail } from '../../messages/mails/queue-service.ts';
import { queueNotices } from '../../messages/notices/service.ts';
import { readResultingOrders } from '../../orders/credits/service.ts';
import type { ParticipantRow } from '../../participants/participants/schema.ts';
import { findParticipant, getParticipant } from '../../participants/participants/service.ts';
import type { DateFound } from '../booking/quote-service.ts';
import { loadContext } from '../booking/quote-service.ts';
import { decideSeats } from '../seat-assignment/assignment-service.ts';
import { endDueHolds, promoteAfterLeaving } from '../seat-assignment/promotion-service.ts';
import { assertNotAttended, deleteAttendances, touchOrders } from './editing-service.ts';
import type { MoveBody } from './body-schema.ts';

/** Moves a participant to another date under the rules of booking. A second call changes nothing. */
export const moveParticipant = (ctx: Ctx, id: number, { dry_run = false, ...body }: MoveBody) =>
  ctx.write(['dates', 'people', 'money'], async (w) => {
    const found = await findParticipant(w, id);
    const hasEnded = await endDueHolds(w, [found.courseDateId], id);
    const row = hasEnded ? await findParticipant(w, id) : found;
    const reader = { ...ctx, db: w.tx };
    const reload = async (orderIds: number[] = []) => ({
      ...(await getParticipant(reader, id, {}, true)),
      ...(dry_run && { dry_run }),
      ...(orderIds.length > 0 && { orders: await readResultingOrders(reader, orderIds, dry_run) }),
    });
    if (row.courseDateId === body.coursedate_id) return hasEnded && !dry_run ? reload() : w.tx.rollBack(await reload());
    if (hasLeft(row.statusId)) throw Problem.coded('participant_left', 'The participant has left the course date');
    const date = await moveParticipants(w, [row], body.coursedate_id);
    const isOtherCourse = row.courseId !== date.courseId;
    const isRepriced = body.price === 'difference' && isOtherCourse;
    const result = await reload(isRepriced ? await changePrice(w, id, date) : []);
    return dry_run ? w.tx.rollBack(result) : result;
  });

type Moving = Pick<ParticipantRow, 'id' | 'userId' | 'statusId' | 'heldFor' | 'courseDateId' | 'bookingId'>;

/** Moves participants to another date and promotes the waiting lists of theirs; throws an error for each who cannot. */
export async function moveParticipants(
  w: WriteCtx,
  rows: Moving[],
  courseDateId: number,
  { sendMail = true, field = 'coursedate_id' } = {},
) {
  const ids = rows.map(({ id }) => id);
  assertNotAttended(await findAttended(w, ids));
  const [date] = (await loadContext(w, { coursedate_id: courseDateId })).dates;
  if (date === undefined) throw bookingProblem([{ ...bookingError('course_date_identifier_invalid'), field }]);
  if (rows.length === 0) return date;
  const decided = decideStates(date, rows);

  await deleteAttendances(w, ids);
  const place = { courseId: date.courseId, courseDateId, heldUntil: null, lapsedOffers: 0 };
  for (const [state, ids] of grouped(
    decided,
    ([, state]) => state,
    ([id]) => id,
  ))
    await w.tx
      .update(participants)
      .set({ ...place, ...state, statusUpdatedAt: w.now, updatedAt: w.now })
      .where(tenantWhere(w, participants, hasAnyId(participants.id, ids)));
  await touchOrders(w, ids);
  const effects = rows.map((row) => ({ ...row, ...findTransition(toState(row), 'move') }));
  const events = effects.flatMap(({ id, event }) => (event ? [{ type: event, id }] : []));
  await recordEvents(w, events);
  const mails = effects.flatMap(({ id, userId, heldFor, bookingId, mail }): NewMail[] =>
    mail ? [{ purpose: mail, participantId: id, ...(heldFor === 'name' ? { bookingId } : { userId }) }] : [],
  );
  if (sendMail) await queueMails(w, [...mails, ...toMovedAway(rows)]);
  await promoteAfterLeaving(w, rows);
  const persons = sendMail ? { booked: ids, moved: rows } : {};
  await queueNotices(w, { ...persons, courseDateIds: [courseDateId] });
  return date;
}

/** Those who have registered attendance. */
const findAttended = (w: WriteCtx, ids: number[]) =>
  w.tx
    .selectDistinct({ id: attendances.participantId })
    .from(attendances)
    .where(tenantWhere(w, attendances, hasAnyId(attendances.participantId, ids), isNotNull(attendances.attended)))
    .orderBy(asc(attendances.participantId));

/** Tells persons who had a seat on the former date. */
export const toMovedAway = (rows: Moving[]): NewMail[] =>
  rows
    .filter(({ statusId, heldFor }) => holdsSeat(statusId) && heldFor === null)
    .map(({ id, userId, statusId, courseDateId }) => ({
      purpose: 'moved_away',
      userId,
      participantId: id,
      courseDateId,
      endsPlace: isConfirmed(statusId),
    }));

/** The ids with the states on the date; throws if it has no place for one of them. */
function decideStates(date: DateFound, rows: Moving[]) {
  const requests = rows.map((row) => ({ courseDateId: date.id, cause: 'move' as const, from: toState(row) }));
  const decided = decideSeats([date], requests, { check: true, waitWhenFull: true });
  const errors: CodedError[] = [
    ...(date.isCanceled ? [bookingError('course_date_cancelled')] : []),
    ...(date.isPassed ? [bookingError('deadline_passed')] : []),
    ...rows.flatMap(({ id }, n) =>
      decided[n] === undefined ? [{ ...participantError(n, 'no_seats_available'), participantId: id }] : [],
    ),
  ];
  if (errors.length > 0) throw bookingProblem(errors);
  return rows.flatMap(({ id }, n) => {
    const state = decided[n];
    return state === undefined ? [] : [[id, states[state]] as const];
  });
}
