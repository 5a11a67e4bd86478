import { participantStatus } from '../../../core/reference/statuses.ts';
import {
  findTransition,
  toState,
  type Place,
  type State,
  type Transition,
} from '../../../core/reference/participant-states.ts';
import type { Queued, SeatRequest, SeatRules, Seats, StateChange, Waiting } from '../../courses/seats/schema.ts';
import type { Queue } from './sql.ts';

/** `seats` is negative while overbook places are used, down to `-overbook`. */
const getPlaces = (date: Seats) => ({
  seats:
    date.capacityMax === 0 ? Infinity : date.capacityMax - date.numConfirmed - date.numOverbooked - date.numUnconfirmed,
  overbook: date.capacityOverbook,
  waiting: date.capacityWait - date.numWaiting - date.openOffers,
});
type Places = ReturnType<typeof getPlaces>;
type Date = Seats & { id: number };

/** Decides the state after each request, in their order; undefined if there is no place. Some dates may lack seats. */
export function decideSeats(
  dates: Date[],
  requests: SeatRequest[],
  rules: SeatRules,
  withoutSeats = new Set<number>(),
): (State | undefined)[] {
  const placesById = new Map(dates.map((date) => [date.id, getPlaces(date)]));
  for (const id of withoutSeats) placesById.set(id, { ...placesById.get(id)!, seats: -Infinity });
  const decided = requests.map(({ courseDateId, cause, from }): State | undefined => {
    const to = findTransition(from ?? 'new', cause)?.to ?? {};
    const place = takePlace(placesById.get(courseDateId)!, to, rules);
    return place && to[place];
  });
  if (rules.together !== true) return decided;
  const isSeated = (state?: State) => state !== undefined && state !== 'waiting';
  const full = new Set(requests.flatMap(({ courseDateId }, n) => (isSeated(decided[n]) ? [] : [courseDateId])));
  return decideSeats(dates, requests, { ...rules, together: false }, full);
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

/** The first accepted offer gets a seat, also before overbooked participants. */
export const placeOfAccepted = ({ capacityMax, numConfirmed, numUnconfirmed, openOffers }: Seats): Place =>
  capacityMax === 0 || capacityMax > numConfirmed + numUnconfirmed - openOffers ? 'seat' : 'overbook';

/** Promotes overbooked participants to free seats, then promotes waiting ones to seats and overbook places, or offers these. */
export function computePromotions(date: Queue): StateChange[] {
  const { seats, overbook } = getPlaces(date);
  const freeSeats = Math.max(0, seats + date.numOverbooked);
  const toChange = ({ id, heldFor }: Queued, statusId: number, place: Place): StateChange => ({
    participantId: id,
    from: toState({ statusId, heldFor }),
    cause: 'promote',
    place,
  });
  const confirmed = date.overbooked.slice(0, freeSeats);
  const promoted = takeFitting(date.waiting, Math.max(0, seats + overbook));
  const offer = date.waitingMode === 'offer' ? ({ cause: 'offer', heldUntil: date.offerEnd } as const) : {};
  return [
    ...confirmed.map((one) => toChange(one, participantStatus.overbooked, 'seat')),
    ...promoted.map((one, n) => ({
      ...toChange(one, participantStatus.waiting, n < seats ? 'seat' : 'overbook'),
      ...offer,
    })),
  ];
}

/** The first waiting participants who fit; those who wait together all or none. */
function takeFitting(waiting: Waiting[], places: number): Waiting[] {
  const groups = new Map<string, Waiting[]>();
  for (const one of waiting) {
    const key = one.groupId === null ? `one ${one.id}` : `group ${one.groupId}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  let free = places;
  return [...groups.values()].flatMap((group) => {
    if (group.length > free) return [];
    free -= group.length;
    return group;
  });
}
