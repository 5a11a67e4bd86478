import { eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import { toRecordset, execute } from '../../database/statements.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { participants } from '../../database/tables/participants.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { canceled, hasLeft, holdsSeat, participantStatus, requestableStatuses } from '../../core/reference/statuses.ts';
import type { SeatStatus, Promotion, Queue, SeatRules, Seats, SeatRequest } from './schema.ts';

/** `seats` is negative while overbook places are used, down to `-overbook`. */
const getPlaces = (date: Seats) => ({
  seats:
    date.capacityMax === 0 ? Infinity : date.capacityMax - date.numConfirmed - date.numOverbooked - date.numUnconfirmed,
  overbook: date.capacityOverbook,
  waiting: date.capacityWait - date.numWaiting,
});
type Places = ReturnType<typeof getPlaces>;

/** Assigns a status to each request, in their order; undefined if there is no place. */
export function decideSeats(dates: (Seats & { id: number })[], requests: SeatRequest[], rules: SeatRules) {
  const placesById = new Map(dates.map((date) => [date.id, getPlaces(date)]));
  return requests.map(({ courseDateId, status }): SeatStatus | undefined =>
    rules.check ? takePlace(placesById.get(courseDateId)!, status, rules) : status,
  );
}

function takePlace(places: Places, status: SeatRequest['status'], { waitWhenFull }: SeatRules): SeatStatus | undefined {
  if (status !== participantStatus.waiting) {
    if (places.seats > -places.overbook) {
      places.seats -= 1;
      return places.seats >= 0 ? status : participantStatus.overbooked;
    }
    if (!waitWhenFull) return undefined;
  }
  if (places.waiting <= 0) return undefined;
  places.waiting -= 1;
  return participantStatus.waiting;
}

/** Promotes overbooked participants to free seats, then waiting ones to seats and overbook places. */
export function computePromotions(date: Queue): Promotion[] {
  const { seats, overbook } = getPlaces(date);
  const freeSeats = Math.max(0, seats + date.numOverbooked);
  const confirmed = date.overbooked.slice(0, freeSeats);
  const promoted = date.waiting.slice(0, Math.max(0, seats + overbook));
  return [
    ...confirmed.map((participantId) => ({ participantId, status: participantStatus.confirmed })),
    ...promoted.map((participantId, n) => ({
      participantId,
      status: n < seats ? participantStatus.confirmed : participantStatus.overbooked,
    })),
  ];
}

/** Skips canceled, deleted and past dates, and participants whose status changed in this transaction. */
const readQueues = {
  name: 'read_queues',
  text: `select d.capacity_max as "capacityMax", d.capacity_overbook as "capacityOverbook", d.capacity_wait as "capacityWait",
      d.num_confirmed as "numConfirmed", d.num_overbooked as "numOverbooked", d.num_unconfirmed as "numUnconfirmed",
      d.num_waiting as "numWaiting",
      to_json(array(select p.id from participants p
        where p.provider_id = $1 and p.course_date_id = d.id and p.status_id = ${participantStatus.overbooked} and p.status_updated_at < $3
        order by p.status_updated_at, p.id
        limit case when d.capacity_max > 0 then greatest(0, d.capacity_max - d.num_confirmed - d.num_unconfirmed) end)) as overbooked,
      to_json(array(select p.id from participants p
        where p.provider_id = $1 and p.course_date_id = d.id and p.status_id = ${participantStatus.waiting} and p.status_updated_at < $3
        order by p.status_updated_at, p.id
        limit case when d.capacity_max > 0 then greatest(0, d.capacity_max + d.capacity_overbook
          - d.num_confirmed - d.num_overbooked - d.num_unconfirmed) end)) as waiting
    from course_dates d
    where d.provider_id = $1 and d.id in (select json_array_elements_text($2)::bigint)
      and d.status_id <> ${canceled} and d.deleted_at is null and d.ends_at > ${currentTimeSql}
    order by d.id`,
};

const promoteWaitingList = {
  name: 'promote_waiting_list',
  text: `update participants p set status_id = m.status, status_updated_at = $3, updated_at = $3
    from json_to_recordset($2) m ("participantId" bigint, status smallint)
    where p.provider_id = $1 and p.id = m."participantId"`,
};

/** Call after every write that frees or adds a place on these dates. */
export async function promoteWaitingLists({ providerId }: Ctx, tx: Tx, now: string, courseDateIds: number[]) {
  if (courseDateIds.length === 0) return;
  const dates = JSON.stringify(courseDateIds);
  const promotions = (await execute<Queue>(tx, readQueues, [providerId, dates, now])).flatMap(computePromotions);
  if (promotions.length === 0) return;
  await execute(tx, promoteWaitingList, [providerId, toRecordset(promotions), now]);
  tx.countEvents('promotions', promotions.length);
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

/** Promotes the waiting list of an updated course date that was over or that has more places. */
export async function promoteAfterUpdate(
  ctx: Ctx,
  tx: Tx,
  now: string,
  before: Capacity & { isOver: boolean },
  after: Capacity & { id: number },
) {
  if (before.isOver || addsSeats(before, after)) await promoteWaitingLists(ctx, tx, now, [after.id]);
}

type Participant = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'courseDateId'>;

/**
 * Returns the status for a requested one. Confirmed and unconfirmed hold the same seat, so they swap freely. Throws if
 * the status cannot be requested, or no seat is available.
 */
export async function decideStatus(ctx: Ctx, tx: Tx, participant: Participant, requested: number): Promise<number> {
  const { statusId, courseDateId } = participant;
  if (requested === statusId || hasLeft(requested)) return requested;
  if (!isRequestable(requested)) throw Problem.invalidFields({ notValid: ['idStatus'] });
  const { confirmed, overbooked, unconfirmed, waiting } = participantStatus;
  if (requested !== waiting && (statusId === confirmed || statusId === unconfirmed)) return requested;

  const [date] = await tx
    .select()
    .from(courseDates)
    .where(tenantWhere(ctx, courseDates, eq(courseDates.id, courseDateId)));
  const isClosed = date!.statusId === canceled || date!.deletedAt !== null;
  if (isClosed && !holdsSeat(statusId)) throw Problem.invalidFields({ notValid: ['idStatus'] });
  const dateWithoutParticipant = {
    ...date!,
    numConfirmed: date!.numConfirmed - Number(statusId === confirmed),
    numOverbooked: date!.numOverbooked - Number(statusId === overbooked),
    numUnconfirmed: date!.numUnconfirmed - Number(statusId === unconfirmed),
    numWaiting: date!.numWaiting - Number(statusId === waiting),
  };
  const rules = { check: true, waitWhenFull: false };
  const [status] = decideSeats([dateWithoutParticipant], [{ courseDateId, status: requested }], rules);
  if (status === undefined) throw new Problem('invalid', 'No seat is available');
  return status;
}

const isRequestable = (statusId: number): statusId is SeatRequest['status'] =>
  requestableStatuses.some((id) => id === statusId);

/** Deregisters participants, frees their seats and promotes the waiting lists; returns those who had not left before. */
export async function deregisterParticipants<P extends Participant>(
  ctx: Ctx,
  tx: Tx,
  now: string,
  chosen: P[],
  withFee: boolean,
): Promise<P[]> {
  const leaving = chosen.filter((one) => !hasLeft(one.statusId));
  if (leaving.length === 0) return [];
  const statusId = withFee ? participantStatus.deregisteredWithFee : participantStatus.deregistered;
  const ids = leaving.map(({ id }) => id);
  await tx
    .update(participants)
    .set({ statusId, statusUpdatedAt: now, updatedAt: now })
    .where(tenantWhere(ctx, participants, inArray(participants.id, ids)));
  const freed = leaving.filter((one) => holdsSeat(one.statusId)).map(({ courseDateId }) => courseDateId);
  await promoteWaitingLists(ctx, tx, now, [...new Set(freed)]);
  return leaving;
}
