import { participantStatus } from './statuses.ts';

/** States of a participant: its status, and why it holds its seat if it has neither accepted nor a name. */
export const states = {
  confirmed: { statusId: participantStatus.confirmed, heldFor: null },
  overbooked: { statusId: participantStatus.overbooked, heldFor: null },
  unconfirmed: { statusId: participantStatus.unconfirmed, heldFor: null },
  waiting: { statusId: participantStatus.waiting, heldFor: null },
  /** Has an open offer. */
  offered: { statusId: participantStatus.unconfirmed, heldFor: 'offer' },
  /** A group's place without a name. */
  reserved: { statusId: participantStatus.unconfirmed, heldFor: 'name' },
  reservedOverbooked: { statusId: participantStatus.overbooked, heldFor: 'name' },
  deregistered: { statusId: participantStatus.deregistered, heldFor: null },
  deregisteredWithFee: { statusId: participantStatus.deregisteredWithFee, heldFor: null },
} as const;
export type State = keyof typeof states;

/** Kinds of places that a transition takes; `own` takes no other place of the date. */
export const places = ['seat', 'overbook', 'waiting', 'own'] as const;
export type Place = (typeof places)[number];

export const causes = [
  ...(['book', 'bookUnconfirmed', 'bookWaiting', 'reserve', 'confirm', 'unconfirm', 'wait'] as const),
  ...(['promote', 'offer', 'accept', 'decline', 'declineAgain', 'lapse', 'lapseAgain', 'name'] as const),
  ...(['move', 'deregister', 'deregisterWithFee'] as const),
] as const;
export type Cause = (typeof causes)[number];

type EventName = `offer.${'made' | 'accepted' | 'declined' | 'lapsed'}` | `participant.${'swapped' | 'moved'}`;
export type Transition = {
  from: (State | 'new')[];
  cause: Cause;
  to: Partial<Record<Place, State>>;
  /** Event, beside those of the participant, and mail of a transition that changes the state. */
  event?: EventName;
  mail?: 'receipt' | 'offer' | 'swap' | 'move' | 'promotion' | 'deregistration';
};

const seated: State[] = ['confirmed', 'unconfirmed'];
const left: State[] = ['deregistered', 'deregisteredWithFee'];
const unseated: State[] = ['waiting', ...left];
const unnamed: State[] = ['reserved', 'reservedOverbooked'];
const named: State[] = [...seated, 'overbooked', 'offered', ...unseated];
const moved = { cause: 'move', event: 'participant.moved', mail: 'move' } as const;

const placed = { seat: 'confirmed', overbook: 'overbooked' } as const;
const unconfirmed = { seat: 'unconfirmed', overbook: 'overbooked' } as const;
const withdrawn = { to: { own: 'deregistered' }, mail: 'deregistration' } as const;

/** All changes of a participant's state: the only place that decides its status. */
export const transitions: Transition[] = [
  { from: ['new'], cause: 'book', to: { ...placed, waiting: 'waiting' }, mail: 'receipt' },
  { from: ['new'], cause: 'bookUnconfirmed', to: { ...unconfirmed, waiting: 'waiting' }, mail: 'receipt' },
  { from: ['new'], cause: 'bookWaiting', to: { waiting: 'waiting' }, mail: 'receipt' },
  { from: ['new'], cause: 'reserve', to: { seat: 'reserved', overbook: 'reservedOverbooked' } },
  // Confirmed and unconfirmed hold the same seat.
  { from: seated, cause: 'confirm', to: { own: 'confirmed' }, mail: 'promotion' },
  { from: seated, cause: 'unconfirm', to: { own: 'unconfirmed' }, mail: 'receipt' },
  { from: ['overbooked', ...unseated], cause: 'confirm', to: placed, mail: 'promotion' },
  { from: ['overbooked', ...unseated], cause: 'unconfirm', to: unconfirmed, mail: 'receipt' },
  { from: named, cause: 'wait', to: { waiting: 'waiting' }, mail: 'receipt' },
  { from: ['overbooked'], cause: 'promote', to: { seat: 'confirmed' }, mail: 'promotion' },
  { from: ['reservedOverbooked'], cause: 'promote', to: { seat: 'reserved' } },
  { from: ['waiting'], cause: 'promote', to: placed, mail: 'promotion' },
  {
    from: ['waiting'],
    cause: 'offer',
    to: { seat: 'offered', overbook: 'offered' },
    event: 'offer.made',
    mail: 'offer',
  },
  { from: ['offered'], cause: 'accept', to: placed, event: 'offer.accepted', mail: 'promotion' },
  { from: ['offered'], cause: 'decline', to: { own: 'waiting' }, event: 'offer.declined' },
  { from: ['offered'], cause: 'declineAgain', ...withdrawn, event: 'offer.declined' },
  { from: ['offered'], cause: 'lapse', to: { own: 'waiting' }, event: 'offer.lapsed' },
  { from: ['offered'], cause: 'lapseAgain', ...withdrawn, event: 'offer.lapsed' },
  { from: ['reserved'], cause: 'name', to: { own: 'confirmed' }, event: 'participant.swapped', mail: 'swap' },
  {
    from: ['reservedOverbooked'],
    cause: 'name',
    to: { own: 'overbooked' },
    event: 'participant.swapped',
    mail: 'swap',
  },
  // Takes a place of the other date. Only those who waited may wait there.
  { from: ['confirmed', 'overbooked'], ...moved, to: placed },
  { from: ['unconfirmed'], ...moved, to: unconfirmed },
  { from: ['waiting', 'offered'], ...moved, to: { ...placed, waiting: 'waiting' } },
  { from: unnamed, ...moved, to: { seat: 'reserved', overbook: 'reservedOverbooked' } },
  { from: named, cause: 'deregister', ...withdrawn },
  { from: named, cause: 'deregisterWithFee', to: { own: 'deregisteredWithFee' }, mail: 'deregistration' },
  { from: unnamed, cause: 'deregister', to: { own: 'deregistered' } },
  { from: unnamed, cause: 'deregisterWithFee', to: { own: 'deregisteredWithFee' } },
];

const byCause = new Map(transitions.flatMap((one) => one.from.map((from) => [`${from} ${one.cause}`, one] as const)));

/** The transition of a state by a cause, or undefined if there is none. */
export const findTransition = (from: State | 'new', cause: Cause) => byCause.get(`${from} ${cause}`);

/** The state after a cause; undefined if it is not possible from this state, or with this place. */
export const nextState = (from: State | 'new', cause: Cause, place: Place): State | undefined =>
  findTransition(from, cause)?.to[place];

type Held = { statusId: number; heldFor: string | null };

/** The state of a stored participant. */
export const toState = ({ statusId, heldFor }: Held): State =>
  stateNames.find((name) => states[name].statusId === statusId && states[name].heldFor === heldFor)!;
const stateNames = Object.keys(states) as State[];
