import { describe, expect, test } from 'vitest';
import { bookingBody, createBookableDate, errorCodes, person } from '../../support/booking.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { hashRows, minimalSchool } from '../../support/request-bodies.ts';
import { send, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, createProvider } = testApp;
const me = await createProvider();
const strict = { prefer: 'handling=strict' };
const problem = { accept: 'application/problem+json' };
const applied = 'handling=strict';
const vary = 'Accept-Encoding, Accept-Language, X-API-Key';

describe('Prefer: handling=strict', () => {
  test('refuses unknown query parameters of a list, and does not read it', async () => {
    const { status, headers, text } = await me.get('/v2/courses?limt=1&limit=1&a%20b=1', strict);
    expect([status, text]).toEqual([400, '{"error":"Field(s) not known: limt,a?b"}']);
    expect(headers).toMatchObject({ 'x-error-code': 'field_unknown', 'preference-applied': applied });
    expect(headers['vary']).toBe(`${vary}, Prefer`);
    expect(headers).not.toHaveProperty('x-ignored-parameters');
    expect(headers).not.toHaveProperty('etag');
  });

  test('refuses unknown fields of a body, also those of members, and writes nothing', async () => {
    const me = await createProvider();
    const fields = { title: 'Strict', titel: 'x', tags: [{ title: 'A', titel: 'B' }] };
    const { status, text, headers } = await me.post('/v2/courses?limt=1', fields, strict);
    expect([status, text]).toEqual([400, '{"error":"Field(s) not known: limt,titel,tags[0].titel"}']);
    expect(headers).not.toHaveProperty('location');
    expect((await me.get('/v2/courses')).json()).toEqual([]);
  });

  test('takes what is known, as without it', async () => {
    const me = await createProvider();
    const id = 7;
    const created = await me.post('/v2/instructors', { firstname: 'Kari', lastname: 'Nordmann', id }, strict);
    expect([created.status, created.headers['preference-applied']]).toEqual([201, applied]);
    const item = created.json<{ id: number }>();
    expect((await me.put(`/v2/instructors/${item.id}`, item, strict)).status).toBe(200);
    const [list, plain] = [await me.get('/v2/instructors?limit=1', strict), await me.get('/v2/instructors?limit=1')];
    expect([list.status, list.text, list.headers['vary']]).toEqual([200, plain.text, `${vary}, Prefer`]);
    expect(plain.headers).not.toHaveProperty('preference-applied');
    expect(plain.headers['vary']).toBe(vary);
  });

  test('reports in the form of each endpoint, with the names as fields of problem details', async () => {
    const text = 'Field(s) not known: nam';
    const booking = await me.post('/v2/booking', { nam: 1 }, strict);
    expect(booking.json()).toMatchObject({ successful: false, error: text });
    expect(errorCodes(booking)?.[0]).toBe('field_unknown');
    const admin = await me.post('/v2/admin-users', { nam: 1 }, strict);
    expect(admin.json()).toEqual({ errors: { missing_fields: ['email', 'role_ids'], not_valid: ['nam'] } });
    const details = await me.get('/v2/courses?nam=1', { ...strict, ...problem });
    expect(details.json()).toMatchObject({ code: 'field_unknown', fields: [{ field: 'nam', code: 'unknown' }] });
    const older = await me.get('/schools?nam=1', strict);
    expect([older.status, older.json()]).toEqual([400, { status: 'failure', error: text }]);
  });

  test('tells missing, invalid and unknown names together', async () => {
    const me = await createProvider();
    const customer = await me.post('/v2/customers', { titel: 'x', email: 'x' }, strict);
    const text = 'Missing field(s): title. Field(s) not valid: email. Field(s) not known: titel';
    expect([customer.status, customer.headers['x-error-code'], customer.json()]).toEqual([
      ...[400, 'field_unknown'],
      { error: text },
    ]);
    const details = await me.post('/v2/customers', { titel: 'x', email: 'x' }, { ...strict, ...problem });
    expect(details.json()).toMatchObject({
      ...{ title: text, code: 'field_unknown', errors: [{ code: 'field_unknown', message: text }] },
      fields: [
        { field: 'title', code: 'missing' },
        { field: 'email', code: 'invalid' },
        { field: 'titel', code: 'unknown' },
      ],
    });
    const list = await me.get('/v2/courses?limt=1&limit=0', strict);
    expect(list.json()).toEqual({ error: 'Field(s) not valid: limit. Field(s) not known: limt' });
    const included = await me.get('/v2/orders?include=x&limt=1', strict);
    expect(included.headers['x-error-code']).toBe('field_unknown');
    expect(included.json<{ error: string }>().error).toMatch(
      /^Field\(s\) not valid: include. Field\(s\) not known: limt. Supported values of include: /,
    );

    // An id of another item, a rule of another date, and the older interface.
    const seller = await me.post('/v2/customers', { title: 'C', seller_id: 999_999_999, titel: 1 }, strict);
    expect(seller.json()).toEqual({ error: 'Field(s) not valid: seller_id. Field(s) not known: titel' });
    const date = { start_at: '2031-06-10', end_at: '2031-06-12', timezone: 'Mars/Base', titel: 1 };
    const refused = await me.post(`/v2/courses/${await me.course()}/coursedates`, date, strict);
    expect(refused.json()).toEqual({ error: 'Field(s) not valid: timezone. Field(s) not known: titel' });
    const older = await me.post('/courses', { titel: 1 }, strict);
    expect(older.json()).toEqual({ status: 'failure', error: 'Missing field(s): title. Field(s) not known: titel' });
  });

  test('tells every error of a booking beside unknown names', async () => {
    const { dateId } = await createBookableDate(me);
    const participants = [person(), person({ email: '', nam: 1 })];
    const body = { coursedate_id: dateId, payment_method: 'cash', participants };
    const booking = await me.post('/v2/booking', body, { ...strict, ...problem });
    expect(errorCodes(booking)).toEqual([
      ...['field_unknown', 'payment_method_invalid', 'participant_email_invalid_empty'],
    ]);
    const fields = booking.json<{ fields: object[] }>().fields;
    expect(fields).toContainEqual({ field: 'participants[1].nam', code: 'unknown' });
    expect(fields).toContainEqual({ field: 'participants[1].email', code: 'missing' });

    const [valid, keyed] = [bookingBody(dateId), { 'idempotency-key': 'k' }];
    expect((await me.post('/v2/booking', valid, { ...strict, ...keyed })).status).toBe(201);
    const again = await me.post('/v2/booking', { ...valid, nam: 1 }, { ...strict, ...keyed });
    expect([again.status, errorCodes(again)]).toEqual([400, ['field_unknown']]);
  });

  test('refuses an Idempotency-Key that has no effect', async () => {
    const me = await createProvider();
    const keyed = { ...strict, 'idempotency-key': 'k' };
    const { dateId } = await createBookableDate(me);
    const bookings = [bookingBody(dateId)];
    const before = await hashRows(me);
    const text = 'Field(s) not known: Idempotency-Key';
    for (const [path, body] of [
      ['/v2/batch/booking', { bookings }],
      ['/v2/check-user-credentials', { username: 'nobody', password: 'nothing' }],
      ['/v2/webhooks', { url: 'https://hooks.example/' }],
      ['/v2/orders/999999999/export', {}],
      ['/v2/orders/999999999/credit', { dry_run: true }],
      ['/v2/orders/999999999/credit?dry_run=1', {}],
      ['/courses', { title: 'Older' }],
    ] as const) {
      const response = await me.post(path, body, keyed);
      expect([response.status, response.json<{ error: string }>().error], path).toEqual([400, text]);
      expect(response.headers).not.toHaveProperty('x-ignored-parameters');
    }
    const both = await me.post('/v2/batch/booking?nam=1', { bookings }, keyed);
    expect(both.json<{ error: string }>().error).toBe('Field(s) not known: nam,Idempotency-Key');
    expect(await hashRows(me)).toBe(before);

    expect((await me.post('/v2/courses', { title: 'Keyed' }, keyed)).status).toBe(201);
    expect((await me.put('/v2/schools', minimalSchool, keyed)).status).toBe(200);
    const found = await me.post('/v2/batch/booking', { bookings }, { 'idempotency-key': 'k' });
    expect([found.status, found.headers['x-ignored-parameters']]).toEqual([200, 'Idempotency-Key']);
  });

  test('reads the first 1,000 characters of the header', async () => {
    const [short, long] = [900, 1_000].map((length) => `${'x'.repeat(length)}, handling=strict`);
    expect((await me.get('/v2/courses?nam=1', { prefer: short! })).status).toBe(400);
    expect((await me.get('/v2/courses?nam=1', { prefer: long! })).status).toBe(200);
  });

  test('leaves an unknown path as it is', async () => {
    const { status, headers } = await me.get('/v2/nothing?nam=1', strict);
    expect([status, headers['x-error-code'], headers['preference-applied']]).toEqual([
      404,
      'resource_not_found',
      undefined,
    ]);
  });

  test('names at most ten', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}`);
    const { text } = await me.get(`/v2/durations?${names.map((name) => `${name}=1`).join('&')}`, strict);
    expect(text).toBe(JSON.stringify({ error: `Field(s) not known: ${names.slice(0, 10).join(',')}` }));
    const long = await me.get(`/v2/durations?${'x'.repeat(5_000)}=1`, strict);
    expect(long.json<{ error: string }>().error).toHaveLength('Field(s) not known: '.length + 100);
  });

  test.each([
    ['handling=strict', true],
    ['Handling = STRICT', true],
    ['handling="strict"', true],
    ['respond-async, wait=10, handling=strict; of=it', true],
    ['x="a, handling=lenient", handling=strict', true],
    ['handling=lenient', false],
    ['handling=lenient, handling=strict', false],
    ['handling', false],
    ['x="a, handling=strict"', false],
    ['x; handling=strict', false],
    ['handling="strict', false],
    ['strict', false],
    ['', false],
  ])('%s: %s', async (prefer, isStrict) => {
    const { status, headers } = await me.get('/v2/courses?limt=1', { prefer });
    expect([status, headers['preference-applied']]).toEqual(isStrict ? [400, applied] : [200, undefined]);
    expect(headers['x-ignored-parameters']).toBe(isStrict ? undefined : 'limt');
  });

  test('works on a web page with a publishable key', async () => {
    const origin = 'https://www.school.example';
    const page = await withProfile(testApp, me, 'publishable', { origins: [origin] });
    const asked = (names: string) =>
      send(app, {
        method: 'OPTIONS',
        url: '/v2/courses',
        headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': names },
      });
    const allowed = 'X-API-Key, If-None-Match, X-Request-Id';
    expect((await asked('prefer,x-api-key')).headers['access-control-allow-headers']).toBe(`${allowed}, Prefer`);
    expect((await asked('x-api-key')).headers['access-control-allow-headers']).toBe(allowed);
    for (const [url, expected] of [
      ['/v2/courses', 200],
      ['/v2/courses?limt=1', 400],
    ] as const) {
      const { status, headers } = await page.get(url, { origin, ...strict });
      expect(status).toBe(expected);
      expect(String(headers['access-control-expose-headers']).split(', ')).toContain('Preference-Applied');
    }
    const plain = await page.get('/v2/courses', { origin });
    expect(String(plain.headers['access-control-expose-headers'])).not.toContain('Preference');
  });
});
