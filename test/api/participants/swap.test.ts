import { expect, test } from 'vitest';
import {
  bookOrFail,
  createBookableDate,
  deregister,
  person,
  persons,
  seatCounters,
  statusesOnDate,
} from '../../support/booking.ts';
import { newestEvent } from '../../support/changes.ts';
import { addGathering } from '../../support/dates.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { createAttendance, createCustomer } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const read = async (me: Provider, id: number) => (await me.get(`/v2/participants/${id}`)).json<Item>();
const swap = (me: Provider, id: number, user: unknown, fields: Item = {}) =>
  me.put(`/v2/participants/${id}`, { user, ...fields });
const rowsOf = async (me: Provider, select: string) =>
  (await database.pool.query(`select ${select} where provider_id = $1 order by 1`, [me.id])).rows as Item[];
const changesSince = async (me: Provider, cursor: string) =>
  (await me.get(`/v2/changes?since=${cursor}`)).json<{ items: Item[] }>().items.map(({ type }) => type as string);

async function stage(date: Parameters<typeof createBookableDate>[1] = {}, fields: Item = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, date);
  const summary = await bookOrFail(me, dateId, fields);
  return { me, dateId, summary, id: summary.participants[0]!.id };
}

async function stageGroup(places: number, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, date);
  const body = { coursedate_id: dateId, payment_method: 'invoice', places };
  const { summary } = (await me.post('/v2/booking', body)).json<{ summary: Item }>();
  return { me, dateId, ids: summary['participants'].map(({ id }: Item) => id) as number[] };
}

test('fields that a known person does not take are named', async () => {
  const { me, dateId, id } = await stage();
  const known = person({ phone: '1', position: 'Leder' });
  await bookOrFail(me, dateId, { participants: [known] });
  const other = { ...known, phone: '2', company: 'Fjord AS', date_of_birth: '1990-05-17' };
  for (const [user, ignored] of [
    [known, undefined],
    [{ ...other, firstname: 'KARI' }, 'user.firstname, user.phone, user.company, user.date_of_birth'],
    [{ ...person(), phone: '3', company: 'Fjord AS' }, undefined],
  ] as const) {
    const response = await swap(me, id, user);
    expect([response.status, response.headers['x-ignored-parameters']], response.text).toEqual([200, ignored]);
  }
});

test('another person gets the place on a full date, with nothing of the former one', async () => {
  const custom = { comment: 'No nuts', custom_properties: { badge: 'A7' } };
  const booked = { participants: [person(custom)], company: 'Fjord AS', company_number: '912345678' };
  const { me, dateId, id, summary } = await stage({ capacityMax: 1 }, booked);
  const before = await read(me, id);
  const cursor = await newestEvent(me);
  const newcomer = person({ phone: '+47 1', position: 'Leder', date_of_birth: '1990-05-17' });
  const response = await swap(me, id, newcomer);
  expect([response.status, response.json()]).toEqual([
    200,
    {
      ...before,
      user: expect.objectContaining({ ...newcomer, company: 'Fjord AS', orgnr: '912345678', username: newcomer.email }),
      ...{ user_comment: null, custom_properties: null, updated_at: expect.any(String) },
    },
  ]);
  expect(response.json<Item>()['user'].id).not.toBe(before['user'].id);
  expect([await statusesOnDate(me, dateId), await seatCounters(me, dateId)]).toEqual([[1], [1, 0, 0, 0]]);
  const order = (await me.get(`/v2/orders/${summary.order_id}?user_data=1`)).json<Item>();
  expect([order['lines'][0].users[0].email, order['calculated_totals'].total_amount_incl_discounts_and_vat]).toEqual([
    newcomer.email,
    1000,
  ]);
  expect((await changesSince(me, cursor)).sort()).toEqual([
    ...['courseuser.created', 'order.updated', 'participant.swapped', 'participant.updated'],
  ]);
  const userId = response.json<Item>()['user'].id as number;
  expect(await rowsOf(me, 'user_id, purpose, participant_id from outbox')).toEqual([
    { purpose: 'swap', user_id: before['user'].id, participant_id: id },
    { purpose: 'swap', user_id: userId, participant_id: id },
  ]);
});

test('what a person has achieved does not pass to another one', async () => {
  const { me, id } = await stage();
  const achieved = { completed: true, passed: true, no_show: true };
  expect((await me.put(`/v2/participants/${id}`, achieved)).json()).toMatchObject(achieved);
  const nothing = { completed: false, passed: false, no_show: false };
  expect((await swap(me, id, person())).json()).toMatchObject(nothing);
  expect(await rowsOf(me, 'completed_by_hand from participants')).toEqual([{ completed_by_hand: false }]);
  const read = (await swap(me, id, person(), { completed: true })).json<Item>();
  expect(read).toMatchObject({ ...nothing, completed: true });
  expect(await rowsOf(me, 'completed_by_hand from participants')).toEqual([{ completed_by_hand: true }]);
  expect((await swap(me, id, person(), { completed: true })).json()).toMatchObject({ ...nothing, completed: true });
});

test('what is sent with the person is kept', async () => {
  const { me, id } = await stage({}, { participants: [person({ custom_properties: { a: '1' } })] });
  const kept = { user_comment: 'Vegan', custom_properties: { b: '2' }, certificate_issued_at: '2030-01-02' };
  expect((await swap(me, id, person(), kept)).json()).toMatchObject(kept);
});

test('a known person is found by e-mail and names, and stays as it is; the customer of the order employs a new one', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const customer_id = await createCustomer(me);
  const known = person({ phone: '1' });
  const { participants } = await bookOrFail(me, dateId, { participants: [person(), known], customer_id });
  const [id, other] = participants.map((one) => one.id) as [number, number];
  const swapped = (await swap(me, id, { ...known, email: known.email.toUpperCase(), phone: '2' })).json<Item>();
  expect(swapped['user']).toEqual((await read(me, other))['user']);
  expect((await swap(me, id, person())).json<Item>()['user'].customer.id).toBe(customer_id);
});

test('the same person again changes nothing', async () => {
  const booked = person({ comment: 'No nuts' });
  const { me, id } = await stage({}, { participants: [booked] });
  const before = await read(me, id);
  const cursor = await newestEvent(me);
  const { firstname, lastname, email } = booked as unknown as Item;
  for (const same of [{ firstname, lastname, email }, null, ''])
    expect((await swap(me, id, same)).json()).toEqual(before);
  expect([await changesSince(me, cursor), await rowsOf(me, 'purpose from outbox')]).toEqual([[], []]);
});

test('a user with its id and names is who has the place: another one is refused', async () => {
  const { me, id } = await stage();
  const before = await read(me, id);
  expect((await swap(me, id, before['user'])).json()).toEqual(before);
  const renamed = await swap(me, id, { ...before['user'], firstname: 'Other' });
  expect([renamed.status, renamed.json()]).toEqual([200, before]);
  expect(renamed.headers['x-ignored-parameters']).toContain('user.firstname');
  const response = await swap(me, id, { ...before['user'], id: 2 ** 40 });
  expect([response.status, response.json()]).toEqual([400, { error: 'Field(s) not valid: user' }]);
  expect((await me.put(`/v2/participants/${id}`, before)).json()).toEqual(before);
  expect(await rowsOf(me, 'completed_by_hand from participants')).toEqual([{ completed_by_hand: false }]);
  expect((await me.put(`/v2/participants/${id}`, { ...before, user: person() })).status).toBe(200);
  expect(await read(me, id)).toMatchObject({ user_comment: before['user_comment'] });
});

test.each(dialects)('a course user is named by its id or external_id: %s', async (dialect) => {
  const { me, id } = await stage();
  const known = await bookOrFail(me, (await createBookableDate(me)).dateId, { participants: persons(2) });
  const users = await Promise.all(known.participants.map(async (one) => (await read(me, one.id))['user'] as Item));
  const [first, second] = users as [Item, Item];
  await me.put(`/v2/course-users/${second['id']}`, { external_id: 'CRM 7' });
  const put = (user: Item) =>
    me.put(`/v2/participants/${id}`, encodeBody(dialect, { user }), contentTypeHeader(dialect));
  for (const [user, to] of [
    [{ id: first['id'] as number }, first],
    [{ external_id: 'CRM 7' }, second],
    [{ id: second['id'] as number }, second],
  ] as const) {
    const response = await put(user);
    expect([response.status, response.json<Item>()['user'].id]).toEqual([200, to['id']]);
  }
  const [stranger] = await Promise.all([createProvider()]);
  const other = await bookOrFail(stranger, (await createBookableDate(stranger)).dateId);
  const foreign = (await read(stranger, other.participants[0]!.id))['user'].id as number;
  await me.put(`/v2/course-users/${first['id']}`, { external_id: 'CRM 7' });
  const alone = 'Field(s) not valid: user. An id or external_id stands alone';
  for (const [user, error] of [
    [{ id: foreign }, 'Field(s) not valid: user'],
    [{ external_id: 'CRM 8' }, 'Field(s) not valid: user'],
    [{ external_id: 'CRM 7' }, 'Field(s) not valid: user'],
    [{ external_id: 'CRM 7', id: first['id'] as number }, 'Field(s) not valid: user'],
    [{ external_id: 'CRM 8', ...person() }, alone],
    [{ phone: '1' }, 'Missing field(s): user.firstname,user.lastname,user.email'],
  ] as const)
    expect([user, (await put(user)).json()]).toEqual([user, { error }]);
  await me.post(`/v2/course-users/${first['id']}/erase`, {});
  expect((await put({ id: first['id'] as number })).json()).toEqual({ error: 'Field(s) not valid: user' });
  expect((await read(me, id))['user'].id).toBe(second['id']);
});

test.each([
  ['a name that is missing', { firstname: 'A', email: 'a@x.example' }, 'Missing field(s): user.lastname'],
  ['an e-mail that is none', { firstname: 'A', lastname: 'B', email: 'x' }, 'Field(s) not valid: user.email'],
  ['a birth in the future', { ...person(), date_of_birth: '2999-01-01' }, 'Field(s) not valid: user.date_of_birth'],
  ['a text', 'Kari', 'Field(s) not valid: user'],
])('%s is refused', async (_, user, error) => {
  const { me, id } = await stage();
  const before = await read(me, id);
  const response = await swap(me, id, user);
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect(await read(me, id)).toEqual(before);
});

test('a swap is refused after attendance was registered', async () => {
  const { me, dateId, id } = await stage();
  const gathering = await addGathering(me, dateId);
  await createAttendance(me, id, gathering);
  expect((await swap(me, id, person())).status).toBe(200);
  await createAttendance(me, id, await addGathering(me, dateId), { attended: false });
  const accept = 'application/problem+json';
  const response = await me.put(`/v2/participants/${id}`, { user: person() }, { accept });
  expect([response.status, response.headers['x-error-code']]).toEqual([400, 'attendance_registered']);
  expect(response.json()).toMatchObject({ errors: [{ code: 'attendance_registered', participant_id: id }] });
});

test('a place of a group that is written back with a name is confirmed', async () => {
  const { me, ids } = await stageGroup(1);
  const place = { ...(await read(me, ids[0]!)), user: person() };
  expect((await me.put(`/v2/participants/${ids[0]!}`, place)).json()).toMatchObject({ status: { id: 1 } });
});

test('naming a place of a group confirms it and removes its placeholder, in every body format', async () => {
  const { me, ids, dateId } = await stageGroup(4, { capacityMax: 3, capacityOverbook: 1 });
  const cursor = await newestEvent(me);
  for (const [n, dialect] of dialects.entries()) {
    const body = encodeBody(dialect, { user: person() });
    const response = await me.put(`/v2/participants/${ids[n]}`, body, contentTypeHeader(dialect));
    expect([dialect, response.status, response.json<Item>()['status'].id]).toEqual([dialect, 200, 1]);
  }
  expect((await swap(me, ids[3]!, person())).json<Item>()['status'].id).toBe(2);
  expect(await rowsOf(me, 'is_placeholder from course_users')).toEqual(Array(4).fill({ is_placeholder: false }));
  expect(await rowsOf(me, 'held_for from participants')).toEqual(Array(4).fill({ held_for: null }));
  expect(await seatCounters(me, dateId)).toEqual([3, 1, 0, 0]);
  const changes = await changesSince(me, cursor);
  expect(changes.filter((type) => type.startsWith('courseuser'))).toEqual(Array(4).fill('courseuser.created'));
  expect(changes.filter((type) => type === 'participant.swapped')).toHaveLength(4);
});

test('a status change that names a place deregisters it and promotes the waiting list', async () => {
  const { me, ids, dateId } = await stageGroup(1, { capacityMax: 1, capacityWait: 1 });
  await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) });
  expect((await swap(me, ids[0]!, person(), { idStatus: 4 })).json<Item>()['status'].id).toBe(4);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1]);
});

test('a place that was given up without a name loses its placeholder when it is named', async () => {
  const { me, ids } = await stageGroup(1);
  const { idBooking } = await read(me, ids[0]!);
  await deregister(me, idBooking);
  expect((await swap(me, ids[0]!, person())).json<Item>()['status'].id).toBe(4);
  expect(await rowsOf(me, 'is_placeholder from course_users')).toEqual([{ is_placeholder: false }]);
});
