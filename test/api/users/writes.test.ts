import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { createCustomer, createUser } from '../../support/orders.ts';
import { openTestAppForFile, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await openTestAppForFile();

type User = Record<string, any> & { id: number };
const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@fjord.example' };
const url = '/v2/course-users';

async function create(me: Provider, fields: object = {}) {
  const response = await me.post(url, { ...kari, ...fields });
  expect(response.status, response.text).toBe(201);
  return response.json<User>();
}
const read = async (me: Provider, id: number) => (await me.get(`${url}/${id}`)).json<User>();
const change = async (me: Provider, id: number, fields: object) => {
  const response = await me.put(`${url}/${id}`, fields);
  return [response.status, response.json<{ error?: string }>().error];
};

test('creates a course user as it is read', async () => {
  const me = await createProvider();
  const customer_id = await createCustomer(me, { title: 'Fjord AS' });
  const cursor = await newestEvent(me);
  const user = await create(me, {
    ...{ phone: '+47 1', invoice_address_1: 'i1', invoice_phone: '2', home_city: 'Bergen', work_zipcode: '5004' },
    ...{ date_of_birth: '1980-02-29', external_id: 'E-1', custom_properties: { room: 'A' }, customer_id },
    information_gathered_at: '2026-01-02 03:04:05',
  });
  expect(user).toMatchObject({
    ...{ ...kari, username: kari.email, phone: '+47 1', date_of_birth: '1980-02-29', external_id: 'E-1' },
    ...{ invoice_address: { address: 'i1', invoice_phone: '2' }, home_address: { city: 'Bergen' } },
    ...{ work_address: { zipcode: '5004' }, custom_properties: { room: 'A' }, customer: { id: customer_id } },
    information_gathered_at: '2026-01-02T03:04:05+01:00',
  });
  expect(await read(me, user.id)).toEqual(user);
  expect(await eventsSince(me, cursor)).toEqual(['courseuser.created']);
});

test('a person with an equal e-mail and equal names is returned unchanged', async () => {
  const me = await createProvider();
  const user = await create(me, { phone: '1' });
  const cursor = await newestEvent(me);
  const again = {
    firstname: ' KARI',
    lastname: 'nordmann',
    email: 'KARI@fjord.example',
    phone: '2',
    username: 'other',
  };
  const response = await me.post(url, again);
  expect([response.status, response.json()]).toEqual([200, user]);
  expect(await eventsSince(me, cursor)).toEqual([]);
  // A booking finds the person, and a person whom a booking created is found.
  const { dateId } = await createBookableDate(me);
  const ola = person({ firstname: 'Ola', lastname: 'Li', email: 'ola@fjord.example' });
  const { participants } = await bookOrFail(me, dateId, { participants: [person(kari), ola] });
  const users = await Promise.all(
    participants.map(async ({ id }) => (await me.get(`/v2/participants/${id}`)).json<{ user: User }>().user.id),
  );
  expect(users[0]).toBe(user.id);
  const { firstname, lastname, email } = ola;
  expect((await me.post(url, { firstname, lastname, email })).json()).toMatchObject({ id: users[1] });
});

test('fields that a known person does not take are named', async () => {
  const me = await createProvider();
  const stored = {
    ...{ phone: '1', position: 'Leder', invoice_city: 'Bergen', customer_id: await createCustomer(me) },
    ...{ date_of_birth: '1980-02-29', information_gathered_at: '2026-01-02 03:04:05' },
    custom_properties: { a: '1', b: '2' },
  };
  await create(me, stored);
  const ignored = async (fields: object) => {
    const { status, headers } = await me.post(url, { ...kari, ...fields }, { prefer: 'handling=strict' });
    return [status, headers['x-ignored-parameters']];
  };
  for (const fields of [stored, {}, { phone: '', position: null }, { username: kari.email, id: 7 }])
    expect(await ignored(fields)).toEqual([200, undefined]);
  expect(await ignored({ custom_properties: { b: '2' } })).toEqual([200, undefined]);
  const others = {
    ...{ phone: '2', invoice_city: 'Oslo', customer_id: await createCustomer(me), external_id: 'E-1' },
    ...{ date_of_birth: '1980-02-28', information_gathered_at: '2026-01-02 03:04:06', firstname: 'KARI' },
    ...{ custom_properties: { b: '3' }, username: 'other' },
  };
  const inOrder = [
    ...['firstname', 'username', 'phone', 'date_of_birth', 'customer_id', 'invoice_city', 'external_id'],
    ...['custom_properties', 'information_gathered_at'],
  ];
  expect(await ignored(others)).toEqual([200, inOrder.join(', ')]);
  const both = await me.post(`${url}?x=1`, { ...kari, phone: '2', nam: 1 });
  expect([both.status, both.headers['x-ignored-parameters']]).toEqual([200, 'x, nam, phone']);
});

test('usernames follow the rule of bookings, and may be chosen', async () => {
  const me = await createProvider();
  await create(me);
  expect(await create(me, { firstname: 'Ola' })).toMatchObject({ username: 'kari@fjord.example_ola_nordmann' });
  expect(await create(me, { firstname: 'Per', username: 'Per' })).toMatchObject({ username: 'Per' });
  const taken = await me.post(url, { ...kari, firstname: 'Pål', username: ' PER ' });
  expect([taken.status, taken.json()]).toEqual([400, { error: 'A course user with an equal username exists already' }]);
  expect(await change(await createProvider(), 1, { username: 'Per' })).toEqual([404, 'Course user not found']);
});

test.each<[object, string]>([
  [{}, 'Missing field(s): firstname,lastname,email'],
  [{ ...kari, email: 'kari' }, 'Field(s) not valid: email'],
  [{ ...kari, date_of_birth: '2999-01-01' }, 'Field(s) not valid: date_of_birth'],
  [{ ...kari, customer_id: 2 ** 40 }, 'Field(s) not valid: customer_id'],
  [{ ...kari, custom_properties: 5 }, 'Field(s) not valid: custom_properties'],
])('POST refuses %o', async (body, error) => {
  const response = await (await createProvider()).post(url, body);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test('no password is accepted', async () => {
  const me = await createProvider();
  const fields = { password: 'fjord og fjell', password_hash: 'x', home_phone: '1' };
  const created = await me.post(url, { ...kari, ...fields });
  expect(created.headers['x-ignored-parameters']).toBe('password, password_hash, home_phone');
  const changed = await me.put(`${url}/${created.json<User>().id}`, fields);
  expect([changed.status, changed.headers['x-ignored-parameters']]).toEqual([
    200,
    'password, password_hash, home_phone',
  ]);
  const { rows } = await database.pool.query('select password_hash from course_users where provider_id = $1', [me.id]);
  expect(rows).toEqual([{ password_hash: null }]);
});

test('changes only the fields sent', async () => {
  const me = await createProvider();
  const before = await create(me, { phone: '1', position: 'Leder', custom_properties: { a: '1', b: '2' } });
  const cursor = await newestEvent(me);
  const response = await me.put(`${url}/${before.id}`, {
    ...{ lastname: 'Nordman', email: 'kari@fjell.example', phone: '' },
    custom_properties: { a: null, c: '3' },
  });
  expect([response.status, response.json()]).toEqual([
    200,
    {
      ...{ ...before, lastname: 'Nordman', email: 'kari@fjell.example', phone: null },
      ...{ custom_properties: { b: '2', c: '3' }, updated_at: expect.any(String) },
    },
  ]);
  expect(await read(me, before.id)).toEqual(response.json());
  expect(await eventsSince(me, cursor)).toEqual(['courseuser.updated']);
  const unchanged = await newestEvent(me);
  expect(await change(me, before.id, { lastname: 'Nordman' })).toEqual([200, undefined]);
  expect(await eventsSince(me, unchanged)).toEqual([]);
});

test('a username is changed where it is sent and free', async () => {
  const me = await createProvider();
  const { id } = await create(me);
  await create(me, { firstname: 'Ola', username: 'ola' });
  expect(await change(me, id, { username: 'OLA' })).toEqual([
    400,
    'A course user with an equal username exists already',
  ]);
  expect(await change(me, id, { username: '' })).toEqual([400, 'Missing field(s): username']);
  expect(await read(me, id)).toMatchObject({ username: kari.email });
  expect(await change(me, id, { username: kari.email.toUpperCase() })).toEqual([200, undefined]);
  expect(await read(me, id)).toMatchObject({ username: kari.email.toUpperCase() });
});

test('an e-mail and names of another course user are refused', async () => {
  const me = await createProvider();
  const { id } = await create(me);
  const other = await create(me, { firstname: 'Karin' });
  const error = 'A course user with an equal e-mail and equal names exists already: merge them';
  expect(await change(me, other.id, { firstname: 'KARI', phone: '1' })).toEqual([400, error]);
  expect(await read(me, other.id)).toEqual(other);
  expect(await change(me, other.id, { firstname: 'KARIN' })).toEqual([200, undefined]);
  expect(await change(me, other.id, { firstname: 'Kari', email: 'k@fjord.example' })).toEqual([200, undefined]);
  expect(await change(me, id, { email: 'k@fjord.example' })).toEqual([400, error]);
  // A course user of an import may lack a name.
  const bare = await createUser(me, { email: kari.email });
  expect(await change(me, bare, { firstname: 'Kari', phone: '1' })).toEqual([200, undefined]);
  expect(await change(me, bare, { lastname: 'Nordmann' })).toEqual([400, error]);
});

test('a new e-mail ends the links that were mailed', async () => {
  const me = await createProvider();
  const { id } = await create(me);
  const links = async () =>
    (
      await database.pool.query<{ usable: number }>(
        'select count(*)::int as usable from tokens where provider_id = $1 and used_at is null',
        [me.id],
      )
    ).rows[0]!.usable;
  await database.pool.query(
    `insert into tokens (provider_id, hash, purpose, user_id, created_at, expires_at)
     values ($1, $2, 'password', $3, now(), now() + interval '1 day')`,
    [me.id, `hash of ${id}`, id],
  );
  expect(await change(me, id, { email: kari.email.toUpperCase() })).toEqual([200, undefined]);
  expect(await links()).toBe(1);
  expect(await change(me, id, { email: 'new@fjord.example' })).toEqual([200, undefined]);
  expect(await links()).toBe(0);
});
