/** What a course date has to give, and what of it is taken; a `capacityMax` of 0 is no limit. */
export type Seats = {
  capacityMax: number;
  capacityOverbook: number;
  capacityWait: number;
  numConfirmed: number;
  numOverbooked: number;
  numUnconfirmed: number;
  numWaiting: number;
};

/** What may be asked for: overbooked is only ever given. */
export type SeatRequest = { courseDateId: number; status: 1 | 3 | 7 };
export type SeatStatus = 1 | 2 | 3 | 7;

export type SeatRules = {
  /** Whether places are counted at all; else everybody gets what was asked for. */
  check: boolean;
  /** Whether who asked for a seat would rather wait than be turned away. */
  waitWhenFull: boolean;
};

/** Who stands next in line on a date, each by order of arrival: participants' ids, no more than could move. */
export type Queue = Seats & { overbooked: number[]; waiting: number[] };
export type Promotion = { participantId: number; status: 1 | 2 };
