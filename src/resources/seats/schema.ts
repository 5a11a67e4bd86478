import type { Cause, State } from '../../core/reference/participant-states.ts';

/** Capacities of a course date and its counts of participants; a `capacityMax` of 0 is no limit. */
export type Seats = {
  capacityMax: number;
  capacityOverbook: number;
  capacityWait: number;
  numConfirmed: number;
  numOverbooked: number;
  numUnconfirmed: number;
  numWaiting: number;
};

/** A change that needs a place of a date; of a new participant unless `from` is sent. */
export type SeatRequest = { courseDateId: number; cause: Cause; from?: State };

export type SeatRules = {
  /** False assigns the requested status whatever the counts. */
  check: boolean;
  /** True puts a request for a seat on the waiting list if there is none. */
  waitWhenFull: boolean;
};

/** A date with its overbooked and waiting participants: ids in order of arrival, at most as many as could move. */
export type Queue = Seats & { overbooked: Queued[]; waiting: Queued[] };
export type Queued = { id: number; heldFor: 'offer' | 'name' | null };
export type Promotion = { participantId: number; state: State };
