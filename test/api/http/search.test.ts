import { expect, test } from 'vitest';
import { openCatalog } from '../../support/catalog.ts';
import { addDate } from '../../support/dates.ts';
import { createCustomer, createOrder, createUser } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const names = [
  ['Kari', 'Øvrebø', ['ovrebo', 'oevreboe', 'øvrebø', 'OVRE']],
  ['Nils', 'Håkonsen', ['hakonsen', 'haakonsen', 'håkonsen', 'hako']],
  ['José', 'Díaz', ['jose diaz', 'diaz', 'josé']],
  ['Liam', 'O’Brien', ['obrien', "o'brien", 'O’Brien', 'brien', 'o brien']],
  ['Anna', 'Haakonrud', ['håkonrud', 'hakonrud']],
] as const;

test('q finds course users and participants by other spellings of their names', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const courseId = await me.course();
  const dateId = await addDate(me, courseId);
  for (const [firstname, lastname, words] of names) {
    const user = await createUser(me, { firstname, lastname });
    await createUser(other, { firstname, lastname });
    const { participantIds } = await createOrder(me, { courseId, dateId, users: [user] });
    for (const word of words) {
      const q = encodeURIComponent(word);
      const users = (await me.get(`/v2/course-users?q=${q}`)).json<{ lastname: string }[]>();
      expect([word, users.map((one) => one.lastname)]).toEqual([word, [lastname]]);
      const found = (await me.get(`/v2/participants?q=${q}`)).json<{ id: number }[]>();
      expect([word, found.map(({ id }) => id)]).toEqual([word, participantIds]);
    }
  }
  expect((await me.get('/v2/course-users?q=hakonsenn')).json()).toEqual([]);
  // Comparisons of names tell these letters apart.
  expect((await me.get('/v2/search-users?lastname=ovrebo')).json()).toEqual([]);
});

test('q finds courses, dates, orders and customers by other spellings', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'Snøbrett i Ålesund, ærlig talt' });
  const dateId = await addDate(me, courseId, { title: 'Påske' });
  const customer = await createCustomer(me, { title: 'Bærum Bygg 24', orgnr: '923 609 016' });
  const { orderId } = await createOrder(me, { courseId, dateId, users: [], order: { booker: 'Zoë Ødegård' } });
  const ids = async (path: string) => {
    const body = (await me.get(path)).json<object[] | { items: object[] }>();
    const items = (Array.isArray(body) ? body : body.items) as { id?: number; coursedate_id?: number }[];
    return items.map(({ id, coursedate_id }) => id ?? coursedate_id);
  };
  for (const q of ['snobrett', 'snoebrett', 'alesund', 'aalesund', 'aerlig', 'snobrett%20talt'])
    expect([q, await ids(`/v2/courses?q=${q}`)]).toEqual([q, [courseId]]);
  expect(await ids('/v2/coursedates?q=paaske')).toEqual([dateId]);
  expect(await ids('/v2/coursedates?q=snoebrett')).toEqual([dateId]);
  for (const q of ['baerum', '923609016', '923%20609%20016', '923609', 'bygg%2024'])
    expect([q, await ids(`/v2/customers?q=${q}`)]).toEqual([q, [customer]]);
  expect(await ids('/v2/customers?q=24923609016')).toEqual([]);
  for (const q of ['odegard', 'oedegaard', 'zoe']) expect([q, await ids(`/v2/orders?q=${q}`)]).toEqual([q, [orderId]]);
});

test('a changed name is found by its new words alone', async () => {
  const me = await createProvider();
  const { id } = (await me.post('/v2/course-users', { firstname: 'Åse', lastname: 'Lie', email: 'a@x.example' })).json<{
    id: number;
  }>();
  expect((await me.put(`/v2/course-users/${id}`, { lastname: 'Bø' })).status).toBe(200);
  const count = async (q: string) => (await me.get(`/v2/course-users?q=${q}`)).json<object[]>().length;
  expect([await count('lie'), await count('boe'), await count('aase')]).toEqual([0, 1, 1]);
});

test('the search of a catalog compares as q does, and says what to try', async () => {
  const me = await createProvider();
  for (const title of ['Førstehjelp for O’Brien', 'Snøbrett', 'Haakons Ærlige Åpning'])
    await addDate(me, await me.course({ title }), { startAt: '2030-06-10' });
  const { get } = await openCatalog(testApp, me);
  const read = async (q: string, language = 'en') =>
    (await get(`?q=${encodeURIComponent(q)}`, { 'accept-language': language })).text;
  const isFound = async (q: string) => (await read(q)).includes('One date');
  for (const q of ['foerstehjelp', 'forstehjelp', 'snoebrett', 'håkons', 'hakons', 'aerlige', 'aapning', 'obrien'])
    expect([q, await isFound(q)]).toEqual([q, true]);
  expect(await read('førstehjelpen')).toContain('Try fewer or shorter words');
  expect(await read('førstehjelpen', 'no')).toContain('Prøv færre eller kortere ord');
  expect((await get('?month=2031-01', { 'accept-language': 'en' })).text).not.toContain('Try fewer');
});
