import { expect, test } from 'vitest';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { createBookableDate, person, statusesOnDate } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import { differences } from '../../support/compare-responses.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
type Item = Record<string, any>;

const place = (ref: string, fields: Item = {}) => ({ kind: 'user', ref, is_placeholder: true, ...fields });
const placeholderNames = async ({ id }: Provider) => {
  const select = 'select username from course_users where provider_id = $1 and is_placeholder order by id';
  return (await testApp.database.pool.query<{ username: string }>(select, [id])).rows.map(({ username }) => username);
};
const usersOf = (lines: Item[]) => lines.filter(({ kind }) => kind === 'user');

test('places of a group are still without a name after an import, and can be named', async () => {
  const [me, copy] = [await createProvider(), await createProvider()];
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityOverbook: 1 });
  const booked = await me.post('/v2/booking', { coursedate_id: dateId, payment_method: 'invoice', places: 2 });
  expect(booked.status).toBe(201);
  const lines = await exportToLines(testApp, me);
  const placeLine = { kind: 'user', ref: expect.any(String), is_placeholder: true };
  expect(usersOf(lines)).toEqual([placeLine, placeLine]);

  const cursor = await newestEvent(copy);
  expect((await importObjects(copy, lines)).reasons).toEqual([]);
  const events = await eventsSince(copy, cursor);
  expect(events.filter((type) => /^(courseuser|participant)/.test(type))).toEqual(Array(2).fill('participant.created'));
  expect(differences(lines, await exportToLines(testApp, copy))).toEqual([]);
  const [first, second] = await placeholderNames(copy);
  expect([first, second]).toEqual(Array(2).fill(expect.stringMatching(/^[\da-f-]{36}$/)));
  expect(first).not.toBe(second);

  const read = async <T = Item[]>(path: string) => (await copy.get(path)).json<T>();
  expect(await read('/v2/course-users')).toEqual([]);
  expect(await read(`/v2/search-users?username=${first}`)).toEqual([]);
  const participants = await read('/v2/participants?include=hold');
  const nobody = { username: null, firstname: null, lastname: null, email: null };
  expect(participants.map(({ user }) => user)).toMatchObject([nobody, nobody]);
  expect(participants.map(({ hold }) => hold.held_for)).toEqual(['name', 'name']);
  const copiedDate = participants[0]!['coursedate'].id as number;
  expect(await statusesOnDate(copy, copiedDate)).toEqual([7, 2]);

  const newcomer = person();
  const named = await copy.put(`/v2/participants/${participants[0]!['id']}`, { user: newcomer });
  expect([named.status, named.json()]).toMatchObject([200, { user: newcomer }]);
  expect(await statusesOnDate(copy, copiedDate)).toEqual([1, 2]);
  expect(await placeholderNames(copy)).toEqual([second]);
  const exported = usersOf(await exportToLines(testApp, copy));
  expect(exported).toMatchObject([placeLine, { ...newcomer, username: newcomer.email }]);
  expect(exported[1]).not.toHaveProperty('is_placeholder');
});

test.each([
  ['firstname', 'Kari'],
  ['lastname', 'Lie'],
  ['email', 'kari@x.example'],
  ['username', 'kari'],
  ['password', 'correct horse battery'],
  ['custom_properties', { diet: 'vegan' }],
])('a placeholder with %s is refused', async (name, value) => {
  const me = await createProvider();
  const hints: (string | undefined)[] = [];
  const { written, reasons } = await importObjects(me, [place('1', { [name]: value })], {
    onBadLine: ({ reason, expected }) => hints.push(reason, expected),
  });
  expect([written, reasons, hints]).toEqual([
    ...[0, []],
    ['Field(s) not valid: is_placeholder', 'is_placeholder: true only without other fields'],
  ]);
});

test('empty fields of a placeholder are unset, false is a person, and only the person leaves an event', async () => {
  const me = await createProvider();
  const cursor = await newestEvent(me);
  const objects = [
    place('1', { firstname: '', email: null }),
    place('2', { is_placeholder: 'false', email: 'kari@x.example' }),
  ];
  expect(await importObjects(me, objects)).toMatchObject({ written: 2, reasons: [] });
  expect(await importObjects(me, objects)).toMatchObject({ known: 2, written: 0, reasons: [] });
  expect(await placeholderNames(me)).toHaveLength(1);
  expect((await me.get('/v2/course-users')).json()).toMatchObject([{ username: 'kari@x.example' }]);
  expect(await eventsSince(me, cursor)).toEqual(['courseuser.created']);
});
