import { describe, expect, test } from 'vitest';
import { isEmailAddress, normalizeTitle } from '../../../src/core/text.ts';
import { todayIn } from '../../../src/core/timestamps.ts';
import { addDate } from '../../support/dates.ts';
import { contentTypes, dialects, encodeBody } from '../../support/dialects.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const invisible = [
  '\u2060',
  '\u200B',
  ' \u200B\u00A0',
  '\u00AD',
  '\u2800',
  '\u3164',
  '\uFE0F',
  '\u{E0061}',
  '\u202E\u200F',
];

const titled = [
  ['/v2/courses', {}, 'title'],
  ['/v2/course-tags', {}, 'title'],
  ['/v2/customers', { email: 'a@x.example' }, 'title'],
  ['/v2/locations', {}, 'title'],
  ['/v2/instructors', { lastname: 'Lie' }, 'firstname'],
] as const;

test.each(titled)('%s: a text in which nothing is visible is missing', async (url, others, name) => {
  const me = await createProvider();
  for (const text of invisible) {
    for (const dialect of dialects) {
      const headers = { 'content-type': contentTypes[dialect] };
      const response = await me.post(url, encodeBody(dialect, { ...others, [name]: text }), headers);
      expect([response.status, response.json().error], JSON.stringify(text)).toEqual([
        400,
        `Missing field(s): ${name}`,
      ]);
    }
  }
});

test.each([
  ['\u200BKnots\u200B', 'Knots'],
  ['\uFEFF Knots \u2060', 'Knots'],
  ['Kno\u200Dts', 'Kno\u200Dts'],
  ['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦'],
  ['Love ❤️', 'Love ❤️'],
  ['🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['\u0600 12', '\u0600 12'],
])('format characters at the ends are removed, emoji stay: %s', (text, stored) => {
  expect(normalizeTitle(text)).toBe(stored);
});

const badEmails = [
  'a@b..no',
  'a..b@c.no',
  'a@-b.no',
  'a@b-.no',
  'a@b.no.',
  '.a@b.no',
  'a.@b.no',
  'a@.b.no',
  'a@b.-c.no',
];
const goodEmails = [
  'a.b@c.no',
  "o'hara+x@sub-domain.c.no",
  'a@b--c.no',
  'å@blåbær.no',
  'a_b-@c.no',
  'a@localhost',
  'a@[127.0.0.1]',
];
test('dots and hyphens at the wrong place make an e-mail address invalid', () => {
  expect(badEmails.filter(isEmailAddress)).toEqual([]);
  expect(goodEmails.filter((one) => !isEmailAddress(one))).toEqual([]);
});

async function bookable(me: Provider) {
  const dateId = await addDate(me, await me.course(), { startAt: '2031-06-10', endAt: '2031-06-11' });
  return (participant: object, more: object = {}) =>
    me.post('/v2/booking', {
      coursedate_id: dateId,
      payment_method: 'invoice',
      participants: [{ firstname: 'Kari', lastname: 'Lie', email: 'kari@x.example', ...participant }],
      ...more,
    });
}

const withEmail: [string, (me: Provider, email: string) => Promise<{ status: number; text: string }>][] = [
  ['customer', (me, email) => me.post('/v2/customers', { title: 'X', email, invoice_email: email })],
  ['instructor', (me, email) => me.post('/v2/instructors', { firstname: 'A', lastname: 'B', email })],
  ['location', (me, email) => me.post('/v2/locations', { title: 'X', email_booking: email, email_moreinfo: email })],
  ['course', (me, email) => me.post('/v2/courses', { title: email, lead_settings: {}, email_booking: email })],
  [
    'admin user',
    (me, email) =>
      me.post('/v2/admin-users', {
        email,
        firstname: 'A',
        lastname: 'B',
        booking_email: email,
        role_ids: [1],
      }),
  ],
  [
    'school',
    (me, email) =>
      me.put('/v2/schools', {
        ...{ title: 'X', org_nr: '1', phone: '1', post_address: 'X', post_zip: '1', post_city: 'X' },
        email_admin: email,
        email,
      }),
  ],
  ['booking', async (me, email) => (await bookable(me))({ email }, { booker_email: email, invoice_email: email })],
];
describe.each(withEmail)('the e-mail address of a %s', (_, send) => {
  test('is trimmed', async () => {
    const me = await createProvider();
    for (const [n, form] of ['a# ', ' a#', '\ta#\u00A0', 'a#\u200B', 'a\u200B#\u2060'].entries()) {
      const response = await send(me, form.replace('#', `${n}-${me.id}@x.example`));
      expect([200, 201], response.text).toContain(response.status);
    }
  });
  test('is refused with a dot or a hyphen at the wrong place', async () => {
    const me = await createProvider();
    for (const email of badEmails) expect((await send(me, email)).status, email).toBe(400);
  });
});

test('trimmed addresses are stored, and one person is one course user', async () => {
  const me = await createProvider();
  const { customer_id } = (await me.post('/v2/customers', { title: 'X', email: 'a@x.example ' })).json();
  expect((await me.get(`/v2/customers/${customer_id}`)).json().email).toBe('a@x.example');
  const book = await bookable(me);
  for (const email of ['kari@x.example', 'kari@x.example\u200B', ' KARI@x.example'])
    expect((await book({ email })).status).toBe(201);
  expect((await me.get('/v2/search-users?email=kari@x.example')).json()).toHaveLength(1);
});

test('a blank in an e-mail parameter is an unescaped plus', async () => {
  const me = await createProvider();
  const book = await bookable(me);
  expect((await book({ email: 'pluss+kurs@x.example' })).status).toBe(201);
  for (const email of [
    'pluss+kurs@x.example',
    'pluss%2Bkurs@x.example',
    '%20pluss+kurs@x.example%20',
    'pluss kurs@x.example',
  ])
    expect((await me.get(`/v2/search-users?email=${email}`)).json(), email).toHaveLength(1);
  expect((await me.get('/v2/search-users?email=plusskurs@x.example')).json()).toEqual([]);
});

test('nobody is born after today', async () => {
  const me = await createProvider();
  const book = await bookable(me);
  const today = todayIn('Europe/Oslo');
  expect((await book({ date_of_birth: today })).status).toBe(201);
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  for (const born of [tomorrow, '2999-01-01']) {
    const response = await book({ date_of_birth: born });
    expect(response.status).toBe(400);
    expect(response.json().errors).toEqual([
      { code: 'field_invalid', message: expect.stringContaining('date_of_birth') as string },
    ]);
  }
});
