import { t } from '../../../core/schema/types.ts';
import type { Cause, Place, State } from '../../../core/reference/participant-states.ts';
import * as codes from '../../../core/schema/codes.ts';

/** Capacities, without a limit at 0, and counts of participants; who has an open offer is still waiting. */
export type Seats = Record<
  | ('capacityMax' | 'capacityOverbook' | 'capacityWait')
  | ('numConfirmed' | 'numOverbooked' | 'numUnconfirmed' | 'numWaiting' | 'openOffers'),
  number
>;

export const waitingModes = ['promote', 'offer'] as const;

export const WaitingMode = t.named(
  'WaitingMode',
  t.OneOf(waitingModes, {
    description: 'promote: a free place is given to the waiting list at once; offer: it is offered',
  }),
);

/** A change that needs a place of a date; of a new participant unless `from` is sent. */
export type SeatRequest = { courseDateId: number; cause: Cause; from?: State };

export type SeatRules = {
  /** False assigns the requested status whatever the counts. */
  check: boolean;
  /** True puts a request for a seat on the waiting list if there is none. */
  waitWhenFull: boolean;
  /** True puts all requests of a date on the waiting list if one of them has no seat. */
  together?: boolean;
};

export type Queued = { id: number; heldFor: 'offer' | 'name' | null };

/** `groupId` is the booking of participants who wait together. */
export type Waiting = Queued & { groupId: number | null };

/** A change of a participant's state by the table of transitions. */
export type StateChange = {
  participantId: number;
  from: State;
  cause: Cause;
  place: Place;
  /** The end of a new offer. */
  heldUntil?: string;
  /** True: its mail is sent whatever the switch. */
  isMailRequested?: boolean;
};

/** `seats_status`; a capacity of 0 is no limit. */
export const seatsStatuses = new Map([
  ['open', 'a seat is free'],
  ['waiting_list', 'only the waiting list has room'],
  ['fully_booked', 'neither has room'],
]);

export const SeatsStatus = codes.Code('SeatsStatus', seatsStatuses);
