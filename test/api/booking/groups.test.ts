import { expect, test } from 'vitest';
import {
  bookOrFail,
  createBookableDate,
  deregister,
  errorCodes,
  participantStatuses,
  person,
  persons,
  seatCounters,
  statusesOnDate,
} from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const read = async <T = Item>(me: Provider, path: string) => (await me.get(path)).json<T>();
const payer = { booker_name: 'Ola Payer', booker_email: 'ola@payer.example' };
const reserve = (me: Provider, coursedate_id: number, fields: Item) =>
  me.post('/v2/booking', { coursedate_id, payment_method: 'invoice', ...payer, ...fields });
const reserveOrFail = async (me: Provider, dateId: number, fields: Item) => {
  const response = await reserve(me, dateId, fields);
  expect(response.status, response.text).toBe(201);
  return response.json<{ summary: Item }>().summary;
};
const placeholders = async (me: Provider) =>
  (await database.pool.query('select id from course_users where provider_id = $1 and is_placeholder', [me.id])).rows;

test('places hold seats, then overbook places, and are paid for', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityOverbook: 1 });
  const summary = await reserveOrFail(me, dateId, { places: 3 });
  expect(summary).toMatchObject({ number_of_participants: 3, total_excl_vat: 3000 });
  expect(summary['participants'].map(({ status_id }: Item) => status_id)).toEqual([7, 7, 2]);
  expect(await seatCounters(me, dateId)).toEqual([0, 1, 2, 0]);
});

test('a group never waits, and is refused as a whole', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 2, capacityWait: 5 });
  const response = await reserve(me, dateId, { places: 3, config: { waiting_list_when_full: true } });
  expect([response.status, errorCodes(response)]).toEqual([400, ['no_seats_available']]);
  expect([await statusesOnDate(me, dateId), await placeholders(me)]).toEqual([[], []]);
});

test('an overbooked place of a group moves up to a seat, and stays without a name', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityOverbook: 1 });
  const first = await bookOrFail(me, dateId);
  const { participants } = await reserveOrFail(me, dateId, { places: 1 });
  await deregister(me, first.booking_id);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7]);
  const [{ held_for }] = (
    await database.pool.query('select held_for from participants where provider_id = $1 and id = $2', [
      me.id,
      participants[0].id,
    ])
  ).rows;
  expect(held_for).toBe('name');
});

test.each([
  ['neither places nor participants', {}],
  ['both', { places: 2, participants: [person()] }],
  ['no place', { places: 0 }],
  ['more than 200', { places: 201 }],
  ['a text', { places: 'two' }],
])('%s are refused', async (_, fields) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const response = await reserve(me, dateId, fields);
  expect([response.status, errorCodes(response)]).toEqual([400, ['participant_count_invalid']]);
});

test('200 places are reserved at once, in every body format', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 0 });
  expect((await reserveOrFail(me, dateId, { places: 200 }))['participants']).toHaveLength(200);
  for (const dialect of dialects) {
    const body = encodeBody(dialect, { coursedate_id: dateId, payment_method: 'invoice', places: 1 });
    expect((await me.post('/v2/booking', body, contentTypeHeader(dialect))).status).toBe(201);
  }
});

test('places without names are in no list of persons, search, merge, erasure or export', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { participants } = await bookOrFail(me, dateId);
  const known = (await read(me, `/v2/participants/${participants[0]!.id}`))['user'].id as number;
  const cursor = await newestEvent(me);
  await reserveOrFail(me, dateId, { places: 2 });
  const [{ id }] = (await placeholders(me)) as [{ id: number }];
  const { rows } = await database.pool.query('select username from course_users where provider_id = $1 and id = $2', [
    me.id,
    id,
  ]);
  const { username } = rows[0] as { username: string };

  const listed = (await read<Item[]>(me, '/v2/course-users')).map((user) => user['id'] as number);
  expect(listed).toEqual([known]);
  expect(await read(me, `/v2/search-users?username=${username}`)).toEqual([]);
  const refused = [
    await me.get(`/v2/course-users/${id}`),
    await me.put(`/v2/course-users/${id}`, { firstname: 'X' }),
    await me.get(`/v2/course-users/${id}/export`),
    await me.post(`/v2/course-users/${id}/erase`),
    await me.post(`/v2/course-users/${id}/merge`, { into: known }),
    await me.post(`/v2/course-users/${known}/merge`, { into: id }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 400]);
  const events = new Set(await eventsSince(me, cursor));
  expect([...events].sort()).toEqual([
    'booking.created',
    'coursedate.seats_changed',
    'order.created',
    'participant.created',
  ]);
});

test('names of places read null, in participants and in orders', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { participants, order_id } = await reserveOrFail(me, dateId, { places: 1 });
  const nobody = { firstname: null, lastname: null, email: null };
  const participant = await read(me, `/v2/participants/${participants[0].id}`);
  expect(participant['user']).toMatchObject({ ...nobody, username: null });
  const order = await read(me, `/v2/orders/${order_id}?user_data=1`);
  expect([order['first_user'], order['lines'][0].users[0]]).toMatchObject([nobody, nobody]);
  expect(order['booker']).toBe('Ola Payer');
});

test('a place without a name is given up without a mail, and cannot be confirmed', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const summary = await reserveOrFail(me, dateId, { places: 2, config: { send_receipt_email_to_participant: true } });
  const [first] = summary['participants'];
  expect((await me.put(`/v2/participants/${first.id}`, { idStatus: 1 })).status).toBe(400);
  expect((await me.put(`/v2/participants/${first.id}`, { idStatus: 4 })).status).toBe(200);
  const config = { send_receipt_email_to_participant: true };
  expect((await deregister(me, summary['booking_id'], { config })).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4]);
  expect((await database.pool.query('select from outbox where provider_id = $1', [me.id])).rowCount).toBe(0);
});

test('a booking of persons beside a group is as before', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 3 });
  await reserveOrFail(me, dateId, { places: 2 });
  expect(participantStatuses(await bookOrFail(me, dateId, { participants: persons(1) }))).toEqual([1]);
});
