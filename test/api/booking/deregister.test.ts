import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promoteWaitingLists } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import {
  createBookableDate,
  bookOrFail,
  errorCodes,
  seatCounters,
  deregister,
  createVoucher,
  person,
  persons,
  participantStatuses,
  statusesOnDate,
} from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const participantsOf = async (me: Provider) => (await me.get('/v2/participants?limit=250')).json<Item[]>();
const unchecked = { config: { seats_availability_check: 0 } };
const wait = { config: { waiting_list_when_full: 1 } };
const settle = async (me: Provider, dateIds: number[]) => {
  const ctx = await me.ctx();
  await ctx.write(allAreas, (w) => promoteWaitingLists(w, dateIds));
};

test('deregister returns the participants; a second call changes nothing', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await bookOrFail(me, dateId, {
    participants: [person(), person({ status_id: 7 }), person({ status_id: 3 })],
    ...unchecked,
  });
  const response = await deregister(me, summary.booking_id);
  const { successful, booking_id, participants } = response.json();
  expect([response.status, successful, booking_id]).toEqual([200, true, summary.booking_id]);
  expect(participants).toEqual(await participantsOf(me));
  expect(participants.map((one: Item) => [one['id'], one['status'].status_code])).toEqual(
    summary.participants.map(({ id }) => [id, 'status_deregistered']),
  );
  expect(participants[0].status_updated_at).toBe(participants[0].updated_at);
  expect(await seatCounters(me, dateId)).toEqual([0, 0, 0, 0]);

  const orders = (await me.get('/v2/orders')).text;
  for (const config of [{ with_fee: 1 }, [], '[]'])
    expect((await deregister(me, summary.booking_id, { config })).text).toBe(response.text);
  expect((await me.get('/v2/orders')).text).toBe(orders);
});

test('deregistering changes the participant, not the order, which shows the new status in its lines', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityWait: 1 });
  const { code } = await createVoucher(me, { amount: '3000.00' });
  const { order_id, booking_id } = await bookOrFail(me, dateId, { participants: persons(2), voucher_code: code });
  await bookOrFail(me, dateId, wait);
  const order = async (include = '') => (await me.get(`/v2/orders/${order_id}${include}`)).json<Item>();
  const shown = async () =>
    (await order('?include=lines.database_relations.participants'))['lines'].flatMap((line: Item) =>
      line['database_relations'].map((relation: Item) => relation['participants'].status.status_code),
    );
  const before = await order();
  expect(await shown()).toEqual(['status_confirmed', 'status_confirmed']);
  await deregister(me, booking_id);
  expect(await order()).toEqual(before);
  expect(await shown()).toEqual(['status_deregistered', 'status_deregistered']);
});

test('with a fee the status differs', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { booking_id } = await bookOrFail(me, dateId);
  await deregister(me, booking_id, { config: { with_fee: true } });
  expect(await statusesOnDate(me, dateId)).toEqual([8]);
  expect(await seatCounters(me, dateId)).toEqual([0, 0, 0, 0]);
});

test('deregister affects only active participants of the booking', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
  await bookOrFail(me, dateId);
  await me.put(`/v2/participants/${participants[0]!.id}`, { idStatus: 8 });
  await deregister(me, booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([8, 4, 1]);
});

test('freed seats go to overbooked, then to waiting participants, in order of arrival', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityOverbook: 1, capacityWait: 3 });
  const first = await bookOrFail(me, dateId, { participants: persons(2) });
  const over = await bookOrFail(me, dateId);
  expect(participantStatuses(over)).toEqual([2]);
  expect(participantStatuses(await bookOrFail(me, dateId, { participants: persons(3), ...wait }))).toEqual([3, 3, 3]);

  await deregister(me, first.booking_id);
  // Two seats are free: the overbooked one takes the first, the two longest waiting the other and the overbook seat.
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 1, 1, 2, 3]);
  await deregister(me, over.booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 4, 1, 1, 2]);
  // A promotion changes the participant's updated_at.
  const timestamps = await write(me, (tx) =>
    tx.execute(`select updated_at = status_updated_at and updated_at > created_at as moved from participants
      where provider_id = ${me.id} and course_date_id = ${dateId} order by id`),
  );
  expect(timestamps.rows.map(({ moved }) => moved)).toEqual([true, true, true, true, true, true]);
});

test('a waiting participant does not overtake earlier ones', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  const seated = await bookOrFail(me, dateId);
  const early = await bookOrFail(me, dateId, wait);
  const late = await bookOrFail(me, dateId, wait);
  // The early one rejoins the queue behind the late one.
  const [, { id } = { id: 0 }] = (await participantsOf(me)) as { id: number }[];
  await me.put(`/v2/participants/${id}`, { idStatus: 4 });
  await me.put(`/v2/participants/${id}`, { idStatus: 3 });
  await deregister(me, seated.booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 3, 1]);
  expect([early, late].map(participantStatuses)).toEqual([[3], [3]]);
});

test.each<[string, object]>([
  ['canceled', { statusId: 3 }],
  ['past', { startAt: '2020-01-01', endAt: '2020-01-01', deadlineAt: '2020-01-01' }],
  ['deleted', { deletedAt: '2026-01-01 00:00:00+01' }],
])('nobody is promoted on a date that is %s', async (_name, change) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityOverbook: 1, capacityWait: 1 });
  const { booking_id } = await bookOrFail(me, dateId);
  await bookOrFail(me, dateId);
  await bookOrFail(me, dateId, wait);
  await changeDate(me, dateId, change);
  await deregister(me, booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 2, 3]);
});

test('a participant on standby is not promoted by other waiting ones', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 5, capacityWait: 5 });
  await bookOrFail(me, dateId, { participants: [person({ status_id: 3 })] });
  const { booking_id } = await bookOrFail(me, dateId, { participants: [person({ status_id: 3 })] });
  await deregister(me, booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([3, 4]);
});

test('each date is promoted independently in one request', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  const child = await addDate(me, courseId, { parentId: dateId, triggerValue: 'x', capacityMax: 1, capacityWait: 5 });
  const both = () => [person(), person({ trigger_value: 'x' })];
  const { booking_id } = await bookOrFail(me, dateId, { participants: both() });
  await bookOrFail(me, dateId, { participants: both(), ...wait });
  await bookOrFail(me, dateId, { participants: both(), ...wait });
  await deregister(me, booking_id);
  expect([await statusesOnDate(me, dateId), await statusesOnDate(me, child)]).toEqual([
    [4, 1, 3],
    [4, 1, 3],
  ]);
});

test('a raised or removed capacity limit and a reactivated date promote waiting participants', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 10 });
  await bookOrFail(me, dateId);
  await bookOrFail(me, dateId, { participants: persons(6), ...wait });
  await changeDate(me, dateId, { capacityMax: 2, capacityOverbook: 1 });
  await settle(me, [dateId]);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 2, 3, 3, 3, 3]);
  await changeDate(me, dateId, { capacityMax: 3 });
  await settle(me, [dateId]);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 1, 2, 3, 3, 3]);
  await changeDate(me, dateId, { capacityMax: 1 });
  await settle(me, [dateId]);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 1, 2, 3, 3, 3]);
  await changeDate(me, dateId, { capacityMax: 0 });
  await settle(me, [dateId, 999_999_999]);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 1, 1, 1, 1, 1]);
  await settle(me, []);
});

/** Reference model of the promotion rules: the queue after each event. */
type Someone = { id: number; booking: number; status: number; since: number };
type Capacities = { max: number; overbook: number; wait: number };

const seated = (people: Someone[], ...statuses: number[]) =>
  people.filter(({ status }) => statuses.includes(status)).length;
const first = (people: Someone[], status: number, now: number) =>
  people
    .filter((one) => one.status === status && one.since < now)
    .sort((a, b) => a.since - b.since || a.id - b.id)
    .at(0);

function promoteWaiting(people: Someone[], { max, overbook }: Capacities, now: number) {
  for (;;) {
    const next = seated(people, 1, 7) < max ? first(people, 2, now) : undefined;
    if (!next) break;
    Object.assign(next, { status: 1, since: now });
  }
  for (;;) {
    const total = seated(people, 1, 2, 7);
    const next = total < max + overbook ? first(people, 3, now) : undefined;
    if (!next) break;
    Object.assign(next, { status: total < max ? 1 : 2, since: now });
  }
}

function enter(people: Someone[], { max, overbook, wait }: Capacities, requested: number, mayWait: boolean) {
  const total = seated(people, 1, 2, 7);
  if (requested !== 3 && total < max) return requested;
  if (requested !== 3 && total < max + overbook) return 2;
  return (requested === 3 || mayWait) && seated(people, 3) < wait ? 3 : undefined;
}

const step = fc.oneof(
  fc.record({
    do: fc.constant('book' as const),
    requested: fc.array(fc.constantFrom(1, 1, 3, 7), { minLength: 1, maxLength: 3 }),
    mayWait: fc.boolean(),
  }),
  fc.record({ do: fc.constant('leave' as const), nth: fc.nat(20) }),
  fc.record({ do: fc.constant('change' as const), nth: fc.nat(20), to: fc.constantFrom(1, 3, 4, 7, 8) }),
);
const history = fc.record({
  date: fc.record({ max: fc.integer({ min: 1, max: 4 }), overbook: fc.nat(2), wait: fc.nat(4) }),
  steps: fc.array(step, { minLength: 3, maxLength: 14 }),
});

test('any history of bookings, deregistrations and status changes matches the queue model', async () => {
  const me = await createProvider();
  const courseId = await me.course({ price_value: 100 });
  const check = async ({ date, steps }: typeof history extends fc.Arbitrary<infer H> ? H : never) => {
    const capacities = { capacityMax: date.max, capacityOverbook: date.overbook, capacityWait: date.wait };
    const dateId = await addDate(me, courseId, capacities);
    let people: Someone[] = [];
    const bookings: string[] = [];
    for (const [now, one] of steps.entries()) {
      if (one.do === 'book') {
        const after = people.map((other) => ({ ...other }));
        const input = one.requested.map((requested) => {
          const status = enter(after, date, requested, one.mayWait);
          if (status !== undefined) after.push({ id: Infinity, booking: bookings.length, status, since: now });
          return status;
        });
        const response = await me.post('/v2/booking', {
          ...{ coursedate_id: dateId, payment_method: 'invoice', config: { waiting_list_when_full: one.mayWait } },
          participants: one.requested.map((status_id) => person({ status_id })),
        });
        if (input.includes(undefined)) {
          expect(errorCodes(response)).toEqual(
            input.filter((status) => status === undefined).map(() => 'no_seats_available'),
          );
          continue;
        }
        const { participants, booking_id } = response.json().summary;
        expect(participants.map((created: Item) => created['status_id'])).toEqual(input);
        people = after.map((created) => ({
          ...created,
          id: created.id === Infinity ? participants.shift().id : created.id,
        }));
        bookings.push(booking_id);
      } else if (one.do === 'leave' && bookings.length > 0) {
        const nth = one.nth % bookings.length;
        const leaving = people.filter(({ booking, status }) => booking === nth && status !== 4 && status !== 8);
        const freed = leaving.some(({ status }) => status !== 3);
        for (const other of leaving) Object.assign(other, { status: 4, since: now });
        if (freed) promoteWaiting(people, date, now);
        expect((await deregister(me, bookings[nth]!)).status).toBe(200);
      } else if (one.do === 'change' && people.length > 0) {
        const actorName = people[one.nth % people.length]!;
        const before = actorName.status;
        const keeps = [1, 7].includes(before) && [1, 7].includes(one.to);
        const others = people.filter((other) => other !== actorName);
        const to = before === one.to || keeps || [4, 8].includes(one.to) ? one.to : enter(others, date, one.to, false);
        const response = await me.put(`/v2/participants/${actorName.id}`, { idStatus: one.to });
        expect(response.status).toBe(to === undefined ? 400 : 200);
        if (to !== undefined && to !== before) {
          Object.assign(actorName, { status: to, since: now });
          if ([1, 2, 7].includes(before) && ![1, 2, 7].includes(to)) promoteWaiting(people, date, now);
        }
      }
      expect(await statusesOnDate(me, dateId)).toEqual(people.map(({ status }) => status));
      expect(await seatCounters(me, dateId)).toEqual([1, 2, 7, 3].map((status) => seated(people, status)));
    }
  };
  await fc.assert(fc.asyncProperty(history, check), { numRuns: runs(0.3) });
});

test.each<[string, (id: number) => unknown]>([
  ['ids', (id) => [id]],
  ['objects', (id) => [{ id }]],
  ['a single id', (id) => id],
  ['a single object', (id) => ({ id })],
  ['JSON text', (id) => `[${id}]`],
  ['an id twice', (id) => [id, { id }]],
])('participants named by %s are deregistered alone, in all body formats', async (_name, toParticipants) => {
  const me = await createProvider();
  for (const dialect of dialects) {
    const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityWait: 1 });
    const { booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
    await bookOrFail(me, dateId, wait);
    const body = encodeBody(dialect, { participants: toParticipants(participants[1]!.id) });
    const send = () => me.put(`/v2/booking/${booking_id}/deregister`, body, contentTypeHeader(dialect));
    const response = await send();
    expect([response.status, response.headers['x-ignored-parameters']]).toEqual([200, undefined]);
    expect(response.json<Item>()['participants'].map((one: Item) => one['status'].id)).toEqual([1, 4]);
    expect(await statusesOnDate(me, dateId)).toEqual([1, 4, 1]);
    expect((await send()).text).toBe(response.text);
  }
});

test('participants of another booking, and a list that names nobody, are refused and change nothing', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { dateId } = await createBookableDate(me);
  const { booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
  const sameDate = await bookOrFail(me, dateId);
  const { dateId: foreignDate } = await createBookableDate(other);
  const foreign = await bookOrFail(other, foreignDate);
  const known = participants[0]!.id;
  const lists: unknown[] = [
    ...[sameDate, foreign].flatMap((summary) => [[summary.participants[0]!.id], [known, summary.participants[0]!.id]]),
    ...[[2 ** 40], [0], ['x'], [{ id: 'x' }], [], '[]', [''], { 0: '' }, `${known},${known}`],
  ];
  for (const named of lists) {
    const response = await deregister(me, booking_id, { participants: named });
    const isMember = JSON.stringify(named) === '[{"id":"x"}]';
    const error = `Field(s) not valid: participants${isMember ? '[0].id' : ''}`;
    expect([named, response.status, response.json<Item>()['error']]).toEqual([named, 400, error]);
    expect(errorCodes(response)).toEqual(['field_invalid']);
  }
  const nameless = await deregister(me, booking_id, { participants: [known, { name: 'x' }] });
  expect(nameless.json<Item>()['error']).toBe('Missing field(s): participants[1].id');
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1, 1]);
  expect((await deregister(me, booking_id, { participants: null })).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 1]);
});
