import { expect, test } from 'vitest';
import { hashPassword } from '../../../src/domains/school/auth/password-service.ts';
import { book, bookingBody, bookOrFail, createBookableDate, getSummary } from '../../support/booking.ts';
import { createUser } from '../../support/orders.ts';
import { contentTypeHeader, encodeBody } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type User = { id: number; username: string; firstname: string; lastname: string };
const search = async (me: Provider, query: Record<string, string>) =>
  (await me.get(`/v2/search-users?${new URLSearchParams(query).toString()}`)).json<User[]>();
const family = (...names: [string, string][]) =>
  names.map(([firstname, lastname]) => ({ firstname, lastname, email: 'family@x.example' }));

/** Spellings that are one name, the first as it is stored. */
const spellings = {
  blanks: ['Anne Marie', 'Anne  Marie', 'Anne\u00a0Marie', 'ANNE \u2009\u3000marie', 'Anne\u202fMarie'],
  apostrophes: ["D'Arcy", 'D’Arcy', 'D‘arcy', 'Dʼarcy', 'D`arcy', 'd´arcy', 'D′Arcy'],
  hyphens: ['Anne-Lise', 'Anne‐Lise', 'Anne\u2011Lise', 'Anne–Lise', 'anne—lise', 'Anne−Lise', 'Anne\u00adLise'],
};

test.each(Object.entries(spellings))(
  'names that differ in %s alone are one person, in each body format',
  async (_, [first, ...others]) => {
    const me = await createProvider();
    const { dateId } = await createBookableDate(me);
    await bookOrFail(me, dateId, { participants: family(['Far', 'Lie'], [first!, first!]) });
    for (const dialect of ['json', 'form', 'multipart'] as const)
      for (const other of others) {
        const body = bookingBody(dateId, { participants: family([other, other]) });
        getSummary(await me.post('/v2/booking', encodeBody(dialect, body), contentTypeHeader(dialect)));
      }
    // In one booking too.
    await bookOrFail(me, dateId, { participants: family(...others.map((other): [string, string] => [first!, other])) });
    const found = await search(me, { email: 'family@x.example' });
    const name = first!.toLowerCase();
    expect(found.map(({ firstname, username }) => [firstname, username])).toEqual([
      ['Far', 'family@x.example'],
      [first, `family@x.example_${name}_${name}`],
    ]);
  },
);

test('a person stays as first entered, and a username is folded', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const names: [string, string][] = [
    ['Far', 'Lie'],
    ['Anne  Marie', 'O’Brien–Lie'],
    ['Anne Marie', "O'Brien-Lie"],
  ];
  await bookOrFail(me, dateId, { participants: family(...names) });
  expect((await search(me, { lastname: "o'brien-" })).map(({ firstname, lastname }) => [firstname, lastname])).toEqual([
    names[1],
  ]);
  expect((await search(me, { firstname: 'anne\u00a0m' }))[0]!.username).toBe("family@x.example_anne marie_o'brien-lie");
});

test('a search finds all spellings of a name and of a username', async () => {
  const me = await createProvider();
  const all = [...spellings.blanks, ...spellings.apostrophes, ...spellings.hyphens];
  for (const firstname of all) await createUser(me, { firstname, lastname: firstname, username: `u_${firstname}` });
  for (const group of Object.values(spellings))
    for (const spelling of group)
      for (const query of [
        { firstname: spelling },
        { lastname: spelling.slice(0, -1) },
        { username: `U_${spelling}` },
        { firstname: spelling, username: 'u' },
      ] as Record<string, string>[])
        expect((await search(me, query)).map(({ firstname }) => firstname)).toEqual(group);
  expect(await search(me, { firstname: 'Anne%' })).toEqual([]);
  expect(await search(me, { firstname: 'AnneMarie' })).toEqual([]);
});

test('of persons whose names are equal, a booking takes the one as spelled, else the first', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const somebody = { lastname: 'Lie', email: 'family@x.example' };
  const ids = [];
  for (const firstname of ['Anne\u00a0Marie', 'Anne  Marie', 'Anne Marie'])
    ids.push(await createUser(me, { ...somebody, firstname }));
  const booked = async (firstname: string) => {
    await bookOrFail(me, dateId, { participants: [{ ...somebody, firstname }] });
    return (await me.get('/v2/participants?limit=250')).json<{ user: User }[]>().at(-1)!.user.id;
  };
  expect(await booked('anne marie')).toBe(ids[2]);
  expect(await booked('Anne  Marie')).toBe(ids[1]);
  expect(await booked('Anne \u2009Marie')).toBe(ids[0]);
});

test('concurrent bookings of two spellings make one person', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const names = [...spellings.blanks, ...spellings.blanks];
  const responses = await Promise.all(
    names.map((firstname) => book(me, dateId, { participants: family([firstname, 'Lie']) })),
  );
  expect(responses.map(({ status }) => status)).toEqual(names.map(() => 201));
  expect(await search(me, { email: 'family@x.example' })).toHaveLength(1);
});

test('a username that differs from a taken one in these signs alone is taken', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await createUser(me, { username: 'family@x.example_anne\u00a0marie_lie' });
  await bookOrFail(me, dateId, { participants: family(['Far', 'Lie'], ['Anne Marie', 'Lie']) });
  expect((await search(me, { email: 'family@x.example' })).map(({ username }) => username)).toEqual([
    'family@x.example',
    'family@x.example_anne marie_lie_2',
  ]);
});

test('a sign-on takes the username as spelled, else one that is equal; both count for one limit', async () => {
  const me = await createProvider();
  const passwordHash = await hashPassword('fjord og fjell');
  const plain = await createUser(me, { username: "o'brien", passwordHash });
  const other = await createUser(me, { username: 'o’brien', passwordHash });
  const signOn = async (username: string, password = 'fjord og fjell') => {
    const response = await me.post('/v2/check-user-credentials', { username, password });
    return response.status === 200 ? response.json<{ user_id?: number }>().user_id : response.status;
  };
  expect(await Promise.all(["O'Brien", 'O’Brien', 'O`Brien'].map((username) => signOn(username)))).toEqual([
    ...[plain, other, plain],
  ]);
  const wrong = Array.from("'’‘ʼ`´′'’‘").map((sign) => signOn(`o${sign}brien`, 'wrong'));
  expect(await Promise.all(wrong)).toEqual(wrong.map(() => undefined));
  expect(await signOn("o'brien")).toBe(429);
});
