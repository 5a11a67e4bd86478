import { describe, expect, test } from 'vitest';
import { toSingleLine, normalizeLineBreaks, isEmailAddress } from '../../../src/core/text.ts';
import { addDate, addGathering, changeDate } from '../../support/dates.ts';
import { createOrder, createUser } from '../../support/orders.ts';
import { importObjects } from '../../support/all-responses.ts';
import { signedInVisitor } from '../../support/pages.ts';
import { book } from '../../support/booking.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const injected = 'A\r\nX-EVIL:1\tB\u2028C\u0085D';
const folded = 'A X-EVIL:1 B C D';
type Item = Record<string, unknown>;

test.each([
  ['A\r\n B', 'A B'],
  ['\nA\t', 'A'],
  ['A  B', 'A  B'],
  [' A ', ' A '],
  ['\u0001', ''],
  ['A\u009fB\u2029C', 'A B C'],
])('%j becomes the line %j', (text, line) => expect(toSingleLine(text)).toBe(line));

test('a multi-line text keeps line feeds and tabs and no other control characters', () => {
  expect(normalizeLineBreaks('A\r\nB\rC\u2028D\u0085E\u001bF\tG\n')).toBe('A\nB\nC\nD\nEF\tG\n');
});

describe('control characters in single-line texts are replaced', () => {
  test('in a course and its tags, while descriptions and custom properties keep line breaks', async () => {
    const me = await createProvider();
    const fields = {
      ...{ title: injected, reference: injected, visit_address: injected },
      ...{ text_lead: 'A\r\nB', custom_properties: { note: 'A\r\nB' }, tags: [{ title: injected }] },
    };
    const created = await me.post('/v2/courses', fields);
    expect(created.status, created.text).toBe(201);
    const [course] = (await me.get('/v2/courses')).json<Item[]>();
    expect(course).toMatchObject({ title: folded, custom_properties: { note: 'A\r\nB' }, tags: [{ title: folded }] });
    expect(JSON.stringify(course)).toContain('A\\r\\nB');
  });

  test.each([
    ['/v2/locations', { title: injected, address: injected, city: injected }, {}],
    ['/v2/instructors', { firstname: injected, lastname: injected, phone: injected }, {}],
    ['/v2/customers', { title: injected, department: injected, phone: injected }, { note: 'A\nB' }],
  ])('in POST %s', async (url, fields, remaining) => {
    const me = await createProvider();
    const response = await me.post(url, { ...fields, ...remaining });
    expect(response.status, response.text).toBe(201);
    const lines = Object.fromEntries(Object.keys(fields).map((name) => [name, folded]));
    const [item] = (await me.get(url)).json<Item[]>();
    expect(item).toMatchObject({ ...lines, ...remaining });
  });

  const days = { start_at: '2030-06-10', end_at: '2030-06-12', deadline_at: '2030-06-09' };
  const postDate = async (me: Provider, fields: Item) =>
    me.post(`/v2/courses/${await me.course()}/coursedates`, { ...days, ...fields });
  const gathering = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' };
  const names = { firstname: injected, lastname: injected };
  const readSchool = async (me: Provider) => (await me.get('/schools')).text;

  test.each<[string, (me: Provider) => Promise<{ status: number; text: string }>, (me: Provider) => Promise<string>]>([
    [
      "a booking's participants",
      async (me) =>
        book(me, (await postDate(me, {})).json().coursedate_id, { participants: [{ ...names, email: 'a@b.example' }] }),
      async (me) => (await me.get('/v2/participants')).text,
    ],
    [
      'an admin user',
      (me) => me.post('/v2/admin-users', { ...names, email: `${me.id}@b.example`, role_ids: [1] }),
      async (me) => (await me.get('/v2/admin-users')).text,
    ],
    ['the title of a school', (me) => me.put('/v2/schools', { ...minimalSchool, title: injected }), readSchool],
    [
      'the title of a sub-school in the older interface',
      (me) => me.post('/schools', { ...minimalSchool, title: injected }),
      async (me) => {
        const { rows } = await testApp.database.pool.query('select title from providers where parent_id = $1', [me.id]);
        return JSON.stringify(rows);
      },
    ],
    [
      'the title of a course date',
      (me) => postDate(me, { title: injected }),
      async (me) => (await me.get('/v2/coursedates')).text,
    ],
    [
      'the theme of a gathering',
      (me) => postDate(me, { gatherings: [{ ...gathering, theme: injected }] }),
      async (me) => (await me.get('/v2/coursedates?include=gatherings')).text,
    ],
  ])('in %s', async (_what, write, read) => {
    const me = await createProvider();
    const { status, text } = await write(me);
    expect(status, text).toBeLessThan(300);
    const stored = await read(me);
    expect(stored).toContain(`"${folded}"`);
    expect(stored).not.toMatch(/A(\\r|\\n)/);
  });

  test('a title of only control characters counts as missing; as a custom property name it is rejected', async () => {
    const me = await createProvider();
    expect((await me.post('/v2/courses', { title: '\r\n\u0001' })).json()).toEqual({
      error: 'Missing field(s): title',
    });
    expect((await me.post('/v2/courses', { title: 'A', custom_properties: { 'a\nb': 'x' } })).json()).toEqual({
      error: 'Field(s) not valid: custom_properties',
    });
  });

  test('in imported lines', async () => {
    const me = await createProvider();
    const line = { kind: 'customer', ref: 'a', title: injected, phone: injected, note: 'A\nB' };
    expect(await importObjects(me, [line])).toMatchObject({ written: 1 });
    const [customer] = (await me.get('/v2/customers')).json<Item[]>();
    expect(customer).toMatchObject({ title: folded, phone: folded, note: 'A\nB' });
  });
});

test('stored texts cannot inject lines into a calendar file', async () => {
  const me = await createProvider();
  const userId = await createUser(me, { firstname: 'Kari' });
  const courseId = await me.course();
  const evil = 'A\r\nX-EVIL:1\rX-EVIL:2\nX-EVIL:3\u2028X-EVIL:4\u0085X-EVIL:5';
  const dateId = await addDate(me, courseId, { title: evil, placeAdditionalInfo: evil });
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId] });
  const browser = await signedInVisitor(testApp.app, me, userId);
  const path = `/my/courses/${participantIds[0]}/calendar.ics`;
  const check = async () => {
    const { status, text } = await browser.get(path);
    expect(status).toBe(200);
    expect(text).toContain('X-EVIL:1');
    expect(text.split(/\r\n|[\r\n\u2028\u2029\u0085]/).filter((line) => line.startsWith('X-EVIL'))).toEqual([]);
    return text;
  };
  expect(await check()).toMatch(/^X-WR-CALNAME:A X-EVIL:1 X-EVIL:2/m);
  await addGathering(me, dateId, { theme: evil, description: evil });
  await check();
  await changeDate(me, dateId, { title: 'Plain' });
  await check();
});

describe('e-mail', () => {
  const wrong = ['a<b@example.com', 'a,b@example.com', 'a;b@example.com', 'a\u0001b@example.com', 'a"@example.com'];
  test.each([...wrong, 'a@b@example.com', 'a b@example.com', 'a@exam\u0085ple.com'])(
    'booking and mail reject %j',
    async (email) => {
      const me = await createProvider();
      const participants = [{ firstname: 'Kari', lastname: 'Nordmann', email }];
      const { status, text } = await me.post('/v2/booking', {
        coursedate_id: 1,
        payment_method: 'invoice',
        participants,
      });
      expect(status).toBe(400);
      expect(text).toContain('participant_email_invalid_empty');
      expect((await me.post('/v2/customers', { title: 'A', email })).text).toContain('Field(s) not valid: email');
      expect(isEmailAddress(email)).toBe(false);
    },
  );

  test.each(["o'hara+x@example.com", 'æ@blåbær.no', 'a/b=c@x.example'])('booking and mail accept %j', async (email) => {
    const me = await createProvider();
    expect((await me.post('/v2/customers', { title: 'A', email })).status).toBe(201);
    expect(isEmailAddress(email)).toBe(true);
  });
});
