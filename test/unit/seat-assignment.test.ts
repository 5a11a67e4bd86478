import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  computePromotions,
  decideSeats,
  placeOfAccepted,
} from '../../src/domains/bookings/seat-assignment/assignment-service.ts';
import type { Seats } from '../../src/domains/courses/seats/schema.ts';
import { nextState, states } from '../../src/core/reference/participant-states.ts';
import { runs } from '../support/property-runs.ts';

const date = (capacityMax: number, capacityOverbook = 0, capacityWait = 0, taken = [0, 0, 0, 0], openOffers = 0) => ({
  ...{ id: 1, capacityMax, capacityOverbook, capacityWait },
  ...{
    numConfirmed: taken[0]!,
    numOverbooked: taken[1]!,
    numUnconfirmed: taken[2]!,
    numWaiting: taken[3]!,
    openOffers,
  },
});
type Requested = 1 | 3 | 7;
const causes = { 1: 'book', 3: 'bookWaiting', 7: 'bookUnconfirmed' } as const;
const requests = (...statuses: Requested[]) => statuses.map((status) => ({ courseDateId: 1, cause: causes[status] }));
/** Decides on status ids. */
const decideStatuses = (...parameters: Parameters<typeof decideSeats>) =>
  decideSeats(...parameters).map((state) => state && states[state].statusId);
/** Waiting participants; those from 1,000 on wait together with the others of their thousand. */
const toQueue = (ids: number[]) =>
  ids.map((id) => ({ id, heldFor: null, groupId: id < 1_000 ? null : Math.floor(id / 1_000) }));
type Waiting = Seats & { id: number; overbooked: number[]; waiting: number[]; waitingMode?: 'promote' | 'offer' };
const promotionsOf = ({ overbooked, waiting, waitingMode = 'promote', ...on }: Waiting) => {
  const queue = { ...on, overbooked: toQueue(overbooked), waiting: toQueue(waiting), waitingMode };
  return computePromotions({ ...queue, offerEnd: 'later' }).map((change) => ({
    participantId: change.participantId,
    status: states[nextState(change.from, change.cause, change.place)!].statusId,
    heldUntil: change.heldUntil,
  }));
};
const checked = { check: true, waitWhenFull: false };

test.each<[string, Seats & { id: number }, ReturnType<typeof requests>, object, unknown[]]>([
  ['a seat each', date(2), requests(1, 7), checked, [1, 7]],
  ['no seat is left', date(1), requests(1, 1), checked, [1, undefined]],
  ['an overbook place after the seats', date(1, 1), requests(7, 7, 7), checked, [7, 2, undefined]],
  ['unconfirmed and overbooked hold seats', date(3, 1, 0, [1, 0, 2, 0]), requests(1, 1), checked, [2, undefined]],
  ['the waiting list only on request', date(1, 0, 5), requests(1, 1, 3), checked, [1, undefined, 3]],
  ['a waiting request waits beside free seats', date(5, 0, 1), requests(3, 3), checked, [3, undefined]],
  [
    'waiting instead of a seat',
    date(1, 1, 1),
    requests(1, 1, 1, 1),
    { ...checked, waitWhenFull: true },
    [1, 2, 3, undefined],
  ],
  ['no limit', date(0, 0, 0, [900, 0, 0, 0]), requests(1, 7, 1), checked, [1, 7, 1]],
  ['no limit, but no waiting list', date(0), requests(3), checked, [undefined]],
  ['not checked', date(1), requests(1, 1, 7, 3), { ...checked, check: false }, [1, 1, 7, 3]],
  [
    'open offers keep their places on the list',
    date(1, 0, 3, [0, 0, 1, 1], 1),
    requests(3, 3),
    checked,
    [3, undefined],
  ],
  ['together on seats', date(2, 1), requests(1, 1, 1), { ...checked, together: true }, [1, 1, 2]],
  [
    'together on the waiting list',
    date(2, 0, 3),
    requests(1, 7, 1),
    { check: true, waitWhenFull: true, together: true },
    [3, 3, 3],
  ],
  [
    'together or not at all',
    date(2, 0, 2),
    requests(1, 1, 1),
    { check: true, waitWhenFull: true, together: true },
    [3, 3, undefined],
  ],
  ['more participants than capacity', date(2, 1, 1, [5, 0, 0, 3]), requests(1, 3), checked, [undefined, undefined]],
])('%s', (_name, on, requested, rules, expected) => {
  expect(decideStatuses([on], requested, { check: true, waitWhenFull: false, ...rules })).toEqual(expected);
});

test('a group that does not fit on its date waits together, and is seated on another', () => {
  const dates = [date(1, 1, 3), { ...date(3), id: 2 }];
  const requested = [1, 1, 1, 2].map((courseDateId) => ({ courseDateId, cause: 'book' as const }));
  const together = { check: true, together: true };
  expect(decideStatuses(dates, requested, { ...together, waitWhenFull: true })).toEqual([3, 3, 3, 1]);
  expect(decideStatuses(dates, requested, { ...together, waitWhenFull: false })).toEqual([
    ...[undefined, undefined, undefined],
    1,
  ]);
  expect(decideStatuses(dates, requested.slice(1), { ...together, waitWhenFull: true })).toEqual([1, 2, 1]);
});

test('each date has its own seats', () => {
  const dates = [date(1), { ...date(1), id: 2 }];
  const requested = [1, 2, 1, 2].map((courseDateId) => ({ courseDateId, cause: 'book' as const }));
  expect(decideStatuses(dates, requested, checked)).toEqual([1, 1, undefined, undefined]);
});

/** Reference model: a room with chairs, stools and a bench, filled one by one. */
function roomOn(on: Seats) {
  const seated = on.numConfirmed + on.numOverbooked + on.numUnconfirmed;
  const limit = on.capacityMax === 0 ? 1_000_000 : on.capacityMax;
  let chairs = Math.max(0, limit - seated);
  let stools = Math.max(0, limit + on.capacityOverbook - Math.max(seated, limit));
  let bench = Math.max(0, on.capacityWait - on.numWaiting);
  return (status: number, mayWait: boolean): number | undefined => {
    if (status !== 3 && chairs > 0) {
      chairs -= 1;
      return status;
    }
    if (status !== 3 && stools > 0) {
      stools -= 1;
      return 2;
    }
    if ((status !== 3 && !mayWait) || bench === 0) return undefined;
    bench -= 1;
    return 3;
  };
}

const small = fc.integer({ min: 0, max: 6 });
const anyDate = fc.record({
  ...{ id: fc.constant(1), capacityMax: small, capacityOverbook: small, capacityWait: small },
  ...{
    numConfirmed: small,
    numOverbooked: small,
    numUnconfirmed: small,
    numWaiting: small,
    openOffers: fc.constant(0),
  },
});
const anyRequests = fc.array(fc.constantFrom<Requested>(1, 3, 7), { maxLength: 20 });

test('any seat requests on any date match the model', () => {
  fc.assert(
    fc.property(anyDate, anyRequests, fc.boolean(), (on, statuses, waitWhenFull) => {
      const enter = roomOn(on);
      const expected = statuses.map((status) => enter(status, waitWhenFull));
      expect(decideStatuses([on], requests(...statuses), { check: true, waitWhenFull })).toEqual(expected);
    }),
    { numRuns: runs(25) },
  );
});

test('sequential decisions equal batch decisions', () => {
  fc.assert(
    fc.property(anyDate, anyRequests, fc.boolean(), (on, statuses, waitWhenFull) => {
      const rules = { check: true, waitWhenFull };
      const current = { ...on };
      const sequential = statuses.map((status) => {
        const [input] = decideStatuses([current], requests(status), rules);
        if (input === 1) current.numConfirmed += 1;
        if (input === 2) current.numOverbooked += 1;
        if (input === 3) current.numWaiting += 1;
        if (input === 7) current.numUnconfirmed += 1;
        return input;
      });
      expect(sequential).toEqual(decideStatuses([on], requests(...statuses), rules));
    }),
    { numRuns: runs(10) },
  );
});

test.each<[string, ReturnType<typeof date>, number[], number[], [number, number][]]>([
  ['nobody waits', date(2, 0, 0, [1, 0, 0, 0]), [], [], []],
  ['an overbooked one onto a free seat', date(2, 1, 0, [1, 1, 0, 0]), [8], [], [[8, 1]]],
  [
    'overbooked before waiting',
    date(2, 1, 5, [1, 1, 0, 2]),
    [8],
    [9, 10],
    [
      [8, 1],
      [9, 2],
    ],
  ],
  [
    'waiting onto seats, then overbook places',
    date(3, 1, 5, [1, 0, 0, 4]),
    [],
    [5, 6, 7, 8],
    [
      [5, 1],
      [6, 1],
      [7, 2],
    ],
  ],
  ['no room', date(1, 0, 5, [1, 0, 0, 2]), [], [5, 6], []],
  ['more taken than there is', date(1, 1, 5, [3, 1, 0, 2]), [4], [5, 6], []],
  [
    'no limit any more',
    date(0, 0, 5, [3, 2, 0, 2]),
    [4, 5],
    [6, 7],
    [
      [4, 1],
      [5, 1],
      [6, 1],
      [7, 1],
    ],
  ],
])('promotion: %s', (_name, on, overbooked, waiting, expected) => {
  expect(promotionsOf({ ...on, overbooked, waiting }).map((move) => [move.participantId, move.status])).toEqual(
    expected,
  );
});

test.each<[string, ReturnType<typeof date>, number[], number[]]>([
  ['a group that fits', date(3, 1, 9, [1, 0, 0, 4]), [1_001, 1_002, 1_003, 5], [1_001, 1_002, 1_003]],
  ['smaller ones pass a group', date(3, 0, 9, [1, 0, 0, 6]), [1_001, 5, 1_002, 1_003, 2_001, 2_002], [5]],
  ['a smaller group too', date(3, 0, 9, [1, 0, 0, 6]), [1_001, 1_002, 1_003, 2_001, 2_002, 6], [2_001, 2_002]],
  ['a group stands where its first one stands', date(2, 0, 9, [0, 0, 0, 3]), [1_001, 5, 1_002], [1_001, 1_002]],
])('together: %s', (_name, on, waiting, expected) => {
  expect(promotionsOf({ ...on, overbooked: [], waiting }).map(({ participantId }) => participantId)).toEqual(expected);
});

test('a date that offers its places confirms overbooked participants and makes offers to waiting ones', () => {
  const on = date(2, 1, 5, [1, 1, 0, 3]);
  expect(promotionsOf({ ...on, overbooked: [8], waiting: [9, 10], waitingMode: 'offer' })).toEqual([
    { participantId: 8, status: 1 },
    { participantId: 9, status: 7, heldUntil: 'later' },
  ]);
});

test.each([
  ['a seat', date(2, 1, 0, [1, 0, 1, 0], 1), 'seat'],
  ['a seat before an overbooked participant', date(2, 2, 0, [1, 1, 1, 0], 1), 'seat'],
  ['a seat before the other offers', date(2, 1, 0, [1, 0, 2, 0], 2), 'seat'],
  ['an overbook place', date(2, 1, 0, [2, 0, 1, 0], 1), 'overbook'],
  ['a seat without a limit', date(0, 0, 0, [9, 0, 1, 0], 1), 'seat'],
])('an accepted offer gets %s', (_name, on, expected) => {
  expect(placeOfAccepted(on)).toBe(expected);
});

test('promotion fills all free seats in order and never oversells', () => {
  fc.assert(
    fc.property(anyDate, (on) => {
      const overbooked = Array.from({ length: on.numOverbooked }, (_, n) => 100 + n);
      const waiting = Array.from({ length: on.numWaiting }, (_, n) => 200 + n);
      const moves = promotionsOf({ ...on, overbooked, waiting });
      const to = (status: number, from: number[]) =>
        moves.filter((move) => move.status === status && from.includes(move.participantId)).map((m) => m.participantId);
      const [up, in1, in2] = [to(1, overbooked), to(1, waiting), to(2, waiting)];
      expect(moves).toHaveLength(up.length + in1.length + in2.length);
      // First come, first served.
      expect(up).toEqual(overbooked.slice(0, up.length));
      expect([...in1, ...in2]).toEqual(waiting.slice(0, in1.length + in2.length));

      const limit = on.capacityMax === 0 ? Infinity : on.capacityMax;
      const before = on.numConfirmed + on.numUnconfirmed;
      const confirmed = before + up.length + in1.length;
      const left = on.numOverbooked - up.length + in2.length;
      const total = confirmed + left;
      // Nobody is promoted without a free seat …
      if (up.length + in1.length > 0) expect(confirmed).toBeLessThanOrEqual(limit);
      if (in1.length + in2.length > 0) expect(total).toBeLessThanOrEqual(limit + on.capacityOverbook);
      // … and nobody waits beside a free seat.
      if (left - in2.length > 0) expect(confirmed).toBeGreaterThanOrEqual(limit);
      if (waiting.length > in1.length + in2.length) expect(total).toBeGreaterThanOrEqual(limit + on.capacityOverbook);
      if (in2.length > 0) expect(confirmed).toBeGreaterThanOrEqual(limit);
    }),
    { numRuns: runs(25) },
  );
});
