import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import {
  bookOrFail,
  book,
  createBookableDate,
  deregister,
  endOffers,
  errorCodes,
  participantStatuses,
  person,
  persons,
  statusesOnDate,
} from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { participants } from '../../../src/database/tables/participants.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { acceptOffer, declineOffer } from '../../../src/domains/bookings/seat-assignment/service.ts';

const { createProvider, database } = await sharedTestApp();
const { pool } = database;

type Item = Record<string, any>;
const wait = { config: { waiting_list_when_full: 1 } };
const offering = { capacityMax: 1, capacityWait: 3, waitingMode: 'offer' as const };

/** A full date whose seat became free: the first of those who wait has an offer. */
async function offeredSeat(waiting: number, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me, { ...offering, ...date });
  const { booking_id } = await bookOrFail(me, dateId, { participants: persons(date.capacityMax ?? 1) });
  const ids: number[] = [];
  for (let n = 0; n < waiting; n += 1) ids.push((await bookOrFail(me, dateId, wait)).participants[0]!.id);
  const cursor = await newestEvent(me);
  await deregister(me, booking_id);
  return { me, courseId, dateId, ids, cursor };
}

type Staged = Awaited<ReturnType<typeof offeredSeat>>;
const courseUrl = ({ courseId }: Staged) => `/v2/courses/${courseId}`;
const holds = async (me: Provider) =>
  (await me.get('/v2/participants?include=hold&limit=250'))
    .json<Item[]>()
    .map(({ status, hold }) => [status.id, hold?.held_for ?? null]);
const offerEvents = async (me: Provider, cursor: string) =>
  (await eventsSince(me, cursor)).filter((type) => type.startsWith('offer.'));
const lapsedBefore = (me: Provider) =>
  write(me, (tx) => tx.update(participants).set({ lapsedOffers: 1 }).where(eq(participants.providerId, me.id)));
const answer = async (me: Provider, change: typeof acceptOffer, id: number) =>
  (await me.ctx()).write(['dates', 'people', 'money'], async ({ tx, now }) =>
    change({ ...(await me.ctx()), tx, now }, id),
  );

test('a free seat is offered to the first who waits, with a mail, and is theirs once accepted', async () => {
  const { me, courseId, dateId, ids } = await offeredSeat(2);
  const read = async () => (await me.get(`/v2/participants/${ids[0]}?include=hold`)).json<Item>();
  const { hold, status } = await read();
  expect([status.id, hold.held_for]).toEqual([7, 'offer']);
  const hours = (Date.parse(hold.held_until) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(23);
  expect(hours).toBeLessThan(24.01);
  const date = (await me.get(`/v2/courses/${courseId}/coursedates/${dateId}?include=waiting`)).json<Item>();
  expect([date['waiting'], date['seats'].booking_status]).toMatchObject([
    { mode: 'offer', offer_hours: 24, open_offers: 1 },
    { num_unconfirmed: 1, num_waiting: 1 },
  ]);
  const mails = `select purpose, participant_id::int as participant from outbox where provider_id = $1`;
  expect((await pool.query(mails, [me.id])).rows).toEqual([{ purpose: 'offer', participant: ids[0] }]);

  expect((await me.put(`/v2/participants/${ids[0]}`, { idStatus: 1 })).json<Item>()['status'].id).toBe(1);
  expect((await read())['hold']).toBeNull();
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1, 3]);
});

test('a declined or lapsed offer goes to the next, its person to the end, and the second time off the list', async () => {
  const { me, ids } = await offeredSeat(2);
  const states = async () => (await holds(me)).slice(1);
  expect(await answer(me, declineOffer, ids[0]!)).toBe('waiting');
  expect(await states()).toEqual([
    [3, null],
    [7, 'offer'],
  ]);
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  expect(await states()).toEqual([
    [7, 'offer'],
    [3, null],
  ]);
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  expect(await states()).toEqual([
    [4, null],
    [7, 'offer'],
  ]);
  expect(await answer(me, declineOffer, ids[0]!)).toBeUndefined();
  expect(await answer(me, acceptOffer, ids[1]!)).toBe('confirmed');
  expect(await states()).toEqual([
    [4, null],
    [1, null],
  ]);
});

test('the end of a second offer is told once, also by a status of who has left', async () => {
  const { me, dateId, ids } = await offeredSeat(1);
  await lapsedBefore(me);
  await endOffers(me);
  expect((await me.put(`/v2/participants/${ids[0]}`, { idStatus: 8 })).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 8]);
  const mails = `select purpose from outbox where provider_id = $1 and participant_id = $2 and purpose <> 'offer'`;
  expect((await pool.query(mails, [me.id, ids[0]])).rows).toEqual([{ purpose: 'deregistration' }]);
});

test('the feed has every offer and what became of it', async () => {
  const { me, ids, cursor } = await offeredSeat(2);
  await answer(me, declineOffer, ids[0]!);
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  await answer(me, acceptOffer, ids[0]!);
  expect(await offerEvents(me, cursor)).toEqual(
    ['made', 'declined', 'made', 'lapsed', 'made', 'accepted'].map((name) => `offer.${name}`),
  );
});

/** So many participants without others, whose second offers are over. */
async function endedOffers(count: number) {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me, { ...offering, capacityWait: count });
  const { booking_id } = await bookOrFail(me, dateId);
  const { participants: offered } = await bookOrFail(me, dateId, { participants: persons(count), ...wait });
  const url = `/v2/courses/${courseId}/coursedates/${dateId}`;
  await me.put(url, { capacity_max: count + 1 });
  await lapsedBefore(me);
  await endOffers(me);
  return { me, dateId, url, bookingId: booking_id, lastId: offered.at(-1)!.id };
}

describe('an offer whose time is over', () => {
  test('is one of 25 at most that end in a write; the rest hold their seats until the next', async () => {
    const { me, dateId, lastId } = await endedOffers(60);
    const countHeld = async () => (await statusesOnDate(me, dateId)).filter((status) => status === 7).length;
    expect(errorCodes(await book(me, dateId, { participants: persons(26) }))).toContain('no_seats_available');
    expect(await countHeld()).toBe(60);
    expect(participantStatuses(await bookOrFail(me, dateId, { participants: persons(25) }))).toEqual(Array(25).fill(1));
    expect(await countHeld()).toBe(35);
    expect(await answer(me, acceptOffer, lastId)).toBeUndefined();
    expect([await countHeld(), (await me.get(`/v2/participants/${lastId}`)).json<Item>()['status'].id]).toEqual([
      10, 4,
    ]);
    const ended = [await endDueHoldsOfSchool(database, me.id), await endDueHoldsOfSchool(database, me.id)];
    expect([ended, await countHeld()]).toEqual([[true, false], 0]);
    expect(participantStatuses(await bookOrFail(me, dateId, { participants: persons(35) }))).toEqual(Array(35).fill(1));
  });

  test('prevents no deletion, of more than one write, too', async () => {
    const { me, dateId, url, bookingId } = await endedOffers(60);
    expect((await me.request('DELETE')(url)).json()).toEqual({ error: 'Participants hold seats on this course date' });
    expect((await statusesOnDate(me, dateId)).filter((status) => status === 4)).toEqual([]);
    await deregister(me, bookingId);
    expect((await me.request('DELETE')(url)).status).toBe(200);
    expect(await statusesOnDate(me, dateId)).toEqual(Array(61).fill(4));
  });

  test('refuses no booking once its person was asked again', async () => {
    const { me, dateId, ids, cursor } = await offeredSeat(1);
    for (let times = 0; times < 2; times += 1) {
      expect(errorCodes(await book(me, dateId))).toEqual(['no_seats_available']);
      await endOffers(me);
      if (times === 0) await endDueHoldsOfSchool(database, me.id);
    }
    expect(participantStatuses(await bookOrFail(me, dateId))).toEqual([1]);
    expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 1]);
    const events = ['offer.made', 'offer.lapsed', 'offer.made', 'offer.lapsed'];
    expect(await offerEvents(me, cursor)).toEqual(events);
    const mails = `select participant_id::int as id from outbox where provider_id = $1 and purpose = 'offer'`;
    expect((await pool.query(mails, [me.id])).rows).toEqual([{ id: ids[0] }, { id: ids[0] }]);
  });

  test('is made again to nobody who has declined, nor on a date that no longer makes offers', async () => {
    const { me, dateId, ids } = await offeredSeat(1);
    await answer(me, declineOffer, ids[0]!);
    expect(await statusesOnDate(me, dateId)).toEqual([4, 3]);
    const other = await offeredSeat(1);
    await other.me.put(`/v2/courses/${other.courseId}/coursedates/${other.dateId}`, { waiting_mode: 'promote' });
    await endOffers(other.me);
    await endDueHoldsOfSchool(database, other.me.id);
    expect(await statusesOnDate(other.me, other.dateId)).toEqual([4, 3]);
  });

  test('cannot be accepted, and refuses no change of a status', async () => {
    const { me, dateId, ids } = await offeredSeat(2);
    await endOffers(me);
    expect(await answer(me, acceptOffer, ids[0]!)).toBeUndefined();
    expect(await statusesOnDate(me, dateId)).toEqual([4, 3, 7]);
    await endOffers(me);
    // The other one has lapsed now, too, so that this one got the next offer.
    expect((await me.put(`/v2/participants/${ids[0]}`, { idStatus: 1 })).json<Item>()['status'].id).toBe(1);
  });

  test('ends before another status is decided', async () => {
    const { me, dateId, ids } = await offeredSeat(3);
    await endOffers(me);
    await me.put(`/v2/participants/${ids[2]}`, { idStatus: 4 });
    expect(await statusesOnDate(me, dateId)).toEqual([4, 3, 7, 4]);
  });

  test('refuses no deletion of the date, or of the course', async () => {
    for (const url of [(one: Staged) => `/v2/courses/${one.courseId}/coursedates/${one.dateId}`, courseUrl]) {
      const staged = await offeredSeat(1);
      const remove = () => staged.me.request('DELETE')(url(staged));
      expect((await remove()).status).toBe(400);
      // The second time the participant is deregistered, so that nobody waits for the course.
      if (url === courseUrl) await lapsedBefore(staged.me);
      await endOffers(staged.me);
      expect((await remove()).status).toBe(200);
      expect(await statusesOnDate(staged.me, staged.dateId)).toEqual([4, 4]);
    }
  });
});

test('an open offer keeps its place on the waiting list', async () => {
  const { me, dateId, ids } = await offeredSeat(2, { capacityWait: 2 });
  expect(errorCodes(await book(me, dateId, wait))).toEqual(['no_seats_available']);
  await answer(me, acceptOffer, ids[0]!);
  expect(participantStatuses(await bookOrFail(me, dateId, wait))).toEqual([3]);
});

test('an offer accepted on an overbook place has status 2', async () => {
  const { me, dateId, ids } = await offeredSeat(3, { capacityMax: 2, capacityOverbook: 1, capacityWait: 3 });
  // The first who came has been overbooked, and got a seat.
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 1, 7, 7]);
  expect(await answer(me, acceptOffer, ids[2]!)).toBe('confirmed');
  expect(await answer(me, acceptOffer, ids[1]!)).toBe('overbooked');
});

test('an offer of a canceled date cannot be accepted by a status, and one that ran out ends before a swap', async () => {
  const { me, courseId, dateId, ids } = await offeredSeat(1);
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { status_id: 3 });
  const accepted = await me.put(`/v2/participants/${ids[0]}`, { idStatus: 1 });
  expect([accepted.status, await statusesOnDate(me, dateId)]).toEqual([400, [4, 7]]);

  const other = await offeredSeat(2);
  await endOffers(other.me);
  await other.me.put(`/v2/participants/${other.ids[0]}`, { user: person() });
  expect(await statusesOnDate(other.me, other.dateId)).toEqual([4, 3, 7]);
});

test('an offer ends with the start of the date, and on a started date with its end', async () => {
  const inHours = async (hours: number) =>
    (
      await pool.query<{ day: string; time: string }>(
        `select to_char(t, 'YYYY-MM-DD') as day, to_char(t, 'HH24:MI:SS') as time
          from (select (clock_timestamp() + $1 * interval '1 hour') at time zone 'UTC' as t) t`,
        [hours],
      )
    ).rows[0]!;
  for (const [start, end, expected] of [
    [2, 30, 2],
    [-2, 3, 3],
  ] as const) {
    const [from, to] = [await inHours(start), await inHours(end)];
    const days = { startAt: from.day, endAt: to.day, deadlineAt: to.day, startTimeAt: from.time, endTimeAt: to.time };
    const { me, ids } = await offeredSeat(1, { ...days, timezone: 'UTC' });
    const { hold } = (await me.get(`/v2/participants/${ids[0]}?include=hold`)).json<Item>();
    expect(Math.round((Date.parse(hold.held_until) - Date.now()) / 3_600_000)).toBe(expected);
  }
});

test('an offer that would end after an earlier start is shortened, and mailed with its new end', async () => {
  const [soon, later] = [2, 10].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
  const day = (startAt: string) => ({
    startAt,
    endAt: startAt,
    deadlineAt: startAt,
    startTimeAt: '12:00',
    endTimeAt: '13:00',
  });
  const staged = await offeredSeat(2, { ...day(later!), timezone: 'UTC', offerHours: 168 });
  const { me, dateId, ids } = staged;
  const url = `${courseUrl(staged)}/coursedates/${dateId}`;
  const heldUntil = async () =>
    (await me.get(`/v2/participants/${ids[0]}?include=hold`)).json<Item>()['hold'].held_until as string;
  const offers = async () =>
    (
      await pool.query<{ id: number }>(
        `select participant_id::int as id from outbox where provider_id = $1 and purpose = 'offer' order by id`,
        [me.id],
      )
    ).rows.map(({ id }) => id);
  const before = await heldUntil();
  const put = (startAt: string) => me.put(url, { start_at: startAt, end_at: startAt, deadline_at: startAt });
  expect((await me.put(url, { title: 'Knots', end_time_at: '14:00' })).status).toBe(200);
  expect([await heldUntil(), await offers()]).toEqual([before, [ids[0]]]);
  // The mail that waits is sent with the new end.
  expect((await put(soon!)).status).toBe(200);
  expect([Date.parse(await heldUntil()), await offers()]).toEqual([Date.parse(`${soon}T12:00:00Z`), [ids[0]]]);
  await pool.query('update outbox set sent_at = now() where provider_id = $1', [me.id]);
  expect((await put(later!)).status).toBe(200);
  expect([Date.parse(await heldUntil()), await offers()]).toEqual([Date.parse(`${soon}T12:00:00Z`), [ids[0]]]);
  const cursor = await newestEvent(me);
  expect((await me.put(url, { timezone: 'Asia/Tokyo', start_at: soon, end_at: soon, deadline_at: soon })).status).toBe(
    200,
  );
  expect([Date.parse(await heldUntil()), await offers()]).toEqual([Date.parse(`${soon}T03:00:00Z`), [ids[0], ids[0]]]);
  expect(await eventsSince(me, cursor)).toContain('participant.updated');
});

test('participants who wait together are offered their seats together, and smaller groups pass', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { ...offering, capacityMax: 2, capacityWait: 9 });
  const seats = await bookOrFail(me, dateId, { participants: persons(2) });
  await bookOrFail(me, dateId, { participants: persons(2), waiting_together: 1, ...wait });
  await bookOrFail(me, dateId, { participants: [person()], ...wait });
  await me.put(`/v2/participants/${seats.participants[0]!.id}`, { idStatus: 4 });
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1, 3, 3, 7]);
  await me.put(`/v2/participants/${seats.participants[1]!.id}`, { idStatus: 4 });
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 3, 3, 7]);
  await endOffers(me);
  await endDueHoldsOfSchool(database, me.id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 7, 7, 3]);
});

test('a date that promotes gives its seats at once, and an open offer of before stays', async () => {
  const { me, courseId, dateId } = await offeredSeat(2);
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { waiting_mode: 'promote', capacity_max: 2 });
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7, 1]);
});
