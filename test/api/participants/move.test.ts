import { expect, test } from 'vitest';
import {
  bookOrFail,
  createBookableDate,
  deregister,
  endOffers,
  person,
  persons,
  seatCounters,
  statusesOnDate,
} from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { addGathering, changeDate } from '../../support/dates.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { createAttendance, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider, type TestResponse } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
type Dates = Parameters<typeof createBookableDate>[1];
const read = async (me: Provider, id: number) => (await me.get(`/v2/participants/${id}`)).json<Item>();
const move = (me: Provider, id: number, coursedate_id: unknown, fields: Item = {}) =>
  me.post(`/v2/participants/${id}/move`, { coursedate_id, ...fields });
const outboxOf = async (me: Provider) =>
  (
    await database.pool.query(
      'select purpose, participant_id as id, course_date_id as of from outbox where provider_id = $1 order by outbox.id',
      [me.id],
    )
  ).rows;

const codeOf = ({ status, headers }: TestResponse) => [status, headers['x-error-code']];

/** A participant on one date, and another date of another course. */
async function stage(from: Dates = {}, to: Dates = {}, fields: Item = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, from);
  const target = await createBookableDate(me, { course: { price_value: 500 }, ...to });
  const summary = await bookOrFail(me, dateId, fields);
  return { me, dateId, target: target.dateId, targetCourse: target.courseId, summary, id: summary.participants[0]!.id };
}

test('a participant moves to a date of another course, keeps its id and price, and the next one gets the place', async () => {
  const { me, dateId, target, targetCourse, summary, id } = await stage({ capacityMax: 1, capacityWait: 1 });
  await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) });
  const before = await read(me, id);
  const cursor = await newestEvent(me);
  const response = await move(me, id, target);
  const { course, coursedate, status, ...others } = response.json<Item>();
  expect([response.status, course.id, coursedate.id, status.id]).toEqual([200, targetCourse, target, 1]);
  expect(others).toMatchObject({ id, user: before['user'], idOrder: Number(summary.order_id), paid: before['paid'] });
  expect(await read(me, id)).toEqual(response.json());
  expect([await statusesOnDate(me, dateId), await seatCounters(me, target)]).toEqual([[1], [1, 0, 0, 0]]);
  const order = (await me.get(`/v2/orders/${summary.order_id}`)).json<Item>();
  expect(order['calculated_totals'].total_amount_incl_discounts_and_vat).toBe(1000);
  expect(order['lines'][0].database_relations).toMatchObject([{ participant_id: id, coursedate_id: target }]);
  const { items } = (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: Item[] }>();
  const changes = items.map(({ type, resource_id }) => `${type} ${resource_id}`);
  expect(changes).toEqual(
    expect.arrayContaining([`participant.updated ${id}`, `participant.moved ${id}`, `order.updated ${order['id']}`]),
  );
  expect(await outboxOf(me)).toEqual([
    { purpose: 'move', id, of: null },
    { purpose: 'moved_away', id, of: dateId },
  ]);
});

test('works in every body format; a second call changes nothing', async () => {
  const { me, target, summary } = await stage({}, {}, { participants: persons(3) });
  for (const [n, dialect] of dialects.entries()) {
    const { id } = summary.participants[n]!;
    const body = encodeBody(dialect, { coursedate_id: target, price: 'keep' });
    const moved = await me.post(`/v2/participants/${id}/move`, body, contentTypeHeader(dialect));
    expect([dialect, moved.status]).toEqual([dialect, 200]);
    const again = await move(me, id, target);
    expect([again.status, again.json()]).toEqual([200, moved.json()]);
  }
  expect(await outboxOf(me)).toHaveLength(6);
});

test.each([
  [1, 1],
  [7, 7],
  [3, 1],
])('status %i takes a free seat as %i', async (before, after) => {
  const { me, dateId, target, id } = await stage(
    ...([{ capacityWait: 1 }, {}, { participants: persons(1, { status_id: before }) }] as const),
  );
  expect((await move(me, id, target)).json<Item>()['status'].id).toBe(after);
  // One who waited had no seat on the former date.
  const formerDate = (await outboxOf(me)).map(({ of }) => of as number | null);
  expect(formerDate).toEqual(before === 3 ? [null] : [null, dateId]);
});

test('an overbook place follows the seats; only one who waits may wait again', async () => {
  const full = { capacityMax: 1, capacityOverbook: 1, capacityWait: 1 };
  const { me, dateId, target, id } = await stage({ capacityWait: 1 }, full);
  const second = (await bookOrFail(me, dateId)).participants[0]!.id;
  await bookOrFail(me, target);
  expect((await move(me, id, target)).json<Item>()['status'].id).toBe(2);
  const refused = await move(me, second, target);
  expect(codeOf(refused)).toEqual([400, 'no_seats_available']);
  const [waiting] = (await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) })).participants;
  expect((await move(me, waiting!.id, target)).json<Item>()['status'].id).toBe(3);
  expect([await seatCounters(me, dateId), await seatCounters(me, target)]).toEqual([
    [1, 0, 0, 0],
    [1, 1, 0, 1],
  ]);
});

test('a place of a group moves without a name, with a mail to the booker', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const target = (await createBookableDate(me)).dateId;
  const body = { coursedate_id: dateId, payment_method: 'invoice', places: 1, booker_email: 'g@people.example' };
  const { participants } = (await me.post('/v2/booking', body)).json<{ summary: Item }>().summary;
  const { id } = participants[0];
  expect((await move(me, id, target)).json<Item>()['status'].id).toBe(7);
  expect(await outboxOf(me)).toEqual([{ purpose: 'move', id, of: null }]);
  expect((await me.put(`/v2/participants/${id}`, { user: person() })).json<Item>()['status'].id).toBe(1);
});

test('offers that ran out on both dates end before a move decides', async () => {
  const me = await createProvider();
  const offering = { capacityMax: 1, capacityWait: 2, waitingMode: 'offer' as const };
  const stageOffer = async () => {
    const { dateId } = await createBookableDate(me, offering);
    const { booking_id } = await bookOrFail(me, dateId);
    const { participants } = await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) });
    await deregister(me, booking_id);
    return { dateId, id: participants[0]!.id };
  };
  const [from, to] = [await stageOffer(), await stageOffer()];
  await write(me, (tx) => tx.execute(`update participants set lapsed_offers = 1 where id = ${to.id}`));
  await endOffers(me);
  const cursor = await newestEvent(me);
  expect((await move(me, from.id, to.dateId)).json<Item>()['status'].id).toBe(1);
  expect(await statusesOnDate(me, to.dateId)).toEqual([1, 4, 4]);
  const ended = (await eventsSince(me, cursor)).filter((type) => type.startsWith('offer.'));
  expect(ended).toEqual(['offer.lapsed', 'offer.made', 'offer.lapsed']);
});

test.each([
  ['an unknown date', undefined, 'course_date_identifier_invalid'],
  ['a canceled date', { statusId: 3 }, 'course_date_cancelled'],
  ['a date after its deadline', { deadlineAt: '2020-01-01' }, 'deadline_passed'],
  ['a full date', { capacityMax: 1, capacityWait: 1 }, 'no_seats_available'],
])('%s is refused as in a booking', async (_, date, code) => {
  const { me, dateId, target, id } = await stage({}, {});
  if (date && 'capacityMax' in date) await bookOrFail(me, target);
  if (date) await changeDate(me, target, date);
  const response = await move(me, id, date ? target : 999_999_999);
  expect(codeOf(response)).toEqual([400, code]);
  expect([(await read(me, id))['coursedate'].id, await outboxOf(me)]).toEqual([dateId, []]);
});

test('one who has left, and one with attendance, is refused; attendance that is not registered stays behind', async () => {
  const { me, dateId, target, id, summary } = await stage();
  const gathering = await addGathering(me, dateId);
  await createAttendance(me, id, gathering);
  expect((await move(me, id, target)).status).toBe(200);
  expect((await me.get(`/v2/participants/${id}?include=attendance`)).json<Item>()['attendance']).toEqual([]);
  await createAttendance(me, id, await addGathering(me, target), { attended: true });
  const refused = await me.post(
    `/v2/participants/${id}/move`,
    { coursedate_id: dateId },
    { accept: 'application/problem+json' },
  );
  expect(codeOf(refused)).toEqual([400, 'attendance_registered']);
  expect(refused.json<Item>()['errors']).toMatchObject([{ code: 'attendance_registered', participant_id: id }]);
  await deregister(me, summary.booking_id);
  expect(codeOf(await move(me, id, dateId))).toEqual([400, 'participant_left']);
});

test.each(dialects)('a move as %s fails in the format of the main interface', async (dialect) => {
  const { me, target, id } = await stage({}, { capacityMax: 1 });
  await bookOrFail(me, target);
  const error = 'Participant 1: no seat is available';
  const send = (one: number | string, body: Item, headers: Record<string, string> = {}) =>
    me.post(`/v2/participants/${one}/move`, encodeBody(dialect, body), { ...contentTypeHeader(dialect), ...headers });
  expect((await send(id, { coursedate_id: target })).json()).toEqual({ error });
  expect((await send(id, { price: 'half' })).json()).toEqual({
    error: 'Missing field(s): coursedate_id. Field(s) not valid: price',
  });
  expect((await send('x', {})).json()).toEqual({ error: 'There is nothing at this path' });
  expect((await me.get(`/v2/participants/${id}/move`)).json()).toEqual({ error: 'This path takes POST' });
  const detailed = await send(id, { coursedate_id: target }, { accept: 'application/problem+json' });
  expect(detailed.json()).toMatchObject({
    ...{ title: error, code: 'no_seats_available' },
    errors: [{ code: 'no_seats_available', message: error, participant_id: id }],
  });
});
