import fc from 'fast-check';
import { expect } from 'vitest';
import {
  findTransition,
  nextState,
  states,
  toState,
  type Cause,
  type Place,
  type State,
} from '../../src/core/reference/participant-states.ts';
import { Problem } from '../../src/core/errors.ts';
import { book } from '../../src/domains/bookings/booking/service.ts';
import { updateParticipant } from '../../src/domains/bookings/participant-changes/editing-service.ts';
import { endDueHoldsOfSchool } from '../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { acceptOffer, declineOffer } from '../../src/domains/bookings/seat-assignment/service.ts';
import { bookingBody, createBookableDate, person } from './booking.ts';
import { changeDate } from './dates.ts';
import type { Provider, TestApp } from './test-app.ts';

type Person = { state: State; since: number; lapsed: number; group: number | null };
type Dates = { max: number; overbook: number; wait: number };

const seated: State[] = ['confirmed', 'overbooked', 'unconfirmed', 'offered'];

/** A date and its people, who change by the table of transitions alone. */
class Model {
  people: Person[] = [];
  turn = 0;
  /** Whose offers have lapsed for the first time just now. */
  lapsed = new Set<Person>();
  mode: 'promote' | 'offer' = 'offer';
  date: Dates;
  constructor(date: Dates) {
    this.date = date;
  }

  count = (...counted: State[]) => this.people.filter(({ state }) => counted.includes(state)).length;

  /** The place for a cause, without the person's own place. */
  place(from: State | 'new', cause: Cause, mayWait: boolean): Place | undefined {
    const { to } = findTransition(from, cause)!;
    if (to.own) return 'own';
    const taken = this.count(...seated) - Number(from !== 'new' && seated.includes(from));
    if (to.seat && taken < this.date.max) return 'seat';
    if (to.overbook && taken < this.date.max + this.date.overbook) return 'overbook';
    const waiting = this.count('waiting', 'offered') - Number(from === 'waiting' || from === 'offered');
    return (mayWait || !to.seat) && waiting < this.date.wait ? 'waiting' : undefined;
  }

  change(one: Person, cause: Cause, place: Place) {
    const to = nextState(one.state, cause, place)!;
    if (to !== one.state) Object.assign(one, { state: to, since: this.turn });
    if (/^(lapse|decline)/.test(cause)) one.lapsed += 1;
  }

  /** Those of a state in order of arrival, without those who came just now; behind them whose offers have lapsed. */
  queue = (state: State) =>
    this.people
      .filter(
        (one) => one.state === state && (one.since < this.turn || (this.mode === 'offer' && this.lapsed.has(one))),
      )
      .sort((one, other) => one.since - other.since || this.people.indexOf(one) - this.people.indexOf(other));

  promote() {
    for (const one of this.queue('overbooked'))
      if (this.count('confirmed', 'unconfirmed', 'offered') < this.date.max) this.change(one, 'promote', 'seat');
    const cause = this.mode;
    for (const first of this.queue('waiting')) {
      // Those of a group come with its first one.
      const group = this.queue('waiting').filter((one) => one === first || (one.group ?? -1) === first.group);
      if (group[0] !== first) continue;
      if (this.count(...seated) + group.length > this.date.max + this.date.overbook) continue;
      for (const one of group) this.change(one, cause, this.count(...seated) < this.date.max ? 'seat' : 'overbook');
    }
  }

  /** False if the service must refuse. */
  book(causes: Cause[], mayWait: boolean, together: boolean): boolean {
    this.turn += 1;
    const [before, group] = [this.people, together ? this.turn : null];
    const add = (cause: Cause, place: Place | undefined) => {
      const state = place && nextState('new', cause, place);
      if (state) this.people = [...this.people, { state, since: this.turn, lapsed: 0, group }];
      return state;
    };
    const added = causes.map((cause) => add(cause, this.place('new', cause, mayWait)));
    const isSplit = together && added.some((state) => state === undefined || state === 'waiting');
    if (isSplit) this.people = before;
    const mayJoin = (cause: Cause) =>
      (mayWait || cause === 'bookWaiting') && this.count('waiting', 'offered') < this.date.wait;
    const all = isSplit ? causes.map((cause) => add(cause, mayJoin(cause) ? 'waiting' : undefined)) : added;
    if (all.every(Boolean)) return true;
    this.people = before;
    return false;
  }

  request(one: Person, cause: Cause): boolean {
    this.turn += 1;
    const before = one.state;
    const place = this.place(one.state, cause, false);
    if (place === undefined) return false;
    this.change(one, cause, place);
    const hasLeftGroup = before === 'waiting' && one.state !== 'waiting' && one.group !== null;
    if (hasLeftGroup || (seated.includes(before) && !seated.includes(one.state))) this.promote();
    return true;
  }

  accept(one: Person) {
    this.turn += 1;
    this.change(one, 'accept', this.count('confirmed', 'unconfirmed') < this.date.max ? 'seat' : 'overbook');
  }

  end(all: Person[], cause: 'lapse' | 'decline') {
    this.turn += 1;
    for (const one of all) this.change(one, one.lapsed === 0 ? cause : `${cause}Again`, 'own');
    if (cause === 'lapse') this.lapsed = new Set(all);
    this.promote();
    this.lapsed.clear();
  }
}

const index = fc.nat(20);
const command = fc.oneof(
  fc.record({
    name: fc.constant('book' as const),
    statuses: fc.array(fc.constantFrom<1 | 3 | 7>(1, 1, 1, 3, 7), { minLength: 1, maxLength: 3 }),
    mayWait: fc.boolean(),
    together: fc.boolean(),
  }),
  fc.record({ name: fc.constant('request' as const), index, status: fc.constantFrom(1, 3, 4, 7, 8) }),
  fc.record({ name: fc.constantFrom('accept' as const, 'decline' as const), index }),
  fc.record({ name: fc.constant('lapse' as const), index, all: fc.boolean() }),
  fc.record({ name: fc.constant('mode' as const), mode: fc.constantFrom('promote' as const, 'offer' as const) }),
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const bookingCauses = { 1: 'book', 3: 'bookWaiting', 7: 'bookUnconfirmed' } as const;
const requestCauses: Record<number, Cause> = {
  ...{ 1: 'confirm', 3: 'wait', 4: 'deregister', 7: 'unconfirm', 8: 'deregisterWithFee' },
};

/** Runs random commands on dates, and compares each with the model. */
export async function checkParticipantModel({ createProvider, database }: TestApp, numRuns: number) {
  const me = await createProvider();
  const small = (min: number) => fc.integer({ min, max: 3 });
  const dates = fc.record({ max: small(1), overbook: small(0), wait: fc.constantFrom(0, 2, 6) });
  await fc.assert(
    fc.asyncProperty(dates, fc.array(command, { minLength: 1, maxLength: 25 }), async (date, commands) => {
      const model = new Model(date);
      const { dateId } = await createBookableDate(me, {
        ...{ capacityMax: date.max, capacityOverbook: date.overbook, capacityWait: date.wait, waitingMode: 'offer' },
      });
      for (const one of commands) await runCommand(me, database, model, dateId, one);
    }),
    { numRuns },
  );
}

type Row = { id: number; statusId: number; heldFor: string | null; lapsed: number };

async function runCommand(me: Provider, database: TestApp['database'], model: Model, dateId: number, one: Command) {
  const ctx = await me.ctx();
  const read = async () =>
    (
      await database.pool.query<Row>(
        `select id, status_id as "statusId", held_for as "heldFor", lapsed_offers as lapsed from participants
          where provider_id = $1 and course_date_id = $2 order by id`,
        [me.id, dateId],
      )
    ).rows;
  const rows = await read();
  const offered = model.people.filter(({ state }) => state === 'offered');
  const idOf = (who: Person) => rows[model.people.indexOf(who)]!.id;
  const isRefused = (work: Promise<unknown>) =>
    work.then(
      () => false,
      (error: unknown) => error instanceof Problem || Promise.reject(error as Error),
    );

  switch (one.name) {
    case 'book': {
      const participants = one.statuses.map((status_id) => person({ status_id }));
      const config = { waiting_list_when_full: one.mayWait };
      const body = bookingBody(dateId, { participants, config, waiting_together: one.together }) as never;
      const causes = one.statuses.map((status) => bookingCauses[status]);
      const isBooked = model.book(causes, one.mayWait, one.together);
      expect(await isRefused(book(ctx, body, []))).toBe(!isBooked);
      break;
    }
    case 'request': {
      const who = model.people[one.index % Math.max(1, model.people.length)];
      if (who === undefined || states[who.state].statusId === one.status) return;
      const isAccepted = who.state === 'offered' && one.status === 1;
      const id = idOf(who);
      const isDone = isAccepted ? (model.accept(who), true) : model.request(who, requestCauses[one.status]!);
      expect(await isRefused(updateParticipant(ctx, id, { idStatus: one.status }))).toBe(!isDone);
      break;
    }
    case 'accept':
    case 'decline': {
      const who = offered[one.index % Math.max(1, offered.length)];
      if (who === undefined) return;
      const change = one.name === 'accept' ? acceptOffer : declineOffer;
      const id = idOf(who);
      if (one.name === 'accept') model.accept(who);
      else model.end([who], 'decline');
      expect(await ctx.write(['dates', 'people', 'money'], (w) => change(w, id))).toBe(who.state);
      break;
    }
    case 'lapse': {
      if (offered.length === 0) return;
      const who = one.all ? offered : [offered[one.index % offered.length]!];
      const ids = who.map(idOf);
      await ctx.write(['people', 'dates'], ({ tx }) =>
        tx.$client.query(
          `update participants set held_until = clock_timestamp() where provider_id = $1 and id = any($2)`,
          [me.id, ids],
        ),
      );
      model.end(who, 'lapse');
      await endDueHoldsOfSchool(database, me.id);
      break;
    }
    case 'mode':
      model.mode = one.mode;
      await changeDate(me, dateId, { waitingMode: one.mode });
  }
  expect((await read()).map((row) => [toState(row), row.lapsed])).toEqual(
    model.people.map(({ state, lapsed }) => [state, lapsed]),
  );
}
