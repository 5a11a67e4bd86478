import { expect, test } from 'vitest';
import {
  assignUsernames,
  selectNewUsers,
  withSharedEmail,
} from '../../../src/domains/people/users/enrolment-service.ts';
import { createBookableDate, bookOrFail, person } from '../../support/booking.ts';
import { createUser, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type User = { id: number; username: string; firstname: string; phone: string | null; updated_at: string };
const usersOf = async (me: Provider, email: string) =>
  (await me.get(`/v2/search-users?email=${encodeURIComponent(email)}`)).json<User[]>();
const userIdsOf = async (me: Provider) =>
  (await me.get('/v2/participants?limit=250')).json<{ user: User }[]>().map(({ user }) => user.id);

test('a course user is matched by e-mail and name, case-insensitively, and not changed', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const id = await createUser(me, {
    email: 'Åse@x.example',
    firstname: 'Åse',
    lastname: 'Ødegård',
    phone: '1',
    username: 'åse',
  });
  const [before] = await usersOf(me, 'åse@x.example');
  const requested = { firstname: 'åSE', lastname: ' ØDEGÅRD ', email: 'åSE@X.example', phone: '2' };
  await bookOrFail(me, dateId, { participants: [requested, { ...requested, lastname: 'A\u030Ase' }] });
  expect((await userIdsOf(me))[0]).toBe(id);
  const [found, created] = await usersOf(me, 'åse@x.example');
  expect(found).toEqual(before);
  expect(created).toMatchObject({ username: 'åse@x.example_åse_åse', phone: '2' });
});

test('a course user is not matched by e-mail alone, by name alone or at another school', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const { dateId } = await createBookableDate(me);
  const somebody = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@x.example' };
  await createUser(other, { ...somebody, username: 'kari' });
  const ids = [];
  for (const change of [{}, { firstname: 'Ola' }, { lastname: 'Hansen' }, { email: 'k@x.example' }, {}]) {
    await bookOrFail(me, dateId, { participants: [{ ...somebody, ...change }] });
    ids.push((await userIdsOf(me)).at(-1));
  }
  expect(new Set(ids).size).toBe(4);
  expect(ids[4]).toBe(ids[0]);
  expect((await usersOf(me, 'kari@x.example')).map(({ username }) => username)).toEqual([
    'kari@x.example',
    'kari@x.example_ola_nordmann',
    'kari@x.example_kari_hansen',
  ]);
});

test('a username is the e-mail, else e-mail and name in lower case, else with a number', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const of = (firstname: string) => ({ firstname, lastname: 'B', email: 'A@x.example' });
  await createUser(me, { username: 'a@X.example_ola_b' });
  await createUser(me, { username: 'a@x.example_per_b' });
  await createUser(me, { username: 'a@x.example_per_b_2' });
  await bookOrFail(me, dateId, { participants: ['Kari', 'Ola', 'Per', 'Anne Marie', 'kari'].map(of) });
  expect((await usersOf(me, 'a@x.example')).map(({ username }) => username)).toEqual([
    'A@x.example',
    'a@x.example_ola_b_2',
    'a@x.example_per_b_3',
    'a@x.example_anne marie_b',
  ]);
});

test('a username that a user without e-mail already has is not reused', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await createUser(me, { username: 'KARI@x.example' });
  await bookOrFail(me, dateId, {
    participants: [person({ firstname: 'Kari', lastname: 'N', email: 'kari@x.example' })],
  });
  expect((await usersOf(me, 'kari@x.example')).map(({ username }) => username)).toEqual(['kari@x.example_kari_n']);
});

test('users who share an e-mail are matched by name', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const staff = Array.from({ length: 30 }, (_, n) => ({
    firstname: `F${n % 6}`,
    lastname: `L${n % 5}`,
    email: 'post@x.example',
  }));
  await bookOrFail(me, dateId, { participants: staff });
  const first = await userIdsOf(me);
  expect(new Set(first).size).toBe(30);
  await bookOrFail(me, dateId, { participants: [...staff].reverse() });
  expect((await userIdsOf(me)).slice(30)).toEqual([...first].reverse());
});

test('usernames that collide get a suffix', () => {
  const of = (firstname: string, lastname: string) => ({ firstname, lastname, email: 'a@x' });
  const people = [of('a', 'b_c'), of('a_b', 'c'), of('A', 'B_C'), of('a', 'b')];
  const newUsers = selectNewUsers(
    people,
    people.map(() => ({ id: null, taken: true })),
  );
  const usernames = assignUsernames(newUsers, [{ numbers: [1, 3] }, { numbers: [1, 3] }, { numbers: [2] }]).map(
    ({ username }) => username,
  );
  expect(usernames).toEqual(['a@x_a_b_c', 'a@x_a_b_c_3', 'a@x_a_b_2']);
});

test('a base name that is another one with a number gets a free username', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const of = (firstname: string, lastname: string) => ({ firstname, lastname, email: 'a@b.c' });
  await bookOrFail(me, dateId, { participants: [of('Z', 'Z'), of('A', 'B_C'), of('A_B', 'C'), of('A', 'B_C_2')] });
  expect((await usersOf(me, 'a@b.c')).map(({ username }) => username)).toEqual([
    ...['a@b.c', 'a@b.c_a_b_c', 'a@b.c_a_b_c_2', 'a@b.c_a_b_c_2_2'],
  ]);
});

test('few numbers are tried for many names that begin alike', () => {
  const people = Array.from({ length: 3_000 }, (_, n) => ({ firstname: 'A', lastname: `B_${n}`, email: 'a@b.c' }));
  const users = selectNewUsers(
    people,
    people.map(() => ({ id: null, taken: true })),
  );
  const candidates = withSharedEmail(users).map((user) => user.candidates);
  expect(new Set(candidates)).toEqual(new Set([2]));
});

test("a username of e-mail and name does not collide with another user's e-mail", async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const of = (firstname: string, lastname: string, email = 'a@b.c') => ({ firstname, lastname, email });
  const people = [of('A', 'B'), of('X', 'Y'), of('Q', 'R', 'A@b.c_x_y')];
  await createUser(me, { username: 'a@b.c_x_y_2' });
  await bookOrFail(me, dateId, { participants: people });
  await bookOrFail(me, dateId, { participants: [...people, of('Z', 'Z', 'a@b.c_a_c'), of('A', 'C')] });
  const usernames = async (email: string) => (await usersOf(me, email)).map(({ username }) => username);
  expect(await usernames('a@b.c')).toEqual(['a@b.c', 'a@b.c_x_y_3', 'a@b.c_a_c_2']);
  expect(await usernames('a@b.c_x_y')).toEqual(['A@b.c_x_y']);
});

test('a free username is found after a thousand numbered ones', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await write(me, (tx, now) =>
    tx.execute(
      `insert into course_users (provider_id, username, created_at, updated_at)
       select ${me.id}, concat_ws('_', 'O@X.example_Kari_N', nullif(n, 1)), '${now}', '${now}' from generate_series(1, 1000) n`,
    ),
  );
  await createUser(me, { username: 'o@x.example' });
  await bookOrFail(me, dateId, { participants: [person({ firstname: 'Kari', lastname: 'N', email: 'o@x.example' })] });
  expect((await usersOf(me, 'o@x.example')).map(({ username }) => username)).toEqual(['o@x.example_kari_n_1001']);
});
