import { hasAnyId } from '../../../database/tables/columns.ts';
import { and, eq, sql } from 'drizzle-orm';
import type { SchoolWrite, WriteCtx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { recordEvents } from '../../../database/record-events.ts';
import { courseDates } from '../../../database/tables/coursedates.ts';
import { participants } from '../../../database/tables/participants.ts';
import { sameTenant, tenantWhere } from '../../../lists/tenant-scope.ts';
import { queueNotices } from '../../messages/notices/service.ts';
import { canceled, hasLeft, holdsSeat, participantStatus } from '../../../core/reference/statuses.ts';
import {
  findTransition,
  nextState,
  states,
  toState,
  type Cause,
  type State,
  type Transition,
} from '../../../core/reference/participant-states.ts';
import { decideSeats, placeOfAccepted } from './assignment-service.ts';
import { isOngoingSql, seatColumns } from '../../courses/seats/loaders.ts';
import {
  changeStates,
  endDueHolds,
  endOffer,
  offerColumns,
  promoteAfterLeaving,
  promoteWaitingLists,
} from './promotion-service.ts';
export type Participant = Pick<typeof participants.$inferSelect, 'id' | 'statusId' | 'heldFor' | 'courseDateId'>;

/** The causes of the statuses that may be requested of a participant. */
const causesByStatus = new Map<number, Cause>([
  [participantStatus.confirmed, 'confirm'],
  [participantStatus.unconfirmed, 'unconfirm'],
  [participantStatus.waiting, 'wait'],
  [participantStatus.deregistered, 'deregister'],
  [participantStatus.deregisteredWithFee, 'deregisterWithFee'],
]);

/**
 * The columns of a participant that a requested status changes, whether it may release a seat or a place on the waiting
 * list, and its mail. Throws if the status cannot be requested, or no seat is available. Call `endDueHolds` before.
 */
export async function decideStatus(w: WriteCtx, participant: Participant, requested: number) {
  const from = toState(participant);
  if (requested === participant.statusId) return { columns: {}, freesPlace: false, mail: undefined };
  const accepts = from === 'offered' && requested === participantStatus.confirmed;
  const cause = accepts ? 'accept' : causesByStatus.get(requested);
  const transition = cause && findTransition(from, cause);
  if (transition === undefined) throw Problem.invalidFields({ rules: { idStatus: 'status_not_possible' } });

  const state = transition.to.own ?? (await decideState(w, participant, transition));
  if (transition.event) await recordEvents(w, [{ type: transition.event, id: participant.id }]);
  const columns = { ...stateColumns(state), statusUpdatedAt: w.now };
  return {
    columns: state === from ? {} : columns,
    freesPlace: isWaiting(participant.statusId) ? !isWaiting(columns.statusId) : !holdsSeat(columns.statusId),
    mail: state === from ? undefined : transition.mail,
  };
}

const isWaiting = (statusId: number) => statusId === participantStatus.waiting;

const isClosed = sql<boolean>`${courseDates.statusId} = ${canceled} or ${courseDates.deletedAt} is not null`;

async function decideState(w: WriteCtx, participant: Participant, { cause, to }: Transition): Promise<State> {
  const { statusId, courseDateId } = participant;
  const from = toState(participant);
  const [found] = await w.tx
    .select({ id: courseDates.id, isClosed, ...seatColumns })
    .from(courseDates)
    .where(tenantWhere(w, courseDates, eq(courseDates.id, courseDateId)));
  const date = Problem.assertFound(found, 'Course date');
  if (date.isClosed && (cause === 'accept' || !holdsSeat(statusId)))
    throw Problem.invalidFields({ rules: { idStatus: 'date_closed' } });
  if (cause === 'accept') return to[placeOfAccepted(date)]!;
  const { confirmed, overbooked, unconfirmed, waiting } = participantStatus;
  const dateWithoutParticipant = {
    ...date,
    numConfirmed: date.numConfirmed - Number(statusId === confirmed),
    numOverbooked: date.numOverbooked - Number(statusId === overbooked),
    numUnconfirmed: date.numUnconfirmed - Number(statusId === unconfirmed),
    numWaiting: date.numWaiting - Number(statusId === waiting),
    openOffers: date.openOffers - Number(from === 'offered'),
  };
  const rules = { check: true, waitWhenFull: false };
  const [state] = decideSeats([dateWithoutParticipant], [{ courseDateId, cause, from }], rules);
  if (state === undefined) throw Problem.coded('no_seats_available', 'No seat is available');
  return state;
}

/** The columns of a state without an end. */
const stateColumns = (state: State) => ({ ...states[state], heldUntil: null });

/** Accepts an open offer; undefined if there is none. Writes in the areas of dates and people. */
export async function acceptOffer(w: WriteCtx, participantId: number): Promise<State | undefined> {
  const offer = await findOpenOffer(w, participantId);
  if (offer === undefined) return undefined;
  const place = placeOfAccepted(offer);
  await changeStates(w, [{ participantId, from: 'offered', cause: 'accept', place }]);
  await queueNotices(w, { courseDateIds: [offer.courseDateId] });
  return nextState('offered', 'accept', place);
}

/** Declines an open offer, which makes the next one; undefined if there is none. Writes in the areas of dates and people. */
export async function declineOffer(w: WriteCtx, participantId: number): Promise<State | undefined> {
  const offer = await findOpenOffer(w, participantId);
  if (offer === undefined) return undefined;
  const change = endOffer(offer, offer.lapsedOffers === 0 ? 'decline' : 'declineAgain');
  await changeStates(w, [change]);
  await promoteWaitingLists(w, [offer.courseDateId]);
  return nextState('offered', change.cause, 'own');
}

async function findOpenOffer(w: WriteCtx, participantId: number) {
  const find = () => findOffer(w, participantId);
  const offer = await find();
  if (offer === undefined || !(await endDueHolds(w, [offer.courseDateId], participantId))) return offer;
  const found = await find();
  // One that has lapsed and is made again is another offer.
  return found?.lapsedOffers === offer.lapsedOffers ? found : undefined;
}

/** An open offer of a date on which it can be accepted, with the seats of the date. */
async function findOffer(w: WriteCtx, participantId: number) {
  const isOpen = tenantWhere(w, participants, eq(participants.id, participantId), eq(participants.heldFor, 'offer'));
  const [found] = await w.tx
    .select({ ...offerColumns, ...seatColumns })
    .from(participants)
    .innerJoin(courseDates, sameTenant(courseDates, participants, eq(courseDates.id, participants.courseDateId)))
    .where(and(isOpen, sql.raw(isOngoingSql('course_dates'))));
  return found;
}

/** Deregisters participants, frees their seats and promotes the waiting lists; returns those who had not left before. */
export async function deregisterParticipants<P extends Participant>(
  w: SchoolWrite,
  chosen: P[],
  withFee: boolean,
): Promise<P[]> {
  const leaving = chosen.filter((one) => !hasLeft(one.statusId));
  if (leaving.length === 0) return [];
  const left = withFee ? 'deregisteredWithFee' : 'deregistered';
  const ids = leaving.map(({ id }) => id);
  await w.tx
    .update(participants)
    .set({ ...stateColumns(left), statusUpdatedAt: w.now, updatedAt: w.now })
    .where(tenantWhere(w, participants, hasAnyId(participants.id, ids)));
  await promoteAfterLeaving(w, leaving);
  await queueNotices(w, { canceled: ids });
  return leaving;
}
