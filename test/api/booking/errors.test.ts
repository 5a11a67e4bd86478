import { expect, test } from 'vitest';
import { courses, products } from '../../../src/database/tables/courses.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { and, eq } from 'drizzle-orm';
import {
  createBookableDate,
  bookOrFail,
  book,
  bookingBody,
  errorCodes,
  createVoucher,
  person,
  persons,
} from '../../support/booking.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { contentTypes } from '../../support/request-bodies.ts';
import { mainProduct, createCustomer, createProduct, write } from '../../support/orders.ts';
import {
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();
const me = await createProvider();
const { courseId, dateId } = await createBookableDate(me);
const other = await createProvider();
const theirs = await createBookableDate(other);

const past = '2020-01-01 00:00:00+01';
const archive = (id: number) =>
  write(me, (tx, now) =>
    tx
      .update(products)
      .set({ archivedAt: now })
      .where(and(eq(products.providerId, me.id), eq(products.id, id))),
  );

/** Bookings with one fault each: the body and the expected codes. */
type Case = [string, (me: Provider) => object | Promise<object>, string[]];
const of = (fields: object) => () => ({ ...bookingBody(dateId), ...fields });
const withOne = (fields: object) => of({ participants: [{ ...person(), ...fields }] });

const cases: Case[] = [
  [
    'more than 10,000 products of all participants together',
    of({
      participants: Array.from({ length: 51 }, () => ({
        ...person(),
        products: Array.from({ length: 197 }, (_, n) => n + 1),
      })),
    }),
    ['too_many_products'],
  ],
  ['no date', of({ coursedate_id: '' }), ['course_date_identifier_invalid']],
  ['a date that is no id', of({ coursedate_id: 'x' }), ['course_date_identifier_invalid']],
  ['an unknown date', of({ coursedate_id: 999_999_999 }), ['course_date_identifier_invalid']],
  ["another school's date", of({ coursedate_id: theirs.dateId }), ['course_date_identifier_invalid']],
  [
    'a deleted date',
    async () => bookingBody((await createBookableDate(me, { deletedAt: past })).dateId),
    ['course_date_identifier_invalid'],
  ],
  [
    'an inactive course',
    async () => bookingBody((await createBookableDate(me, { course: { active: 0 } })).dateId),
    ['course_date_identifier_invalid'],
  ],
  [
    'a deleted course',
    async () => {
      const created = await createBookableDate(me);
      await write(me, (tx, now) =>
        tx
          .update(courses)
          .set({ deletedAt: now })
          .where(and(eq(courses.providerId, me.id), eq(courses.id, created.courseId))),
      );
      return bookingBody(created.dateId);
    },
    ['course_date_identifier_invalid'],
  ],
  [
    'a canceled date',
    async () => bookingBody((await createBookableDate(me, { statusId: 3 })).dateId),
    ['course_date_cancelled'],
  ],
  [
    'a date past its deadline',
    async () => bookingBody((await createBookableDate(me, { deadlineAt: '2020-01-01' })).dateId),
    ['deadline_passed'],
  ],
  ['no payment method', of({ payment_method: '' }), ['payment_method_invalid']],
  ['another payment method', of({ payment_method: 'card' }), ['payment_method_invalid']],
  ['no participants', of({ participants: '' }), ['participant_count_invalid']],
  ['an empty list of participants', of({ participants: [] }), ['participant_count_invalid']],
  [
    'participants that are no list',
    of({ participants: 'Kari' }),
    ['participant_name_invalid_empty', 'participant_email_invalid_empty'],
  ],
  [
    'too many participants',
    of({ participants: Array.from({ length: 1_001 }, () => ({})) }),
    ['participant_count_invalid'],
  ],
  ['a name that is blank', withOne({ firstname: ' ' }), ['participant_name_invalid_empty']],
  ['a name that is too long', withOne({ lastname: 'x'.repeat(256) }), ['participant_name_invalid_empty']],
  ['no e-mail', withOne({ email: '' }), ['participant_email_invalid_empty']],
  ['an e-mail that is none', withOne({ email: 'kari' }), ['participant_email_invalid_empty']],
  ['a status nobody may ask for', withOne({ status_id: 2 }), ['field_invalid']],
  ['a birthday that is none', withOne({ date_of_birth: '1990-02-30' }), ['field_invalid']],
  ['a birthday in the year 0', withOne({ date_of_birth: '0000-01-01' }), ['field_invalid']],
  ['a comment that is too long', withOne({ comment: 'x'.repeat(5_001) }), ['field_invalid']],
  ['an unknown product', withOne({ products: [999_999_999] }), ['participant_products_invalid']],
  ['a product that is no id', withOne({ products: ['x'] }), ['participant_products_invalid']],
  [
    "another school's product",
    async () => withOne({ products: [await mainProduct(other, theirs.courseId)] })(),
    ['participant_products_invalid'],
  ],
  [
    'an archived product',
    async () => {
      const product = await createProduct(me, courseId);
      await archive(product);
      return withOne({ products: [product] })();
    },
    ['participant_products_invalid'],
  ],
  [
    'one product twice',
    async () => {
      const extra = await createProduct(me, await me.course());
      return withOne({ products: [await mainProduct(me, courseId), extra, extra] })();
    },
    ['participant_products_invalid'],
  ],
  [
    'only products of another course',
    async () => withOne({ products: [await createProduct(me, await me.course())] })(),
    ['participant_does_not_have_a_course_product'],
  ],
  [
    'two products of the course',
    async () => withOne({ products: [await mainProduct(me, courseId), await createProduct(me, courseId)] })(),
    ['participant_have_multiple_course_products'],
  ],
  [
    'a course whose main product is archived',
    async () => {
      const created = await createBookableDate(me);
      await archive(await mainProduct(me, created.courseId));
      return bookingBody(created.dateId, { participants: persons(2) });
    },
    ['default_course_product_missing'],
  ],
  ['a currency that is none', of({ currency: 'xyz' }), ['field_invalid']],
  ['a currency nothing is sold in', of({ currency: 'eur' }), ['exchange_rate_does_not_exist']],
  ['an unknown customer', of({ customer_id: 999_999_999 }), ['customer_invalid']],
  ["another school's customer", async () => of({ customer_id: await createCustomer(other) })(), ['customer_invalid']],
  [
    'a deactivated customer',
    async () => of({ customer_id: await createCustomer(me, { status: 2 }) })(),
    ['customer_invalid'],
  ],
  ['an unknown campaign', of({ campaign_code: 'nothing' }), ['campaign_code_invalid']],
  ['an unknown voucher', of({ voucher_code: 'nothing' }), ['voucher_code_invalid']],
  [
    "another school's voucher",
    async () => of({ voucher_code: (await createVoucher(other, { amount: '9' })).code })(),
    ['voucher_code_invalid'],
  ],
  [
    'an expired voucher',
    async () => of({ voucher_code: (await createVoucher(me, { amount: '9', expiresAt: past })).code })(),
    ['voucher_code_expired'],
  ],
  [
    'an archived voucher',
    async () => of({ voucher_code: (await createVoucher(me, { amount: '9', archivedAt: past })).code })(),
    ['voucher_code_invalid'],
  ],
  [
    'a deleted voucher',
    async () => of({ voucher_code: (await createVoucher(me, { amount: '9', deletedAt: past })).code })(),
    ['voucher_code_invalid'],
  ],
  [
    'a voucher of another currency',
    async () => of({ voucher_code: (await createVoucher(me, { amount: '9', currency: 'EUR' })).code })(),
    ['voucher_code_invalid'],
  ],
  ['a text that is too long', of({ booker_name: 'x'.repeat(256) }), ['field_invalid']],
  ['an invoice address that is no e-mail', of({ invoice_email: 'x' }), ['field_invalid']],
  ['a switch that is none', of({ config: { seats_availability_check: 'perhaps' } }), ['field_invalid']],
  ['a config that is none', of({ config: 'x' }), ['field_invalid']],
  [
    'a total that is too large',
    async () => {
      const product = await createProduct(me, courseId, { price: '9999999999.99' });
      return of({ participants: persons(2, { products: [product] }) })();
    },
    ['order_could_not_be_created'],
  ],
  [
    'no seat',
    async () => bookingBody((await createBookableDate(me, { capacityMax: 1 })).dateId, { participants: persons(2) }),
    ['no_seats_available'],
  ],
];

test.each(cases)('%s', async (_name, body, codes) => {
  const response = await me.post('/v2/booking', await body(me));
  expect([response.status, errorCodes(response)], response.text).toEqual([400, codes]);
  const { successful, errors, error } = response.json();
  expect([successful, error]).toEqual([false, errors[0].message]);
  expect(errors[0].message.length).toBeGreaterThan(10);
});

test('valid edge cases are booked', async () => {
  for (const fields of [
    {},
    { currency: 'nok' },
    { currency: 'NOK' },
    { participants: persons(2, { products: [] }) },
    { config: [] },
    { config: '[]' },
    { unknown: 'x' },
  ])
    expect((await me.post('/v2/booking', bookingBody(dateId, fields))).status).toBe(201);
});

test('all errors are returned at once, field errors first', async () => {
  const full = await createBookableDate(me, { capacityMax: 1, statusId: 3, deadlineAt: '2020-01-01' });
  const response = await me.post('/v2/booking', {
    coursedate_id: full.dateId,
    currency: 'nothing',
    campaign_code: 'nothing',
    voucher_code: 'nothing',
    customer_id: 999_999_999,
    booker_email: 'x',
    participants: [{ firstname: 'Kari' }, { ...person(), date_of_birth: 'x', products: [999_999_999] }, 7],
  });
  const names = 'a firstname and a lastname of 255 characters at most are needed';
  expect([response.status, response.json().errors]).toEqual([
    400,
    [
      { code: 'payment_method_invalid', message: 'payment_method must be invoice' },
      { code: 'field_invalid', message: 'currency is not valid' },
      { code: 'field_invalid', message: 'booker_email is not valid' },
      { code: 'participant_name_invalid_empty', message: `Participant 1: ${names}` },
      { code: 'participant_email_invalid_empty', message: 'Participant 1: a valid e-mail address is needed' },
      { code: 'field_invalid', message: 'Participant 2: date_of_birth is not valid' },
      { code: 'participant_name_invalid_empty', message: `Participant 3: ${names}` },
      { code: 'participant_email_invalid_empty', message: 'Participant 3: a valid e-mail address is needed' },
      { code: 'course_date_cancelled', message: 'The course date is canceled' },
      { code: 'deadline_passed', message: 'The deadline of the course date has passed' },
      { code: 'participant_products_invalid', message: 'Participant 2: products names what cannot be sold' },
      { code: 'customer_invalid', message: 'customer_id names no active customer' },
      { code: 'campaign_code_invalid', message: 'The campaign code is not valid for this booking' },
      { code: 'voucher_code_invalid', message: 'The voucher code is not valid for this booking' },
      { code: 'no_seats_available', message: 'Participant 2: no seat is available' },
      { code: 'no_seats_available', message: 'Participant 3: no seat is available' },
    ],
  ]);
  const nothing = await me.post('/v2/booking');
  expect(errorCodes(nothing)).toEqual([
    'course_date_identifier_invalid',
    'payment_method_invalid',
    'participant_count_invalid',
  ]);
});

test('errors that depend on an invalid config are omitted', async () => {
  const full = await createBookableDate(me, { capacityMax: 1, statusId: 3, deadlineAt: '2020-01-01' });
  const reported = async (config: unknown) => {
    const response = await book(me, full.dateId, { participants: persons(2), voucher_code: 'nothing', config });
    return response.json<{ errors: { message: string }[] }>().errors.map(({ message }) => message);
  };
  const voucher = 'The voucher code is not valid for this booking';
  expect(await reported({ waiting_list_when_full: 'x' })).toEqual([
    'config.waiting_list_when_full is not valid',
    voucher,
  ]);
  expect(await reported({ reject_passed_deadline: 2 })).toEqual([
    'config.reject_passed_deadline is not valid',
    voucher,
  ]);
  expect(await reported('x')).toEqual(['config is not valid', voucher]);
  expect(await reported({})).toHaveLength(4);
});

test('whitespace around an e-mail is ignored', async () => {
  const email = '  kari@x.example ';
  const sent = { booker_email: email, invoice_email: email, participants: [person({ email })] };
  const { order_id, participants } = await bookOrFail(me, dateId, sent);
  expect((await me.get(`/v2/orders/${order_id}`)).json()).toMatchObject({ invoice_email: email.trim() });
  const participant = (await me.get(`/v2/participants/${participants[0]!.id}`)).json();
  expect([participant.booker_email, participant.user.email]).toEqual([email.trim(), email.trim()]);
});

test('a name of any length fits an ASCII e-mail; a too long combination is reported', async () => {
  // All different, since PostgreSQL compresses stored values.
  const rare = (count: number, from: number) =>
    String.fromCodePoint(...Array.from({ length: count }, (_, n) => 0x20000 + ((from + n * n * 7) % 40_000)));
  const name = { firstname: rare(255, 1), lastname: rare(255, 2) };
  const email = `${'x'.repeat(244)}@x.example`;
  await bookOrFail(me, dateId, { participants: [{ ...name, email }] });
  await bookOrFail(me, dateId, { participants: [{ ...name, firstname: rare(255, 3), email }] });
  const most = { ...name, email: `${rare(136, 5)}@x.example` };
  await bookOrFail(me, dateId, { participants: [{ ...most, firstname: 'Kari' }, most] });
  const response = await book(me, dateId, {
    participants: [person(), { ...name, email: `${rare(244, 4)}@x.example` }],
  });
  expect([response.status, response.json().errors]).toEqual([
    400,
    [{ code: 'field_invalid', message: 'Participant 2: email is not valid' }],
  ]);
});

test.each<[string, string, string]>([
  ['null in JSON', contentTypes.json, '[null,{"email":"x"},%]'],
  ['an empty text in JSON', contentTypes.json, '["",{"email":"x"},%]'],
  ['an empty object in JSON', contentTypes.json, '[{},{"email":"x"},%]'],
  ['an empty array in JSON', contentTypes.json, '[[],{"email":"x"},%]'],
  ['an empty array in numbered JSON', contentTypes.json, '{"0":[],"1":{"email":"x"},"2":%}'],
  ['numbered JSON', contentTypes.json, '{"0":null,"1":{"email":"x"},"2":%}'],
  ['an empty form field', contentTypes.form, 'participants[0]=&participants[1][email]=x'],
  ['JSON in a form', contentTypes.form, `participants=${encodeURIComponent('[null,{"email":"x"}]')}`],
])('an empty participant keeps its index: %s', async (_name, type, participants) => {
  const text =
    type === contentTypes.json
      ? JSON.stringify(bookingBody(dateId, { participants: '' })).replace(
          '""',
          participants.replace('%', JSON.stringify(person())),
        )
      : `coursedate_id=${dateId}&payment_method=invoice&${participants}`;
  const response = await me.post('/v2/booking', text, { 'content-type': type });
  expect([response.status, response.json().errors]).toEqual([
    400,
    ['Participant 1', 'Participant 2'].flatMap((actorName) => [
      {
        code: 'participant_name_invalid_empty',
        message: `${actorName}: a firstname and a lastname of 255 characters at most are needed`,
      },
      { code: 'participant_email_invalid_empty', message: `${actorName}: a valid e-mail address is needed` },
    ]),
  ]);
});

test('an empty participant is skipped beside a named one', async () => {
  for (const nobody of [null, '', {}]) {
    const response = await book(me, dateId, { participants: [nobody, person()] });
    expect([response.status, response.json().error]).toEqual([
      400,
      'Participant 1: a firstname and a lastname of 255 characters at most are needed',
    ]);
  }
});

test('only empty participants count as no participants', async () => {
  for (const participants of [[null], ['', null], { 0: '' }])
    expect(errorCodes(await book(me, dateId, { participants }))).toEqual(['participant_count_invalid']);
});

test('config switches allow booking canceled and past dates', async () => {
  const { dateId } = await createBookableDate(me, {
    statusId: 3,
    deadlineAt: '2020-01-01',
    startAt: '2020-02-01',
    endAt: '2020-02-01',
  });
  const config = { reject_cancelled_course_date: 0, reject_passed_deadline: 0 };
  expect(errorCodes(await book(me, dateId, { config: { ...config, reject_cancelled_course_date: 1 } }))).toEqual([
    'course_date_cancelled',
  ]);
  expect(errorCodes(await book(me, dateId, { config: { ...config, reject_passed_deadline: 1 } }))).toEqual([
    'deadline_passed',
  ]);
  await bookOrFail(me, dateId, { config });
});

test("a participant routed to a child date is checked against the child's state", async () => {
  const { dateId, courseId } = await createBookableDate(me);
  const child = (triggerValue: string, values: object) =>
    addDate(me, courseId, { parentId: dateId, triggerValue, ...values });
  await child('canceled', { statusId: 3 });
  await child('passed', { deadlineAt: '2020-01-01' });
  const participants = ['canceled', undefined, 'passed'].map((trigger_value) => person({ trigger_value }));
  const response = await book(me, dateId, { participants });
  expect(response.json().errors).toEqual([
    { code: 'course_date_cancelled', message: 'Participant 1: The course date is canceled' },
    { code: 'deadline_passed', message: 'Participant 3: The deadline of the course date has passed' },
  ]);
  await bookOrFail(me, dateId, {
    participants,
    config: { reject_cancelled_course_date: 0, reject_passed_deadline: 0 },
  });
});

test.each([
  ['canceled', { statusId: 3 }, 'course_date_cancelled'],
  ['passed', { deadlineAt: '2020-01-01' }, 'deadline_passed'],
])('a %s date rejects participants even if all are routed to an open child', async (_name, values, code) => {
  const { dateId, courseId } = await createBookableDate(me, values);
  await addDate(me, courseId, { parentId: dateId, triggerValue: 'open' });
  const participants = persons(2, { trigger_value: 'open' });
  expect(errorCodes(await book(me, dateId, { participants }))).toEqual([code]);
});

test("the deadline ends with its day in the date's time zone, and not after the date itself", async () => {
  const { dateId } = await createBookableDate(me);
  const dayIn = (zone: string, days = 0) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(Date.now() + days * 86_400_000);
  const bookableWith = async (values: object) => {
    await changeDate(me, dateId, { startAt: '2020-01-01', endAt: '2031-01-01', endTimeAt: null, ...values });
    return (await book(me, dateId)).status === 201;
  };
  for (const zone of ['Pacific/Kiritimati', 'Europe/Oslo', 'Pacific/Pago_Pago']) {
    expect(await bookableWith({ zone, deadlineAt: dayIn(zone) })).toBe(true);
    expect(await bookableWith({ zone, deadlineAt: dayIn(zone, -1) })).toBe(false);
  }
  const zone = 'Pacific/Pago_Pago';
  const [today, yesterday] = [dayIn(zone), dayIn(zone, -1)];
  expect(await bookableWith({ zone, endAt: today, deadlineAt: today })).toBe(true);
  expect(await bookableWith({ zone, endAt: yesterday, deadlineAt: yesterday })).toBe(false);
});

test('a date can be booked until it ends on its last day', async () => {
  // In a time zone where it is about noon, far from the day's boundaries.
  const hours = new Date().getUTCHours() - 12;
  const zone = `Etc/GMT${hours < 0 ? hours : `+${hours}`}`;
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(Date.now());
  const day = { zone, startAt: today, endAt: today, deadlineAt: today, startTimeAt: '00:00' };
  const ending = async (endTimeAt: string | null) =>
    errorCodes(await book(me, (await createBookableDate(me, { ...day, endTimeAt })).dateId));
  expect([await ending('00:01'), await ending('23:58'), await ending(null)]).toEqual([
    ['deadline_passed'],
    undefined,
    undefined,
  ]);
});

const said = (code: string, message: string) => ({ successful: false, errors: [{ code, message }], error: message });

test('every error of the booking endpoints has the booking error format', async () => {
  const endpoints = [
    ['POST', '/v2/booking'],
    ['PUT', '/v2/booking/1/deregister'],
    ['GET', '/v2/campaigns/validate/x?course_id=1'],
    ['GET', '/v2/vouchers/validate/x'],
  ] as const;
  for (const [method, url] of endpoints) {
    const wrongKey = await send(app, { method, url, headers: { 'x-api-key': 'wrong' } });
    expect([wrongKey.status, wrongKey.json()]).toEqual([401, said('unauthorized', 'Wrong API Key')]);
    const asMain = await me.request(method)(url.replace('?', '/more?') + '/more/again');
    expect([asMain.status, errorCodes(asMain)]).toEqual([404, ['resource_not_found']]);
    const patched = await me.request('PATCH')(url);
    const allow = method === 'GET' ? 'GET, HEAD' : method;
    expect([patched.status, patched.json()]).toEqual([405, said('method_not_allowed', `This path takes ${allow}`)]);
    expect(patched.headers).toMatchObject({ allow });
  }
  const big = await me.post('/v2/booking', { x: 'x'.repeat(1_100_000) });
  expect([big.status, big.json()]).toEqual([413, said('body_too_large', 'The body is too large')]);
  const xml = await me.post('/v2/booking', '<a/>', { 'content-type': 'text/xml' });
  expect([xml.status, errorCodes(xml)]).toEqual([415, ['content_type_not_supported']]);
  const torn = await me.post('/v2/booking', '{', { 'content-type': 'application/json' });
  expect([torn.status, torn.json()]).toEqual([400, said('field_invalid', 'The body is not valid JSON')]);
  for (const id of [999_999_999, 'x', '0', '-1', '1.5']) {
    const response = await me.put(`/v2/booking/${id}/deregister`);
    expect([response.status, errorCodes(response)]).toEqual([404, ['resource_not_found']]);
  }
  const config = await me.put('/v2/booking/1/deregister', { config: { with_fee: 'perhaps' } });
  expect([config.status, config.json()]).toEqual([400, said('field_invalid', 'Field(s) not valid: config')]);
  const undecodable = await me.get('/v2/vouchers/validate/%ff');
  expect([undecodable.status, errorCodes(undecodable)]).toEqual([400, ['field_invalid']]);
});

test('rate limit and overload errors have the booking error format', async () => {
  const database = openTestDatabase(await ownDatabase(), { writeMs: 1_000, poolSize: 2 });
  const testApp = await openTestApp(database, {
    limits: { bodyBytes: 1_000_000, requestMs: 1_000, keepAliveMs: 1_000, invalidKeysPerMinute: 1 },
  });
  try {
    const guest = await testApp.createProvider();
    const wrong = () => send(testApp.app, { method: 'POST', url: '/v2/booking', headers: { 'x-api-key': 'wrong' } });
    await wrong();
    const many = await wrong();
    expect([many.status, errorCodes(many), Number(many.headers['retry-after'])]).toEqual([
      429,
      ['too_many_requests'],
      expect.any(Number),
    ]);

    let release: () => void = () => undefined;
    const holding = database.write([guest.id], allAreas, () => new Promise<void>((done) => (release = done)));
    const busy = await guest.post('/v2/booking', bookingBody(1));
    expect([busy.status, errorCodes(busy), busy.headers['retry-after']]).toEqual([503, ['service_unavailable'], '1']);
    release();
    await holding;
  } finally {
    await testApp.close();
  }
});
