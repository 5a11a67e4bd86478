import { and, asc, eq, isNull } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { toSingleLine } from '../../../core/text.ts';
import { canceled, hasLeft, isConfirmed } from '../../../core/reference/statuses.ts';
import type { Areas } from '../../../database/areas.ts';
import type { Database, Write } from '../../../database/client.ts';
import type { Ctx, SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { auditedJob, runEach } from '../../../database/periodic.ts';
import { cancellations, courseDates } from '../../../database/tables/coursedates.ts';
import { courses } from '../../../database/tables/courses.ts';
import { providerState } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { creditParticipants, findCreditableOrders } from '../../orders/credits/place-service.ts';
import {
  queueDateChanges,
  readSchedule,
  isMailSwitchedOn,
  queueMails,
  type NewMail,
} from '../../messages/mails/queue-service.ts';
import { moveParticipants, toMovedAway } from '../participant-changes/move-service.ts';
import { promoteAfterUpdate } from '../seat-assignment/promotion-service.ts';
import { deregisterParticipants } from '../seat-assignment/service.ts';
import type { CancellationBody } from './body-schema.ts';
import { toCancellation, type Cancellation, type CancellationRow } from './schema.ts';
import { findLeaving, type Leaving } from './cancellation-sql.ts';

type School = Pick<Ctx, 'providerId'>;

const areas: Areas = ['catalog', 'dates', 'people', 'money'];
/** Limits the time under the lock. */
const maxBookings = 5;
/** But for a booking of more, whose order is credited in the same write. */
const maxPersons = 100;
const maxMoved = 1_000;
/** Limits the time of a request; the server completes the remaining bookings. */
const maxBatches = 200;

/** Cancels a course date. A repeated request continues, adds a credit, or changes nothing. */
export async function cancelCourseDate(
  ctx: Ctx,
  courseId: number,
  id: number,
  body: CancellationBody,
): Promise<Cancellation> {
  const { credit = false, dry_run = false } = body;
  const begin = () => ctx.write(areas, (w) => start(w, courseId, id, body));
  if (dry_run) return toCancellation(await begin(), dry_run);
  const row = await complete(ctx, await begin());
  // A credit that is added to a cancellation that was interrupted.
  const isAdded = credit && !row.credit && row.finishedAt !== null;
  return toCancellation(isAdded ? await complete(ctx, await begin()) : row, dry_run);
}

async function complete(ctx: Ctx, row: CancellationRow) {
  for (let n = 0; n < maxBatches && row.finishedAt === null; n += 1) {
    const next = await ctx.write(areas, (w) => cancelBatch(w, row.courseDateId));
    row = next ?? { ...row, finishedAt: row.createdAt };
  }
  return row;
}

const match = (school: School, id: number) => tenantWhere(school, cancellations, eq(cancellations.courseDateId, id));

async function start(
  w: WriteCtx,
  courseId: number,
  id: number,
  { credit = false, move_to, send_mail = true, dry_run = false, message }: CancellationBody,
): Promise<CancellationRow> {
  const { tx, now } = w;
  const moveTo = move_to ?? null;
  const sendMail = send_mail && (await isMailSwitchedOn(w, tx, moveTo === null ? 'date_canceled' : 'move'));
  const target = tenantWhere(
    w,
    courseDates,
    ...[eq(courseDates.id, id), eq(courseDates.courseId, courseId), isNull(courseDates.deletedAt)],
  );
  const [date] = await tx
    .select({ statusId: courseDates.statusId, message: courseDates.cancellationMessage })
    .from(courseDates)
    .where(target);
  if (date === undefined) throw Problem.notFound('Course date');
  if (moveTo === id) throw Problem.invalidFields({ rules: { move_to: 'same_item' } });
  if (moveTo !== null && credit) throw Problem.invalidFields({ rules: { move_to: 'move_with_credit' } });
  const [stored] = await tx.select().from(cancellations).where(match(w, id));
  const known = date.statusId === canceled ? stored : undefined;
  if (known !== undefined) {
    assertEqual({ ...known, message: date.message }, { credit, moveTo, sendMail, message });
    if (known.credit === credit || known.finishedAt === null) return tx.rollBack(known);
  }
  const concerned = await findLeaving(tx, {
    ...{ providerId: w.providerId, courseDateId: id, startedAt: now, withLeft: credit },
    ...{ afterBookingId: 0, maxBookings: null, maxPersons: null },
  });
  const found = concerned.filter(isLeaving);
  // A credit that is added tells nobody a second time.
  const numMails = known?.numMails ?? 0;
  const row: CancellationRow = {
    ...{ providerId: w.providerId, courseDateId: id, credit, moveTo, sendMail: sendMail && numMails === 0 },
    ...{ createdAt: now, finishedAt: null, lastBookingId: 0 },
    ...{ numParticipants: found.length, numMoved: 0, numCredits: 0, numMails },
  };
  if (dry_run && moveTo === null) return tx.rollBack(await predict(w, row, concerned));

  if (known === undefined) {
    const changes = { statusId: canceled, cancellationMessage: message ?? null, updatedAt: now };
    await tx.update(courseDates).set(changes).where(target);
    const course = tenantWhere(w, courses, eq(courses.id, courseId));
    await tx.update(courses).set({ updatedAt: now, relatedItemsUpdatedAt: now }).where(course);
    await recordEvents(w, [{ type: 'coursedate.canceled', id }]);
  }
  const started = moveTo === null ? row : await moveAll(w, { ...row, moveTo }, found);
  const keys = [cancellations.providerId, cancellations.courseDateId];
  await tx.insert(cancellations).values(started).onConflictDoUpdate({ target: keys, set: started });
  tx.auditItem(id);
  return dry_run ? tx.rollBack(started) : started;
}

/** Counts the credits and mails of a dry run. */
async function predict(w: SchoolWrite, row: CancellationRow, concerned: Leaving[]): Promise<CancellationRow> {
  const orders = row.credit ? await findCreditableOrders(w, toPeople(concerned)) : [];
  const mails = row.sendMail ? toMails(concerned.filter(isLeaving), 'date_canceled') : [];
  return { ...row, numCredits: orders.length, numMails: row.numMails + mails.length };
}

/** Moves all at once, so that the other date has places for all of them or nothing changes. */
async function moveAll(
  w: WriteCtx,
  row: CancellationRow & { moveTo: number },
  found: Leaving[],
): Promise<CancellationRow> {
  if (found.length > maxMoved)
    throw Problem.coded('too_many_items', 'A course date with more than 1,000 participants is not moved');
  await moveParticipants(w, found, row.moveTo, { sendMail: false, field: 'move_to' });
  const mails = row.sendMail ? toMails(found, 'move') : [];
  const movedAway = row.sendMail ? toMovedAway(found.filter(({ isFirst }) => isFirst)) : [];
  await queueMails(w, [...mails, ...movedAway]);
  return { ...row, numMoved: found.length, numMails: mails.length, finishedAt: w.now };
}

const isLeaving = ({ statusId }: Leaving) => !hasLeft(statusId);
const toIds = (items: { id: number }[]) => items.map(({ id }) => id);
const toPeople = (concerned: Leaving[]) => ({
  leaving: toIds(concerned.filter(isLeaving)),
  left: toIds(concerned.filter((one) => !isLeaving(one))),
});

/** Credits and informs the next bookings, whose order stays; undefined if the date was reopened meanwhile. */
async function cancelBatch(w: SchoolWrite, id: number): Promise<CancellationRow | undefined> {
  const { tx, now } = w;
  const [found] = await tx
    .select({ row: cancellations, statusId: courseDates.statusId, message: courseDates.cancellationMessage })
    .from(cancellations)
    .innerJoin(
      courseDates,
      and(eq(courseDates.providerId, cancellations.providerId), eq(courseDates.id, cancellations.courseDateId)),
    )
    .where(match(w, id));
  if (found === undefined) {
    tx.rollBack();
    return undefined;
  }
  const { row, statusId, message } = found;
  if (row.finishedAt !== null) return tx.rollBack(row);
  const values = {
    ...{ providerId: w.providerId, courseDateId: id, startedAt: row.createdAt, withLeft: row.credit },
    ...{ afterBookingId: row.lastBookingId, maxBookings, maxPersons },
  };
  const following = statusId === canceled ? await findLeaving(tx, values) : [];
  const leaving = following.filter(isLeaving);
  const mails = row.sendMail ? toMails(leaving, 'date_canceled') : [];
  const reason = message === null ? null : toSingleLine(message);
  const credits = row.credit ? await creditParticipants(w, toPeople(following), reason) : 0;
  if (row.credit) await deregisterParticipants(w, leaving, false);
  await queueMails(w, mails);
  const next = {
    lastBookingId: following.at(-1)?.bookingId ?? row.lastBookingId,
    numCredits: row.numCredits + credits,
    numMails: row.numMails + mails.length,
    finishedAt: following.length === 0 ? now : null,
  };
  await tx.update(cancellations).set(next).where(match(w, id));
  return { ...row, ...next };
}

/** Tells each person once, and the booker of places without names. */
function toMails(leaving: Leaving[], purpose: 'date_canceled' | 'move'): NewMail[] {
  const named = leaving.filter(({ heldFor, isFirst }) => heldFor !== 'name' && isFirst);
  const unnamed = new Map(leaving.flatMap((one) => (one.heldFor === 'name' ? [[one.bookingId, one.id]] : [])));
  return [
    ...named.map(({ id, userId, statusId }) => ({
      ...{ purpose, userId, participantId: id },
      ...(purpose === 'date_canceled' && { endsPlace: isConfirmed(statusId) }),
    })),
    ...[...unnamed].map(([bookingId, participantId]) => ({
      purpose,
      bookingId,
      participantId,
    })),
  ];
}

/** Completes interrupted cancellations. Each process runs it. The failure of one delays no other. */
export async function completeCancellations(database: Pick<Database, 'unlocked' | 'write'>) {
  const { providerId, courseDateId, createdAt, finishedAt } = cancellations;
  // A school that is being deleted has no state.
  const found = await database.unlocked
    .select({ providerId, courseDateId })
    .from(cancellations)
    .innerJoin(providerState, eq(providerState.providerId, providerId))
    .where(isNull(finishedAt))
    .orderBy(asc(createdAt), asc(providerId), asc(courseDateId))
    .limit(100);
  await runEach(found, async ({ providerId, courseDateId }) => {
    const completeBatch = async (w: Write) => {
      w.tx.auditItem(courseDateId);
      return (await cancelBatch({ providerId, ...w }, courseDateId))?.finishedAt !== null;
    };
    while (!(await database.write([providerId], areas, completeBatch))) continue;
  });
}

export const cancellationJob = auditedJob(
  'The cancellation of course dates',
  'cancellation',
  10_000,
  completeCancellations,
);

type Update = Parameters<typeof promoteAfterUpdate>;

/**
 * Call before an update of a course date, and the function that it returns afterwards: tells the participants of another
 * time or place, and promotes the waiting list. Deletes the cancellation of a reopened date, so that a second one starts
 * anew.
 */
export async function prepareUpdate(w: WriteCtx, before: Update[1] & { id: number }) {
  const schedule = await readSchedule(w, before.id);
  return async (after: Update[2]) => {
    await queueDateChanges(w, after.id, schedule);
    if (before.statusId === canceled && after.statusId !== canceled) {
      await w.tx.delete(cancellations).where(match(w, after.id));
      const date = tenantWhere(w, courseDates, eq(courseDates.id, after.id));
      await w.tx.update(courseDates).set({ cancellationMessage: null }).where(date);
    }
    await promoteAfterUpdate(w, before, after);
  };
}

type Options = Pick<CancellationRow, 'credit' | 'moveTo' | 'sendMail'> & { message?: string | null | undefined };

/** Throws unless a repeated request has the values of the first one; a credit may be added. */
function assertEqual(known: Options & { numMails: number }, { credit, moveTo, sendMail, message }: Options) {
  const wasNotified = known.sendMail || known.numMails > 0;
  const notValid = [
    ...(known.credit && !credit ? ['credit'] : []),
    ...(known.moveTo === moveTo ? [] : ['move_to']),
    ...(wasNotified === sendMail ? [] : ['send_mail']),
  ];
  const text = 'The course date was canceled with another value of credit, move_to or send_mail';
  if (notValid.length > 0) throw Problem.coded('already_canceled', text, { notValid });
  if (message === undefined || toSingleLine(message ?? '') === toSingleLine(known.message ?? '')) return;
  throw Problem.coded('already_canceled', 'The course date was canceled with another message', {
    notValid: ['message'],
  });
}
