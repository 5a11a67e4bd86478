import { expect, test, vi } from 'vitest';
import { findByUsername } from '../../../src/domains/school/auth/sql.ts';
import { eraseExpired } from '../../../src/domains/records/erasures/service.ts';
import { book, bookOrFail, createBookableDate, getSummary } from '../../support/booking.ts';
import { addDate, addGathering } from '../../support/dates.ts';
import { sendQueued } from '../../support/locks.ts';
import { createUser, write } from '../../support/orders.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();
const { pool } = database;

const kari = { firstname: 'Kari', lastname: 'Øvrebø', email: 'kari@copies.example' };
const key = (text: string) => ({ 'idempotency-key': text });
const read = async <T = Record<string, any>>(me: Provider, path: string) => (await me.get(path)).json<T>();
type Kept = { resource: string; id: number; reason: string; until: string | null };
const erase = async (me: Provider, id: number, body: object = {}) =>
  (await me.post(`/v2/course-users/${id}/erase`, body)).json<Record<string, number> & { kept: Kept[] }>();

/** A person with a place on a past date, and another one with a place too. */
async function createBooked() {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const bookFor = async (person: object) => {
    const { order_id, participants } = await bookOrFail(me, dateId, { participants: [person] });
    const place = participants[0]!.id;
    const { user } = await read<{ user: { id: number } }>(me, `/v2/participants/${place}`);
    return { orderId: Number(order_id), place, id: user.id };
  };
  return {
    me,
    courseId,
    dateId,
    ...(await bookFor(kari)),
    other: await bookFor({ ...kari, firstname: 'Ola', email: 'ola@copies.example' }),
  };
}

const pay = async (me: Provider, orderId: number, reference: string, idempotencyKey: string) =>
  me.post(`/v2/orders/${orderId}/payments`, { amount: 10, reference }, key(idempotencyKey));
const referencesOf = async (me: Provider) =>
  (await pool.query('select reference from payments where provider_id = $1 order by id', [me.id])).rows.map(
    ({ reference }: { reference: string | null }) => reference,
  );

test('nonces of attendance go; a mark with one of before is a new one', async () => {
  const { me, dateId, place, other, id } = await createBooked();
  const gathering_id = await addGathering(me, dateId);
  const mark = (participant_id: number) => ({ participant_id, gathering_id, attended: true, nonce: 'Kari Øvrebø' });
  await write(me, (tx) =>
    tx.execute(
      `update gatherings set gathering_at = '2026-01-01', gathering_end_at = '2026-01-01 01:00' where id = ${gathering_id}`,
    ),
  );
  const marks = { marks: [mark(place), mark(other.place)] };
  const stored = await me.put(`/v2/coursedates/${dateId}/attendance`, marks);
  expect(stored.json<object>()).toMatchObject({ results: [{ result: 'stored' }, { result: 'stored' }] });
  await erase(me, id);
  const { rows } = await pool.query(`select nonce from attendance_marks where provider_id = $1 order by id`, [me.id]);
  expect(rows).toEqual([{ nonce: expect.stringMatching(/^erased-\d+$/) as string }, { nonce: 'Kari Øvrebø' }]);
  expect(await erase(me, id)).toMatchObject({ participants: 0 });
  const again = await me.put(`/v2/coursedates/${dateId}/attendance`, marks);
  expect(again.json<object>()).toMatchObject({ results: [{ result: 'stored' }, { result: 'repeated' }] });
});

test('the reference of a payment goes with the buyer of its order; one of another order stays, named in `kept`', async () => {
  const { me, orderId, other, id } = await createBooked();
  for (const order of [orderId, other.orderId]) await pay(me, order, 'Vipps Kari Øvrebø', `pay ${order}`);
  await pay(me, other.orderId, 'Vipps Kari Øvrebøe', 'of another name');
  const [{ updated_at }] = await read<[{ updated_at: string }]>(me, '/v2/payments');
  const { rows } = await pool.query<{ id: number }>('select id from payments where order_id = $1 order by id limit 1', [
    other.orderId,
  ]);
  const kept = [{ resource: 'payment', id: rows[0]!.id, reason: 'other_buyer', until: null }];
  expect((await erase(me, id, { dry_run: true })).kept).toEqual(kept);
  expect((await erase(me, id)).kept).toEqual(kept);
  expect(await referencesOf(me)).toEqual([null, 'Vipps Kari Øvrebø', 'Vipps Kari Øvrebøe']);
  expect((await read<[{ updated_at: string }]>(me, '/v2/payments'))[0].updated_at >= updated_at).toBe(true);
});

test('a repeated request whose response is erased is refused, and nothing is carried out again', async () => {
  const { me, courseId, orderId, place, id } = await createBooked();
  const to = await addDate(me, courseId);
  const requests = [
    () => me.post(`/v2/participants/${place}/move`, { coursedate_id: to }, key('move')),
    () => pay(me, orderId, 'Cash', 'pay'),
    () => me.post('/v2/course-users', { ...kari, firstname: 'Other' }, key('user')),
  ];
  for (const send of requests) expect([200, 201]).toContain((await send()).status);
  await erase(me, (await requests[2]!()).json<{ id: number }>().id);
  await erase(me, id);
  const count = async () => (await pool.query('select from events where provider_id = $1', [me.id])).rowCount;
  const before = await count();
  const error = 'The request was carried out, and its response was erased with a person';
  for (const send of requests) {
    const again = await send();
    expect([again.status, again.json(), again.headers['x-error-code']]).toMatchObject([
      400,
      { error },
      'response_erased',
    ]);
  }
  expect(await count()).toBe(before);
});

test('a response that is stored while an erasure waits for the lock is erased', async () => {
  const { me, orderId, id } = await createBooked();
  const send = () => pay(me, orderId, 'Cash', 'pay');
  const sent = await sendQueued(database, me, [send, () => me.post(`/v2/course-users/${id}/erase`, {})]);
  expect(sent.map(({ status }) => status)).toEqual([201, 200]);
  expect((await send()).headers['x-error-code']).toBe('response_erased');
});

test('a response with an e-mail that the person gets while an erasure waits for the lock is erased', async () => {
  const { me, id } = await createBooked();
  const email = 'new@copies.example';
  const create = () => me.post('/v2/instructors', { firstname: 'Ola', lastname: 'Li', email }, key('instructor'));
  expect((await create()).status).toBe(201);
  const writes = [() => me.put(`/v2/course-users/${id}`, { email }), () => me.post(`/v2/course-users/${id}/erase`, {})];
  const sent = await sendQueued(database, me, writes);
  expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  expect((await create()).headers['x-error-code']).toBe('response_erased');
});

test.each([
  { firstname: 'KARI', lastname: 'Øvrebø' },
  { firstname: 'Other', lastname: 'Kari Øvrebø' },
])('a response about no course user that has the names of the person is erased: %j', async (names) => {
  const { me, id } = await createBooked();
  const create = (lastname: string) =>
    me.post('/v2/instructors', { ...names, lastname, email: 'other@copies.example' }, key(lastname));
  const stays = `${names.lastname}s`;
  for (const lastname of [names.lastname, stays]) expect((await create(lastname)).status).toBe(201);
  await erase(me, id);
  expect((await create(names.lastname)).headers['x-error-code']).toBe('response_erased');
  expect((await create(stays)).headers['idempotent-replayed']).toBe('true');
});

test('the reference of a payment of an invoiced order is named in `kept`, and goes with the buyer', async () => {
  const { me, orderId, id } = await createBooked();
  const payment = (await pay(me, orderId, 'Vipps Kari Øvrebø', 'pay')).json<{ id: number }>().id;
  await write(me, (tx) => tx.execute(`update orders set exported_at = '2026-03-01' where id = ${orderId}`));
  const until = '2032-01-01';
  const kept = [
    { resource: 'order', id: orderId, reason: 'invoice', until },
    { resource: 'payment', id: payment, reason: 'invoice', until },
  ];
  const dry = await erase(me, id, { dry_run: true });
  expect([dry.kept, dry['kept_total']]).toEqual([kept, 2]);
  expect([(await erase(me, id)).kept, (await erase(me, id)).kept]).toEqual([kept, kept]);
  expect(await referencesOf(me)).toEqual(['Vipps Kari Øvrebø']);
  await pay(me, orderId, 'Vipps Kari Øvrebø again', 'later');
  await write(me, (tx, now) => tx.execute(`update orders set kept_until = '${now}' where id = ${orderId}`));
  await eraseExpired(database);
  expect(await referencesOf(me)).toEqual([null, null]);
  expect((await read<{ booker: null }>(me, `/v2/orders/${orderId}`)).booker).toBeNull();
  const { rows } = await pool.query(
    `select from idempotency_records where provider_id = $1 and answer::text like '%Øvrebø%'`,
    [me.id],
  );
  expect(rows).toEqual([]);
});

test.each([
  ['2099-01-01', null],
  [null, 'response_erased'],
])(
  'buyers that are kept no longer are searched before the lock, and what is written until then counts',
  async (...one) => {
    const [later, erased] = one;
    const { me, orderId, other } = await createBooked();
    const keep = (id: number, until: string | null) =>
      write(me, (tx, now) => tx.execute(`update orders set kept_until = '${until ?? now}' where id = ${id}`));
    await pay(me, orderId, 'Vipps before', 'before');
    await pay(me, other.orderId, 'Vipps other', 'other');
    for (const id of [orderId, other.orderId]) await keep(id, null);
    const spy = vi.spyOn(pool, 'query');
    let searched: unknown[] = [];
    const writeAfter = (...args: Parameters<typeof database.write>) => {
      searched = spy.mock.calls.map(([statement]) => (statement as unknown as { name?: string }).name);
      return database.write(...args);
    };
    await sendQueued<unknown>(database, me, [
      () => pay(me, orderId, 'Vipps meanwhile', 'meanwhile'),
      () => keep(other.orderId, later),
      () => eraseExpired({ ...database, pool, write: writeAfter as typeof database.write }),
    ]);
    spy.mockRestore();
    expect(searched).toEqual(expect.arrayContaining(['find_kept_no_longer', 'find_answers_about_erased']));
    expect(await referencesOf(me)).toEqual([null, later === null ? null : 'Vipps other', null]);
    const repeat = async (id: number, name: string) =>
      (await pay(me, id, `Vipps ${name}`, name)).headers['x-error-code'];
    expect(await repeat(orderId, 'before')).toBe('response_erased');
    expect(await repeat(orderId, 'meanwhile')).toBe('response_erased');
    expect((await repeat(other.orderId, 'other')) ?? null).toBe(erased);
  },
);

test('a stored answer stays that has the name of the person within other words', async () => {
  const { me, other } = await createBooked();
  const person = { firstname: 'Ol', lastname: 'A', email: 'ol@copies.example' };
  const { id } = (await me.post('/v2/course-users', person)).json<{ id: number }>();
  const first = await pay(me, other.orderId, 'Vipps Karol Aas', 'Karol pays');
  await erase(me, id);
  const again = await pay(me, other.orderId, 'Vipps Karol Aas', 'Karol pays');
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
});

test('a stored answer about the person goes; another person’s request has its first answer again', async () => {
  const { me, courseId, orderId, place, other, id } = await createBooked();
  const to = await addDate(me, courseId);
  const move = (participant: number) =>
    me.post(`/v2/participants/${participant}/move`, { coursedate_id: to }, key(`move ${participant}`));
  for (const one of [place, other.place]) expect((await move(one)).status).toBe(200);
  const first = await Promise.all([orderId, other.orderId].map((order) => pay(me, order, `Paid ${order}`, `${order}`)));
  expect(first.map(({ status }) => status)).toEqual([201, 201]);
  await erase(me, id);
  const stored = await pool.query<{ answer: string }>(
    'select answer::text as answer from idempotency_records where provider_id = $1',
    [me.id],
  );
  expect(stored.rows.map(({ answer }) => answer).filter((text) => /Kari|kari@|Paid/.test(text))).toEqual([
    expect.stringContaining('Ola'),
    expect.stringContaining(`Paid ${other.orderId}`),
  ]);
  expect((await move(place)).text).not.toMatch(/Kari|kari@/);
  const again = await pay(me, other.orderId, `Paid ${other.orderId}`, `${other.orderId}`);
  expect([again.text, again.headers['idempotent-replayed']]).toEqual([first[1]!.text, 'true']);
  expect(await referencesOf(me)).toEqual([null, `Paid ${other.orderId}`]);
});

test('a booking is not repeated after an erasure: its answer has no personal values', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const bookKari = () => book(me, dateId, { participants: [kari] }, key('book'));
  const first = getSummary(await bookKari());
  const { user } = await read<{ user: { id: number } }>(me, `/v2/participants/${first.participants[0]!.id}`);
  await erase(me, user.id);
  expect(getSummary(await bookKari())).toEqual(first);
});

test('an erased person reads no username, and is not found by one', async () => {
  const me = await createProvider();
  const id = await createUser(me, { ...kari, username: 'kari' });
  const placed = await createUser(me, { username: 'erased-by-name', email: 'x@copies.example' });
  await erase(me, id);
  const { rows } = await pool.query<{ username: string }>('select username from course_users where id = $1', [id]);
  const { username } = rows[0]!;
  expect(username).toMatch(/^erased-/);
  expect(await read(me, `/v2/course-users/${id}`)).toMatchObject({ id, username: null, firstname: null });
  const exported = await read<{ course_user: object }>(me, `/v2/course-users/${id}/export`);
  expect(exported.course_user).toMatchObject({ username: null });
  expect((await me.get('/v2/course-users?format=csv')).text).not.toContain(username);

  const find = async (query: string) => (await read<{ id: number }[]>(me, query)).map((one) => one.id);
  for (const path of ['/v2/search-users?username=', '/v2/course-users?username=']) {
    expect(await find(`${path}${username}`)).toEqual([]);
    expect(await find(`${path}erased`)).toEqual([placed]);
  }
  for (const word of [username, 'erased', 'kari', kari.email])
    expect(await find(`/v2/course-users?q=${word}`)).toEqual([]);
  expect(await find('/v2/course-users')).toEqual([id, placed]);
  expect(await findByUsername(database.unlocked, { providerId: me.id }, username)).toEqual([]);
});
