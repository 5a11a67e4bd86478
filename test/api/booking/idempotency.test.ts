import { expect, test } from 'vitest';
import {
  createBookableDate,
  book,
  bookingBody,
  errorCodes,
  deregister,
  person,
  persons,
  getSummary,
} from '../../support/booking.ts';
import { encodeBody, contentTypeHeader } from '../../support/request-bodies.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();
const key = (name: string) => ({ 'idempotency-key': name });
const recordsOf = async (me: Provider) =>
  (
    await database.pool.query<{ text: string; hours: string }>(
      'select r::text as text, extract(epoch from expires_at - created_at) / 3600 as hours from idempotency_records r where provider_id = $1',
      [me.id],
    )
  ).rows;
const bookingsOf = async (me: Provider) => (await me.get('/v2/orders')).json<unknown[]>().length;
const expire = (me: Provider, expiresAt: string) =>
  write(me, (tx) =>
    tx.execute(`update idempotency_records set expires_at = '${expiresAt}' where provider_id = ${me.id}`),
  );

test('a repeated key and body returns the first response without booking again', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 3 });
  const body = bookingBody(dateId, { participants: persons(2) });
  const responses = [];
  for (let n = 0; n < 3; n += 1) responses.push(await me.post('/v2/booking', body, key('first')));
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  expect(await bookingsOf(me)).toBe(1);
  const another = await me.post('/v2/booking', bookingBody(dateId), key('second'));
  expect(getSummary(another).order_id).not.toBe(getSummary(responses[0]!).order_id);
});

test('bodies are compared after parsing: format, order and spelling do not matter', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const { firstname, lastname, email } = person();
  const body = {
    ...{ coursedate_id: dateId, payment_method: 'invoice', currency: 'nok' },
    participants: [{ firstname, lastname, email, status_id: 1 }],
    config: { waiting_list_when_full: false, seats_availability_check: true },
  };
  const first = await me.post('/v2/booking', body, key('k'));
  for (const dialect of ['form', 'multipart', 'json'] as const)
    expect(
      (await me.post('/v2/booking', encodeBody(dialect, body), { ...contentTypeHeader(dialect), ...key('k') })).text,
    ).toBe(first.text);
  const otherwise = {
    config: { seats_availability_check: 'yes', waiting_list_when_full: 0 },
    participants: [{ email: ` ${email}`, status_id: '1', lastname: `${lastname} `, firstname }],
    ...{ currency: 'NOK', payment_method: 'invoice', coursedate_id: String(dateId), booker_name: '', unknown: 1 },
  };
  expect((await me.post('/v2/booking', otherwise, key('k'))).text).toBe(first.text);
  expect(await bookingsOf(me)).toBe(1);
});

test('an explicit default equals an omitted field', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const somebody = person({ trigger_value: 'x' });
  const body = { ...bookingBody(dateId), participants: [somebody] };
  const first = await me.post('/v2/booking', body, key('k'));
  const explicit = { ...body, participants: [{ ...somebody, status_id: 1 }] };
  expect([first.status, (await me.post('/v2/booking', explicit, key('k'))).text]).toEqual([201, first.text]);
  expect((await me.post('/v2/booking', { ...body, config: { waiting_list_when_full: 1 } }, key('k'))).status).toBe(400);
});

test('a key is rejected with another body or path', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const body = bookingBody(dateId);
  const { booking_id } = getSummary(await me.post('/v2/booking', body, key('k')));
  const message = 'The Idempotency-Key was used with another request';
  const reused = { successful: false, errors: [{ code: 'idempotency_key_reused', message }], error: message };
  for (const change of [
    { booker_name: 'x' },
    { participants: [person()] },
    { config: { waiting_list_when_full: 1 } },
  ]) {
    const response = await me.post('/v2/booking', { ...body, ...change }, key('k'));
    expect([response.status, response.json()]).toEqual([400, reused]);
  }
  const response = await me.put(`/v2/booking/${booking_id}/deregister`, {}, key('k'));
  expect([response.status, response.json()]).toEqual([400, reused]);
  expect(await bookingsOf(me)).toBe(1);
  expect((await me.put(`/v2/booking/${booking_id}/deregister`, {}, key('unused'))).status).toBe(200);
});

test.each<[string, (body: ReturnType<typeof bookingBody>) => object]>([
  ['a currency that is none', (body) => ({ ...body, currency: 'x' })],
  ['no payment method', (body) => ({ ...body, payment_method: '' })],
  ['a text too long beside the rest', (body) => ({ ...body, booker_name: 'x'.repeat(256) })],
  ['a text beside the rest that cannot be read', (body) => ({ ...body, booker_name: 'a\0' })],
  ['a switch that cannot be read', (body) => ({ ...body, config: { waiting_list_when_full: 'perhaps' } })],
  [
    'a birthday that cannot be read',
    ({ participants: [one], ...body }) => ({
      ...body,
      participants: [{ ...one, date_of_birth: 'x' }],
    }),
  ],
  ['one who is nobody beside the rest', (body) => ({ ...body, participants: [...body.participants, 7] })],
  ['no participants', (body) => ({ ...body, participants: [] })],
  ['nothing', () => ({})],
])("a used key is rejected before another body's errors are reported: %s", async (_name, change) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const body = bookingBody(dateId);
  const first = await me.post('/v2/booking', body, key('k'));
  const response = await me.post('/v2/booking', change(body), key('k'));
  expect([response.status, errorCodes(response)]).toEqual([400, ['idempotency_key_reused']]);
  // Without the key, or with another one, the validation errors are returned.
  const plain = errorCodes(await me.post('/v2/booking', change(body)));
  expect(plain).not.toContain('idempotency_key_reused');
  expect(errorCodes(await me.post('/v2/booking', change(body), key('unused')))).toEqual(plain);
  expect((await me.post('/v2/booking', body, key('k'))).text).toBe(first.text);
  expect(await bookingsOf(me)).toBe(1);
});

test('an unparsable body is reported before the key is checked', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  await book(me, dateId, {}, key('k'));
  for (const [text, message] of [
    ['{"coursedate_id":', 'The body is not valid JSON'],
    ['[1]', 'The body must hold named fields'],
  ]) {
    const response = await me.post('/v2/booking', text, { ...contentTypeHeader('json'), ...key('k') });
    expect([response.status, response.json().errors]).toEqual([400, [{ code: 'field_invalid', message }]]);
  }
});

test('a rejected booking can be retried with the same key, even with another body', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1 });
  const { booking_id } = getSummary(await book(me, dateId));
  const body = bookingBody(dateId);
  expect((await me.post('/v2/booking', body, key('k'))).status).toBe(400);
  expect(await recordsOf(me)).toEqual([]);
  await deregister(me, booking_id);
  expect((await me.post('/v2/booking', body, key('k'))).status).toBe(201);
});

test('idempotency keys are separate per school', async () => {
  for (const me of [await createProvider(), await createProvider()]) {
    const { dateId } = await createBookableDate(me);
    expect((await book(me, dateId, {}, key('shared'))).status).toBe(201);
  }
});

test('a key is stored hashed for 24 hours with a response without names', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const somebody = person({ firstname: 'Unmistakable', lastname: 'Unforgettable' });
  const body = bookingBody(dateId, { participants: [somebody] });
  const first = await me.post('/v2/booking', body, key('my-own-key'));
  const [record] = await recordsOf(me);
  expect(Number(record!.hours)).toBeCloseTo(24, 1);
  expect(record!.text).not.toMatch(new RegExp(`my-own-key|Unmistakable|Unforgettable|${somebody.email}`));

  await expire(me, '2020-01-01');
  const again = await me.post('/v2/booking', { ...body, booker_name: 'x' }, key('my-own-key'));
  expect(again.status).toBe(201);
  expect(again.text).not.toBe(first.text);
  expect(await recordsOf(me)).toHaveLength(1);
});

test.each(['', 'x'.repeat(256)])('a key of %j is ignored', async (name) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const response = await book(me, dateId, { payment_method: 'card' }, key(name));
  expect(response.json().errors).toEqual([
    { code: 'field_invalid', message: 'Idempotency-Key is not valid' },
    { code: 'payment_method_invalid', message: 'payment_method must be invoice' },
  ]);
  expect(errorCodes(await me.put('/v2/booking/1/deregister', {}, key(name)))).toEqual(['field_invalid']);
  expect((await book(me, dateId, {}, key('x'.repeat(255)))).status).toBe(201);
});
