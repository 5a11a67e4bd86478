import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
type Fields = Record<string, unknown>;

const user = (ref: string, name: string, fields: Fields = {}) => {
  const [firstname, lastname] = name.split(' ');
  return { kind: 'user', ref, firstname, lastname, email: 'm@x.example', ...fields };
};
const usernamesOf = async (me: Provider) =>
  (await exportToLines(testApp, me)).filter(({ kind }) => kind === 'user').map(({ username }) => username);

test('persons of one file with an equal e-mail get usernames by the rule of booking', async () => {
  const me = await testApp.createProvider();
  const objects = [
    user('1', 'Mor Lie'),
    user('2', 'Barn Lie'),
    user('3', 'BARN Åse', { email: 'M@X.example' }),
    user('4', 'Own Name', { username: 'own', email: 'own@x.example' }),
    user('5', 'Other Name', { email: 'OWN@x.example' }),
    user('6', 'First Later', { email: 'later@x.example' }),
    user('7', 'Second Later', { username: 'second', email: 'later@x.example' }),
    user('8', 'Name Taken', { email: 'taken@x.example' }),
    user('9', 'Holder Taken', { username: 'Taken@x.example', email: undefined }),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 9, reasons: [] });
  expect(await usernamesOf(me)).toEqual([
    'm@x.example',
    'm@x.example_barn_lie',
    'm@x.example_barn_åse',
    'own',
    'own@x.example_other_name',
    'later@x.example',
    'second',
    'taken@x.example_name_taken',
    'Taken@x.example',
  ]);
});

test('an e-mail that was booked or imported before is shared too, and a second run changes nothing', async () => {
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me);
  await bookOrFail(me, dateId, { participants: [person({ email: 'm@x.example', firstname: 'Far', lastname: 'Lie' })] });
  const objects = [user('1', 'Mor Lie'), user('2', 'Barn Lie')];
  expect(await importObjects(me, objects.slice(0, 1))).toMatchObject({ written: 1, reasons: [] });
  expect(await importObjects(me, objects)).toMatchObject({ known: 1, written: 1, reasons: [] });
  expect(await importObjects(me, objects)).toMatchObject({ known: 2, written: 0, reasons: [] });
  expect(await usernamesOf(me)).toEqual(['m@x.example', 'm@x.example_mor_lie', 'm@x.example_barn_lie']);
});

test('a number follows a username that is taken, in the file or before', async () => {
  const me = await testApp.createProvider();
  await importObjects(me, [user('0', 'A B', { username: 'm@x.example_a_b', email: undefined })]);
  const objects = [
    user('1', 'C D'),
    user('2', 'a b'),
    user('3', 'a_b'),
    user('4', 'X Y', { username: 'M@x.example_A_B_3', email: undefined }),
    user('5', 'A B_2'),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 5, reasons: [] });
  expect(await usernamesOf(me)).toEqual([
    'm@x.example_a_b',
    'm@x.example',
    'm@x.example_a_b_4',
    'm@x.example_a_b_5',
    'M@x.example_A_B_3',
    'm@x.example_a_b_2',
  ]);
});

test('the same person twice is refused, unless the line has a username', async () => {
  const me = await testApp.createProvider();
  await importObjects(me, [user('0', 'Mor Lie')]);
  const objects = [
    user('1', 'MOR LIE', { email: 'M@x.example' }),
    user('2', 'Barn Lie'),
    user('3', 'barn lie'),
    user('4', 'Barn Lie', { username: 'another barn' }),
    user('5', 'Own Name', { username: 'M@X.EXAMPLE' }),
  ];
  expect((await importObjects(me, objects)).reasons).toEqual([
    '1: Another user has the same email and name; for another person set username',
    '3: Line 2 has the same email and name; for another person set username',
    '5: Another user has this username already',
  ]);
  expect(await importObjects(me, [objects[1]!, objects[3]!])).toMatchObject({ written: 2, reasons: [] });
});

test('persons without names get numbers, and hundreds of one e-mail get a username each', async () => {
  const me = await testApp.createProvider();
  const family = Array.from({ length: 300 }, (_, n) => user(String(n), `Barn${n} Lie`));
  expect(await importObjects(me, [...family, { kind: 'user', ref: 'x', email: 'M@X.example' }])).toMatchObject({
    ...{ written: 301, reasons: [] },
  });
  const usernames = await usernamesOf(me);
  expect(new Set(usernames).size).toBe(301);
  expect(usernames.slice(-2)).toEqual(['m@x.example_barn299_lie', 'm@x.example_2']);
});

test('blanks, apostrophes and hyphens make neither another person nor another username', async () => {
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me);
  const booked = { firstname: 'Anne  Marie', lastname: 'O’Brien', email: 'm@x.example' };
  await bookOrFail(me, dateId, { participants: [person(booked)] });
  const named = (ref: string, firstname: string, lastname: string, fields: Fields = {}) => ({
    ...user(ref, ''),
    ...{ firstname, lastname, ...fields },
  });
  const same = [
    named('1', 'Anne\u00a0Marie ', "O'Brien"),
    named('2', 'Per–Ola', 'Lie'),
    named('3', 'per-ola', ' Lie'),
    named('4', 'A\u030Ase', 'Lie'),
    named('5', 'Åse', 'Lie'),
  ];
  expect((await importObjects(me, same)).reasons).toEqual([
    '1: Another user has the same email and name; for another person set username',
    '3: Line 2 has the same email and name; for another person set username',
    '5: Line 4 has the same email and name; for another person set username',
  ]);
  const held = named('6', 'Held', 'Lie', { username: 'm@x.example_kari\u00a0anne_lie' });
  const objects = [same[1]!, same[3]!, held, named('7', 'Kari  Anne', 'Lie')];
  expect(await importObjects(me, objects)).toMatchObject({ written: 4, reasons: [] });
  expect(await usernamesOf(me)).toEqual([
    'm@x.example',
    'm@x.example_per-ola_lie',
    'm@x.example_åse_lie',
    'm@x.example_kari\u00a0anne_lie',
    'm@x.example_kari anne_lie_2',
  ]);
  await bookOrFail(me, dateId, { participants: [{ firstname: 'Åse', lastname: 'LIE', email: 'm@x.example' }] });
  expect(await usernamesOf(me)).toHaveLength(5);
});
