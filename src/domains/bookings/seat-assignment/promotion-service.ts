import { and, asc, desc, eq, gt, lte, min, notInArray, type SQL } from 'drizzle-orm';
import type { Log } from '../../../core/log.ts';
import { findTransition, states, type Cause } from '../../../core/reference/participant-states.ts';
import { canceled, hasLeft, holdsSeat, isConfirmed, participantStatus } from '../../../core/reference/statuses.ts';
import type { Database } from '../../../database/client.ts';
import type { SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { warnOfFailure, type Job } from '../../../database/periodic.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { currentTime, hasAnyId } from '../../../database/tables/columns.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { bookings } from '../../../database/tables/orders.ts';
import { participants } from '../../../database/tables/participants.ts';
import { providerState } from '../../../database/tables/providers.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { StateChange } from '../../courses/seats/schema.ts';
import { queueMails, type NewMail } from '../../messages/mails/queue-service.ts';
import { queueNotices } from '../../messages/notices/service.ts';
import { creditUnpaid } from '../../orders/credits/place-service.ts';
import { computePromotions } from './assignment-service.ts';
import * as sql from './sql.ts';

const { id, courseDateId, lapsedOffers } = participants;
export const offerColumns = { participantId: id, courseDateId, lapsedOffers };
type Offer = { participantId: number; courseDateId: number; lapsedOffers: number };

/**
 * Call after every write that frees or adds a place on these dates. Queues the notices about their seats. Those of the
 * offers that have lapsed are offered a place again if nobody else waits.
 */
export async function promoteWaitingLists(w: SchoolWrite, courseDateIds: number[], lapsed: Offer[] = []) {
  if (courseDateIds.length === 0) return;
  const lapsedIds = lapsed.map(({ participantId }) => participantId);
  const read = (isWhole: boolean) =>
    sql.readQueues(w.tx, { providerId: w.providerId, courseDateIds, now: w.now, lapsedIds, isWhole });
  let queues = await read(false);
  if (queues.some(({ waiting }) => waiting.some(({ groupId }) => groupId !== null))) queues = await read(true);
  const changes = queues.flatMap(computePromotions);
  await changeStates(w, changes);
  const promoted = changes.filter(({ cause }) => cause === 'promote');
  if (promoted.length > 0) w.tx.countEvents('promotions', promoted.length);
  await queueNotices(w, { courseDateIds });
}

type Leaving = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'courseDateId'>;

/** Promotes the waiting lists of those who left, whose group may have room now; `leaving` has the former states. */
export async function promoteAfterLeaving(w: SchoolWrite, leaving: Leaving[]) {
  const waiting = leaving.filter(({ statusId }) => statusId === participantStatus.waiting);
  const ids = new Set(waiting.length === 0 ? [] : toIds(await findGrouped(w, toIds(waiting))));
  const freed = leaving.filter(({ id, statusId }) => holdsSeat(statusId) || ids.has(id));
  await promoteWaitingLists(w, [...new Set(freed.map(({ courseDateId }) => courseDateId))]);
}

/** Selects the participants whose booking waits together. */
const findGrouped = (w: SchoolWrite, ids: number[]) =>
  w.tx
    .select({ id })
    .from(participants)
    .innerJoin(bookings, sameTenant(bookings, participants, eq(bookings.id, participants.bookingId)))
    .where(tenantWhere(w, participants, hasAnyId(id, ids), eq(bookings.waitingTogether, true)));

const toIds = (items: { id: number }[]) => items.map(({ id }) => id);

/** Ends due offers of these dates, or all, a participant's first; call before seats are counted. True if one ended. */
export async function endDueHolds(
  w: SchoolWrite,
  courseDateIds: number[] | null,
  participantId?: number,
): Promise<boolean> {
  const lapsed = await lapseOffers(w, courseDateIds, participantId);
  const dateIds = new Set(lapsed.map(({ courseDateId }) => courseDateId));
  await promoteWaitingLists(w, [...dateIds], lapsed);
  return lapsed.length > 0;
}

/** Ends the first due offers of deleted dates, whose seats nobody gets; returns how many more may end in this write. */
export async function endDueHoldsOfDates(w: SchoolWrite, condition: SQL | undefined) {
  const isHeld = gt(courseDates.numUnconfirmed, 0);
  const dates = await w.tx.select({ id: courseDates.id }).from(courseDates).where(and(condition, isHeld));
  const ended = dates.length === 0 ? [] : await lapseOffers(w, toIds(dates));
  return maxEnded - ended.length;
}

/** Limits the time under the lock: a second end makes a credit. */
const maxEnded = 25;

const isDue = lte(participants.heldUntil, currentTime);

async function lapseOffers(w: SchoolWrite, dateIds: number[] | null, participantId?: number) {
  const isOnDates = dateIds === null ? undefined : hasAnyId(courseDateId, dateIds);
  const isFirst = participantId === undefined ? [] : [desc(eq(id, participantId))];
  const due = await w.tx
    .select(offerColumns)
    .from(participants)
    .where(tenantWhere(w, participants, eq(participants.statusId, participantStatus.unconfirmed), isDue, isOnDates))
    .orderBy(...isFirst, asc(participants.heldUntil), asc(id))
    .limit(maxEnded);
  const changes = due.map((offer) => endOffer(offer, offer.lapsedOffers === 0 ? 'lapse' : 'lapseAgain'));
  await changeStates(w, changes);
  return due;
}

export const endOffer = ({ participantId }: Offer, cause: Cause): StateChange => ({
  ...{ participantId, cause },
  from: 'offered',
  place: 'own',
});

const lapses: Cause[] = ['lapse', 'lapseAgain', 'decline', 'declineAgain'];
/** Acts of the person on a page that shows the result. */
const own: Cause[] = ['accept', 'decline', 'declineAgain'];

/** Writes these states with their events and mails, and the notices and free credits of those who leave. */
export async function changeStates(w: SchoolWrite, changes: StateChange[]) {
  if (changes.length === 0) return;
  const planned = changes.map((change) => {
    const { participantId, from, cause, place, heldUntil = null } = change;
    const { to, event, mail } = findTransition(from, cause)!;
    const columns = { ...states[to[place]!], heldUntil, lapsed: Number(lapses.includes(cause)) };
    return { row: { participantId, ...columns }, participantId, event, mail, change };
  });
  await sql.changeStates(w.tx, { providerId: w.providerId, now: w.now, changes: planned.map(({ row }) => row) });
  const events = planned.flatMap(({ participantId: id, event }) => (event ? [{ type: event, id }] : []));
  await recordEvents(w, events);
  const mails = planned.flatMap(({ participantId, mail, change }): NewMail[] => {
    const { from, cause, isMailRequested: isRequested = false } = change;
    const endsPlace = isConfirmed(states[from].statusId);
    return mail
      ? [
          {
            purpose: mail,
            participantId,
            endsPlace,
            isRequested,
            isFollowUp: cause !== 'offer' && !own.includes(cause),
          },
        ]
      : [];
  });
  await queueMails(w, mails);
  const canceled = planned.flatMap(({ participantId, row }) => (hasLeft(row.statusId) ? [participantId] : []));
  await queueNotices(w, { canceled });
  if (canceled.length > 0) await creditUnpaid(w, canceled);
}

type Capacity = Pick<typeof courseDates.$inferSelect, 'statusId' | 'capacityMax' | 'capacityOverbook'>;

/** True if a change may give a waiting or overbooked participant a seat; a capacity of 0 is no limit. */
export function addsSeats(before: Capacity, after: Capacity): boolean {
  const limit = ({ capacityMax }: Capacity) => (capacityMax === 0 ? Infinity : capacityMax);
  return (
    limit(after) > limit(before) ||
    after.capacityOverbook > before.capacityOverbook ||
    (before.statusId === canceled && after.statusId !== canceled)
  );
}

/** Promotes the waiting list of an updated date that has more places or was over, and shortens too long offers. */
export async function promoteAfterUpdate(
  w: WriteCtx,
  before: Capacity & { isOver: boolean },
  after: Capacity & { id: number },
) {
  const courseDateIds = [after.id];
  await sql.shortenOffers(w.tx, { providerId: w.providerId, courseDateId: after.id, now: w.now });
  if (before.isOver || addsSeats(before, after)) await promoteWaitingLists(w, courseDateIds);
  else await queueNotices(w, { courseDateIds });
}

const intervalMs = 2_000;
/** Schools whose offers end at once, which wait in the queue of writes. */
const maxSchools = 100;

/** Ends the due offers of all schools in each process; one that is locked delays no other. */
export function dueHoldsJob(database: Database, log: Pick<Log, 'warn'>): Job {
  const busy = new Set<number>();
  const run = async (signal: AbortSignal) => {
    // A school that is being deleted has no state.
    const due = await database.unlocked
      .select({ id: participants.providerId })
      .from(participants)
      .innerJoin(providerState, eq(providerState.providerId, participants.providerId))
      .where(and(isDue, notInArray(participants.providerId, [...busy])))
      .groupBy(participants.providerId)
      .orderBy(min(participants.heldUntil), asc(participants.providerId))
      .limit(maxSchools - busy.size);
    const audited = database.withAudit({ actor: 'server', actorId: null, action: 'end of offers' });
    for (const { id } of due) {
      busy.add(id);
      const endAll = async () => {
        while (!signal.aborted && (await endDueHoldsOfSchool(audited, id)));
      };
      void endAll()
        .catch((error: unknown) => {
          if (!signal.aborted) warnOfFailure(log, 'The end of offers', error);
        })
        .finally(() => busy.delete(id));
    }
  };
  return { name: 'The search for offers that end', intervalMs, run };
}

/** Ends the first due offers of a school; returns false without any. */
export const endDueHoldsOfSchool = (database: Pick<Database, 'write'>, providerId: number) =>
  database.write(
    [providerId],
    ['dates', 'people', 'money'],
    async (w) => (await endDueHolds({ providerId, ...w }, null)) || w.tx.rollBack(false),
  );
