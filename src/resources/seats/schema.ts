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

/** Status ids; overbooked (2) is assigned, never requested. */
export type SeatRequest = { courseDateId: number; status: 1 | 3 | 7 };
export type SeatStatus = 1 | 2 | 3 | 7;

export type SeatRules = {
  /** False assigns the requested status whatever the counts. */
  check: boolean;
  /** True puts a request for a seat on the waiting list if there is none. */
  waitWhenFull: boolean;
};

/** A date with its overbooked and waiting participants: ids in order of arrival, at most as many as could move. */
export type Queue = Seats & { overbooked: number[]; waiting: number[] };
export type Promotion = { participantId: number; status: 1 | 2 };
