import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBookableDate, bookingBody, bookOrFail, errorCodes, person } from '../../support/booking.ts';
import {
  contentTypes,
  dialects,
  encodeBody,
  hostileValue,
  hashRows,
  contentTypeHeader,
  type Fields,
} from '../../support/request-bodies.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();
const { dateId } = await createBookableDate(me);

/** Asserts for any body: no 5xx, and error codes without internals. */
function expectValidResponse(response: TestResponse) {
  expect([200, 201, 400, 404, 413, 415], response.text.slice(0, 300)).toContain(response.status);
  const { successful, errors, error } = response.json();
  expect(successful).toBe(response.status < 400);
  if (successful) return;
  expect(errors.length).toBeGreaterThan(0);
  for (const one of errors) {
    expect(Object.keys(one)).toEqual(['code', 'message']);
    expect(one.code).toMatch(/^[a-z_]+$/);
  }
  expect(error).toBe(errors[0].message);
  expect(new Set(errors.map((one: object) => JSON.stringify(one))).size).toBe(errors.length);
  expect(response.text).not.toMatch(/select |drizzle|at \/|\.[jt]s:\d|node_modules|postgres/i);
}

const top = [
  'coursedate_id',
  'payment_method',
  'currency',
  'campaign_code',
  'voucher_code',
  'booker_name',
  'booker_email',
];
const more = [
  'company',
  'gln_number',
  'customer_id',
  'invoice_zipcode',
  'invoice_email',
  'participants',
  'config',
  '__proto__',
];
const ofPerson = [
  'firstname',
  'lastname',
  'email',
  'phone',
  'date_of_birth',
  'comment',
  'status_id',
  'products',
  'trigger_value',
];
const ofConfig = ['reject_passed_deadline', 'seats_availability_check', 'waiting_list_when_full', 'x'];
const value = fc.oneof({ weight: 3, arbitrary: hostileValue }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) });
const some = (names: string[], maxKeys: number) =>
  fc.dictionary(fc.constantFrom(...names), value, { maxKeys, noNullPrototype: true });
const anyBody = fc
  .record({
    fields: some([...top, ...more], 2),
    people: fc.array(fc.oneof({ weight: 4, arbitrary: some(ofPerson, 2) }, { weight: 1, arbitrary: value }), {
      maxLength: 3,
    }),
    config: fc.oneof(fc.constant(undefined), some(ofConfig, 2), value),
  })
  .map(({ fields, people, config }): Fields => {
    const participants = people.map((one) =>
      typeof one === 'object' && one !== null && !Array.isArray(one) ? { ...person(), ...one } : one,
    );
    return { ...bookingBody(dateId), participants, config, ...fields };
  });

test.each(dialects)(
  'POST /v2/booking never fails on any body as %s',
  async (dialect) => {
    const send = async (body: Fields) =>
      expectValidResponse(await me.post('/v2/booking', encodeBody(dialect, body), contentTypeHeader(dialect)));
    await fc.assert(fc.asyncProperty(anyBody, send), { numRuns: runs(0.75) });
  },
  60_000,
);

test('POST /v2/booking writes nothing when it rejects a request', async () => {
  const send = async (body: Fields, dialect: (typeof dialects)[number]) => {
    const before = await hashRows(me);
    const { status } = await me.post('/v2/booking', encodeBody(dialect, body), contentTypeHeader(dialect));
    expect((await hashRows(me)) === before).toBe(status !== 201);
  };
  await fc.assert(fc.asyncProperty(anyBody, fc.constantFrom(...dialects), send), { numRuns: runs(0.5) });
});

test('any text gives the same result in every body format', async () => {
  const texts = fc.oneof(
    hostileValue.filter((one) => typeof one === 'string'),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  );
  const names = [
    'booker_name',
    'company',
    'invoice_zipcode',
    'campaign_code',
    'currency',
    'customer_id',
    'payment_method',
  ];
  const body = fc.record({
    fields: fc.dictionary(fc.constantFrom(...names), texts, { maxKeys: 2, noNullPrototype: true }),
    ofOne: fc.dictionary(fc.constantFrom(...ofPerson.filter((name) => name !== 'products')), texts, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
  });
  const check = async ({ fields, ofOne }: { fields: Fields; ofOne: Fields }) => {
    const sent = { ...bookingBody(dateId), ...fields, participants: [{ ...person(), ...ofOne }, person()] };
    const responses = [];
    for (const dialect of dialects)
      responses.push(await me.post('/v2/booking', encodeBody(dialect, sent), contentTypeHeader(dialect)));
    const reported = responses.map(
      (response) => (response.status === 201 ? response.json().summary.total_incl_vat : response.text) as unknown,
    );
    expect([reported[1], reported[2]]).toEqual([reported[0], reported[0]]);
  };
  await fc.assert(fc.asyncProperty(body, check), { numRuns: runs(0.5) });
});

const ofBooking = (name: string) => (value: string) => ({ [name]: value });
const ofParticipant = (name: string) => (value: string) => ({ participants: [person({ [name]: value })] });
test.each([
  ['booker_name', 255, ofBooking],
  ['company', 255, ofBooking],
  ['company_number', 255, ofBooking],
  ['gln_number', 255, ofBooking],
  ['invoice_reference', 255, ofBooking],
  ['invoice_address_1', 255, ofBooking],
  ['booker_phone', 5_000, ofBooking],
  ['phone', 5_000, ofParticipant],
  ['position', 5_000, ofParticipant],
  ['comment', 5_000, ofParticipant],
  ['trigger_value', 5_000, ofParticipant],
] as const)('%s is limited to %i characters', async (name, limit, of) => {
  const { dateId } = await createBookableDate(me);
  for (const character of ['x', '🚑']) {
    const longest = character.repeat(limit);
    await bookOrFail(me, dateId, of(name)(longest));
    const response = await me.post('/v2/booking', bookingBody(dateId, of(name)(`${longest}${character}`)));
    expect([response.status, errorCodes(response)]).toEqual([400, ['field_invalid']]);
    expect(response.json().error).toMatch(new RegExp(`${name} is not valid$`));
  }
});

test('the longest trigger value selects its child date', async () => {
  const { dateId, courseId } = await createBookableDate(me);
  const trigger_value = 'x'.repeat(5_000);
  const child = await me.post(`/v2/courses/${courseId}/coursedates`, {
    ...{ start_at: '2030-06-10', end_at: '2030-06-10', parent_id: dateId, trigger_value },
  });
  const { participants } = await bookOrFail(me, dateId, { participants: [person({ trigger_value })] });
  const read = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<{ coursedate: Fields }>();
  expect(read.coursedate['id']).toBe(child.json<{ coursedate_id: number }>().coursedate_id);
});

test.each(['/v2/booking/1/deregister', '/v2/participants/1'])(
  'PUT %s never fails on any body',
  async (path) => {
    const { participants, booking_id } = await bookOrFail(me, dateId);
    const url = path
      .replace('booking/1', `booking/${booking_id}`)
      .replace('participants/1', `participants/${participants[0]!.id}`);
    const names = [
      'config',
      'with_fee',
      'idStatus',
      'idPaid',
      'completed',
      'no_show',
      'custom_properties',
      '__proto__',
    ];
    const send = async (body: Fields, dialect: (typeof dialects)[number]) => {
      const response = await me.put(url, encodeBody(dialect, body), contentTypeHeader(dialect));
      expect([200, 400], response.text.slice(0, 300)).toContain(response.status);
    };
    await fc.assert(fc.asyncProperty(some(names, 3), fc.constantFrom(...dialects), send), { numRuns: runs(0.75) });
  },
  60_000,
);

test('a truncated or random body gets an error that names the problem', async () => {
  const whole = {
    form: encodeBody('form', bookingBody(dateId)),
    multipart: encodeBody('multipart', bookingBody(dateId)),
    json: encodeBody('json', bookingBody(dateId)),
  };
  const torn = fc
    .constantFrom(...dialects)
    .chain((dialect) =>
      fc.nat(whole[dialect].length).map((at) => ({ dialect, body: Buffer.from(whole[dialect].slice(0, at)) })),
    );
  const bytes = fc
    .tuple(fc.constantFrom(...dialects), fc.uint8Array({ minLength: 1, maxLength: 60 }))
    .map(([dialect, body]) => ({ dialect, body: Buffer.from(body) }));
  const send = async ({ dialect, body }: { dialect: (typeof dialects)[number]; body: Buffer }) =>
    expectValidResponse(await me.post('/v2/booking', body, { 'content-type': contentTypes[dialect] }));
  await fc.assert(fc.asyncProperty(fc.oneof(torn, bytes), send), { numRuns: runs() });
});

test.each(['campaigns', 'vouchers'])(
  'GET /v2/%s/validate/:code never fails on any code and query',
  async (what) => {
    const text = fc.oneof(
      hostileValue.filter((one) => typeof one === 'string'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const query = fc.record({ code: text, name: fc.constantFrom('course_id', 'coursedate_id', 'x', '[]'), of: text });
    const send = async ({ code, name, of }: { code: unknown; name: string; of: unknown }) => {
      const said = (one: unknown) => encodeURIComponent(String(one).toWellFormed().slice(0, 500));
      const path = said(code).replaceAll('.', '%2E') || '%20';
      const response = await me.get(`/v2/${what}/validate/${path}?${name}=${said(of)}`);
      expect([400, 404], `${response.status} ${response.text.slice(0, 300)}`).toContain(response.status);
      expect(response.json().successful, path).toBe(false);
    };
    await fc.assert(fc.asyncProperty(query, send), { numRuns: runs(0.75) });
  },
  60_000,
);
