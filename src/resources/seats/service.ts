import { eq, inArray } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import { toRecordset, execute } from '../../database/statements.ts';
import { currentTimeSql } from '../../database/tables/columns.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { participants } from '../../database/tables/participants.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { canceled, hasLeft, holdsSeat, participantStatus } from '../../core/reference/statuses.ts';
import type { Promotion, Queue, Queued, SeatRules, Seats, SeatRequest } from './schema.ts';
import {
  findTransition,
  nextState,
  states,
  toState,
  type Cause,
  type Place,
  type State,
  type Transition,
} from '../../core/reference/participant-states.ts';

/** `seats` is negative while overbook places are used, down to `-overbook`. */
const getPlaces = (date: Seats) => ({
  seats:
    date.capacityMax === 0 ? Infinity : date.capacityMax - date.numConfirmed - date.numOverbooked - date.numUnconfirmed,
  overbook: date.capacityOverbook,
  waiting: date.capacityWait - date.numWaiting,
});
type Places = ReturnType<typeof getPlaces>;

/** Decides the state after each request, in their order; undefined if there is no place. */
export function decideSeats(dates: (Seats & { id: number })[], requests: SeatRequest[], rules: SeatRules) {
  const placesById = new Map(dates.map((date) => [date.id, getPlaces(date)]));
  return requests.map(({ courseDateId, cause, from }): State | undefined => {
    const to = findTransition(from ?? 'new', cause)?.to ?? {};
    const place = takePlace(placesById.get(courseDateId)!, to, rules);
    return place && to[place];
  });
}

function takePlace(free: Places, to: Transition['to'], { check, waitWhenFull }: SeatRules): Place | undefined {
  const seeksSeat = to.seat !== undefined;
  if (!check) return seeksSeat ? 'seat' : 'waiting';
  if (seeksSeat && free.seats > -free.overbook) {
    free.seats -= 1;
    return free.seats >= 0 ? 'seat' : 'overbook';
  }
  if ((seeksSeat && !waitWhenFull) || free.waiting <= 0) return undefined;
  free.waiting -= 1;
  return 'waiting';
}

/** Promotes overbooked participants to free seats, then waiting ones to seats and overbook places. */
export function computePromotions(date: Queue): Promotion[] {
  const { seats, overbook } = getPlaces(date);
  const freeSeats = Math.max(0, seats + date.numOverbooked);
  const promote = ({ id, heldFor }: Queued, statusId: number, place: Place) => ({
    participantId: id,
    state: nextState(toState({ statusId, heldFor }), 'promote', place)!,
  });
  const { overbooked, waiting } = participantStatus;
  const confirmed = date.overbooked.slice(0, freeSeats);
  const promoted = date.waiting.slice(0, Math.max(0, seats + overbook));
  return [
    ...confirmed.map((one) => promote(one, overbooked, 'seat')),
    ...promoted.map((one, n) => promote(one, waiting, n < seats ? 'seat' : 'overbook')),
  ];
}

const queued = `json_build_object('id', p.id, 'heldFor', p.held_for)`;

/** Skips canceled, deleted and past dates, and participants whose status changed in this transaction. */
const readQueues = {
  name: 'read_queues',
  text: `select d.capacity_max as "capacityMax", d.capacity_overbook as "capacityOverbook", d.capacity_wait as "capacityWait",
      d.num_confirmed as "numConfirmed", d.num_overbooked as "numOverbooked", d.num_unconfirmed as "numUnconfirmed",
      d.num_waiting as "numWaiting",
      to_json(array(select ${queued} from participants p
        where p.provider_id = $1 and p.course_date_id = d.id and p.status_id = ${participantStatus.overbooked} and p.status_updated_at < $3
        order by p.status_updated_at, p.id
        limit case when d.capacity_max > 0 then greatest(0, d.capacity_max - d.num_confirmed - d.num_unconfirmed) end)) as overbooked,
      to_json(array(select ${queued} from participants p
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
  text: `update participants p set status_id = m."statusId", held_for = m."heldFor", status_updated_at = $3, updated_at = $3
    from json_to_recordset($2) m ("participantId" bigint, "statusId" smallint, "heldFor" text)
    where p.provider_id = $1 and p.id = m."participantId"`,
};

/** Call after every write that frees or adds a place on these dates. */
export async function promoteWaitingLists({ providerId }: Ctx, tx: Tx, now: string, courseDateIds: number[]) {
  if (courseDateIds.length === 0) return;
  const dates = JSON.stringify(courseDateIds);
  const promotions = (await execute<Queue>(tx, readQueues, [providerId, dates, now])).flatMap(computePromotions);
  if (promotions.length === 0) return;
  const rows = promotions.map(({ participantId, state }) => ({ participantId, ...states[state] }));
  await execute(tx, promoteWaitingList, [providerId, toRecordset(rows), now]);
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

type Participant = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'heldFor' | 'courseDateId'>;

/** The causes of the statuses that may be requested of a participant. */
const causesByStatus = new Map<number, Cause>([
  [participantStatus.confirmed, 'confirm'],
  [participantStatus.unconfirmed, 'unconfirm'],
  [participantStatus.waiting, 'wait'],
  [participantStatus.deregistered, 'deregister'],
  [participantStatus.deregisteredWithFee, 'deregisterWithFee'],
]);

/**
 * The columns of a participant that a requested status changes, and whether a seat becomes free. Throws if the status
 * cannot be requested, or no seat is available.
 */
export async function decideStatus(ctx: Ctx, tx: Tx, now: string, participant: Participant, requested: number) {
  const state = await decideState(ctx, tx, participant, requested);
  if (state === toState(participant)) return { columns: {}, freesSeat: false };
  const columns = { ...stateColumns(state), statusUpdatedAt: now };
  return { columns, freesSeat: holdsSeat(participant.statusId) && !holdsSeat(columns.statusId) };
}

async function decideState(ctx: Ctx, tx: Tx, participant: Participant, requested: number): Promise<State> {
  const { statusId, courseDateId } = participant;
  const from = toState(participant);
  if (requested === statusId) return from;
  const cause = causesByStatus.get(requested);
  const transition = cause && findTransition(from, cause);
  if (transition === undefined) throw Problem.invalidFields({ notValid: ['idStatus'] });
  if (transition.to.own !== undefined) return transition.to.own;

  const [date] = await tx
    .select()
    .from(courseDates)
    .where(tenantWhere(ctx, courseDates, eq(courseDates.id, courseDateId)));
  const isClosed = date!.statusId === canceled || date!.deletedAt !== null;
  if (isClosed && !holdsSeat(statusId)) throw Problem.invalidFields({ notValid: ['idStatus'] });
  const { confirmed, overbooked, unconfirmed, waiting } = participantStatus;
  const dateWithoutParticipant = {
    ...date!,
    numConfirmed: date!.numConfirmed - Number(statusId === confirmed),
    numOverbooked: date!.numOverbooked - Number(statusId === overbooked),
    numUnconfirmed: date!.numUnconfirmed - Number(statusId === unconfirmed),
    numWaiting: date!.numWaiting - Number(statusId === waiting),
  };
  const rules = { check: true, waitWhenFull: false };
  const [state] = decideSeats([dateWithoutParticipant], [{ courseDateId, cause: transition.cause, from }], rules);
  if (state === undefined) throw new Problem('invalid', 'No seat is available');
  return state;
}

/** The columns of a state; an offer's end is set beside them. */
const stateColumns = (state: State) => ({ ...states[state], heldUntil: null });

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
  const left = withFee ? 'deregisteredWithFee' : 'deregistered';
  const ids = leaving.map(({ id }) => id);
  await tx
    .update(participants)
    .set({ ...stateColumns(left), statusUpdatedAt: now, updatedAt: now })
    .where(tenantWhere(ctx, participants, inArray(participants.id, ids)));
  const freed = leaving.filter((one) => holdsSeat(one.statusId)).map(({ courseDateId }) => courseDateId);
  await promoteWaitingLists(ctx, tx, now, [...new Set(freed)]);
  return leaving;
}
