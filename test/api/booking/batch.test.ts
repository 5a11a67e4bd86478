import { expect, test } from 'vitest';
import { book, bookingBody, createBookableDate, person, persons, seatCounters } from '../../support/booking.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { database, createProvider } = await sharedTestApp();

type Item = Record<string, any>;
const send = async (me: Provider, bookings: unknown[], fields: Item = {}) => {
  const response = await me.post('/v2/batch/booking', { bookings, ...fields });
  expect(response.status, response.text).toBe(200);
  return response.json<{ results: Item[] }>().results;
};
const count = async (me: Provider, from: string) =>
  (await database.pool.query<{ n: number }>(`select count(*)::int as n from ${from} where provider_id = $1`, [me.id]))
    .rows[0]!.n;
const statuses = (results: Item[]) => results.map(({ status }) => status as number);
const codes = ({ errors }: Item) => errors?.map(({ code }: Item) => code);

async function stage(date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  return { me, ...(await createBookableDate(me, date)) };
}

test('each booking has the answer of POST /v2/booking, in its place; a refused one undoes no other', async () => {
  const { me, dateId } = await stage({ capacityMax: 2 });
  const nameless = { ...bookingBody(dateId), participants: [{ email: 'x' }], customer_id: 'x' };
  const alone = [await me.post('/v2/booking', nameless), await me.post('/v2/booking', {})];
  const results = await send(me, [bookingBody(dateId), nameless, {}, bookingBody(dateId), bookingBody(dateId)]);
  expect(statuses(results)).toEqual([201, 400, 400, 201, 400]);
  const full = (await book(me, dateId)).json<Item>();
  expect(results[1]).toEqual({ status: 400, ...alone[0]!.json<Item>() });
  expect(results[2]).toEqual({ status: 400, ...alone[1]!.json<Item>() });
  expect(results[4]).toEqual({ status: 400, ...full });
  expect(await seatCounters(me, dateId)).toEqual([2, 0, 0, 0]);
  const { booking_id, order_id } = results[3]!['summary'];
  expect((await me.get(`/v2/booking/${booking_id}`)).json<Item>()['summary']).toMatchObject(results[3]!['summary']);
  expect((await me.get(`/v2/orders/${order_id}`)).status).toBe(200);
});

test('works in every body format', async () => {
  const { me, dateId } = await stage();
  for (const dialect of dialects) {
    const body = encodeBody(dialect, { bookings: [bookingBody(dateId), bookingBody(dateId)] });
    const response = await me.post('/v2/batch/booking', body, contentTypeHeader(dialect));
    expect([dialect, statuses(response.json<{ results: Item[] }>().results)]).toEqual([dialect, [201, 201]]);
  }
});

test('a batch that is sent again with its keys books nothing twice, and books what was missing', async () => {
  const { me, dateId } = await stage({ capacityMax: 2 });
  const keyed = (key: string) => ({ ...bookingBody(dateId), idempotency_key: key });
  const bookings = [keyed('a'), keyed('b'), keyed('c')];
  const first = await send(me, bookings);
  expect(statuses(first)).toEqual([201, 201, 400]);
  await database
    .withAudit({ actor: 'operator', actorId: null, action: 'test' })
    .write([me.id], ['dates'], ({ tx }) =>
      tx.$client.query('update course_dates set capacity_max = 3 where provider_id = $1', [me.id]),
    );
  const again = await send(me, bookings);
  expect(again.slice(0, 2)).toEqual(first.slice(0, 2).map((one) => ({ idempotent_replayed: true, ...one })));
  expect([statuses(again), await count(me, 'bookings')]).toEqual([[201, 201, 201], 3]);
  const reused = await send(me, [keyed('a'), { ...bookings[0], idempotency_key: 'd' }]);
  expect(reused.map(codes)).toEqual([['idempotency_key_reused'], ['no_seats_available']]);
});

test('a key is that of POST /v2/booking', async () => {
  const { me, dateId } = await stage();
  const body = { ...bookingBody(dateId), config: { seats_availability_check: 1 } };
  const alone = await me.post('/v2/booking', body, { 'idempotency-key': 'one' });
  const [first, second] = await send(me, [
    { ...body, idempotency_key: 'one' },
    { ...body, idempotency_key: 'two' },
  ]);
  expect(first).toEqual({ status: 201, idempotent_replayed: true, ...alone.json<Item>() });
  const replayed = await me.post('/v2/booking', body, { 'idempotency-key': 'two' });
  expect([replayed.headers['idempotent-replayed'], replayed.json()]).toEqual([
    'true',
    { successful: true, summary: second!['summary'] },
  ]);
});

test('two equal batches at once book each key once', async () => {
  const { me, dateId } = await stage();
  const bookings = Array.from({ length: 10 }, (_, n) => ({ ...bookingBody(dateId), idempotency_key: `key ${n}` }));
  const all = await Promise.all([1, 2, 3].map(() => send(me, bookings)));
  expect(await count(me, 'bookings')).toBe(10);
  const ids = all.map((results) => results.map(({ summary }) => summary.booking_id as string));
  expect(ids).toEqual([ids[0], ids[0], ids[0]]);
});

test('each booking has an audit entry of its own', async () => {
  const { me, dateId } = await stage();
  const results = await send(me, [bookingBody(dateId), bookingBody(dateId)]);
  const { rows } = await database.pool.query(
    'select action, item_ids as ids from audit_entries where provider_id = $1 and action like $2 order by at',
    [me.id, '%batch/booking'],
  );
  const ids = results.map(({ summary }) => [summary.booking_id as string]);
  expect(rows).toEqual(ids.map((one) => ({ action: 'POST /v2/batch/booking', ids: one })));
});

test.each([
  ['in the body', { dry_run: true }, ''],
  ['in the query', {}, '?dry_run=1'],
])('dry_run %s books nothing; each booking meets those before it', async (_, fields, query) => {
  const { me, dateId } = await stage({ capacityMax: 3 });
  const booked = bookingBody(dateId, { participants: persons(2) });
  const keyed = { ...booked, idempotency_key: 'a' };
  const group = { coursedate_id: dateId, payment_method: 'invoice', places: 1 };
  const bookings = [keyed, booked, { coursedate_id: dateId }, keyed, group];
  const response = await me.post(`/v2/batch/booking${query}`, { bookings, ...fields });
  expect(response.status, response.text).toBe(200);
  const { results } = response.json<{ results: Item[] }>();
  expect(statuses(results)).toEqual([201, 400, 400, 201, 201]);
  expect([codes(results[1]!), results[3]!['idempotent_replayed']]).toEqual([['no_seats_available'], true]);
  const { order_id, booking_id, ...summary } = (await book(me, dateId, booked)).json<Item>()['summary'];
  expect([order_id, booking_id]).toEqual([expect.any(String), expect.any(String)]);
  const participants = [{ status_id: 1 }, { status_id: 1 }];
  expect(results[0]).toEqual({ status: 201, successful: true, summary: { ...summary, participants } });
  expect(await count(me, 'bookings')).toBe(1);
  expect(await count(me, 'idempotency_records')).toBe(0);
});

test('a dry run has the results of the batch after it: seats, children, uses, balance and keys', async () => {
  const { me, dateId, courseId } = await stage({ capacityMax: 6, capacityOverbook: 1, capacityWait: 2 });
  await me.post(`/v2/courses/${courseId}/coursedates`, {
    ...{ start_at: '2035-06-10', end_at: '2035-06-11', parent_id: dateId, trigger_value: 'child', capacity_max: 2 },
  });
  await me.post('/v2/vouchers', { code: 'GIFT', amount: 3_000 });
  const campaign = { title: 'Two', campaign_code: 'TWO', discount_type: 'Percent', discount_value: 10, max_uses: 2 };
  expect((await me.post('/v2/campaigns', campaign)).status).toBe(201);
  const config = { waiting_list_when_full: true };
  const one = (fields: Item = {}) => bookingBody(dateId, { participants: [person()], config, ...fields });
  const child = { participants: [{ ...person(), trigger_value: 'CHILD' }] };
  const keyed = { ...one(), idempotency_key: 'k' };
  const bookings = [
    one({ campaign_code: 'TWO', voucher_code: 'GIFT' }),
    one({ campaign_code: 'TWO', voucher_code: 'GIFT' }),
    one({ campaign_code: 'TWO', voucher_code: 'GIFT' }),
    one({ voucher_code: 'GIFT' }),
    ...[one(child), one(child), one(child)],
    ...[keyed, keyed, { ...one(), idempotency_key: 'k' }],
    ...[one({ participants: [{ ...person(), status_id: 7 }] }), one(), one(), one(), one(), one()],
    { coursedate_id: dateId, payment_method: 'invoice', places: 1 },
  ];
  const dry = await send(me, bookings, { dry_run: true });
  const withoutIds = ({ summary, ...result }: Item) => {
    if (summary === undefined) return result;
    const participants = summary.participants.map(({ status_id }: Item) => ({ status_id }));
    return { ...result, summary: { ...summary, order_id: undefined, booking_id: undefined, participants } };
  };
  expect(dry).toEqual((await send(me, bookings)).map(withoutIds));
  expect(new Set(dry.flatMap((result) => codes(result) ?? []))).toEqual(
    new Set(['campaign_code_used_up', 'no_seats_available', 'idempotency_key_reused']),
  );
  expect(dry.flatMap(({ summary }) => summary?.paid_by_voucher ?? []).length).toBe(3);
});

test('a dry run needs no lock', async () => {
  const { me, dateId } = await stage();
  const results = await database.write([me.id], ['dates'], () =>
    send(me, [bookingBody(dateId), bookingBody(dateId)], { dry_run: true }),
  );
  expect(statuses(results)).toEqual([201, 201]);
});

test.each([
  ['no bookings', { other: 1 }, 'bookings'],
  ['an empty list', { bookings: [] }, 'bookings'],
  ['201 bookings', { bookings: Array(201).fill({}) }, 'bookings'],
  ['a booking that is none', { bookings: [{}, 'x'] }, 'bookings'],
  ['a dry_run that is none', { bookings: [{}], dry_run: 'x' }, 'dry_run'],
])('%s is refused as a whole', async (_, body, field) => {
  const { me, dateId } = await stage();
  const text = JSON.stringify(body).replaceAll('{}', JSON.stringify(bookingBody(dateId)));
  const response = await me.post('/v2/batch/booking', JSON.parse(text) as object);
  expect([response.status, response.text]).toEqual([400, expect.stringContaining(field)]);
  expect(await count(me, 'bookings')).toBe(0);
});

test('a dry run has a limit of persons; an item names an invalid key', async () => {
  const { me, dateId } = await stage({ capacityMax: 0 });
  const group = { coursedate_id: dateId, payment_method: 'invoice', places: 200 };
  const response = await me.post('/v2/batch/booking', { bookings: Array(11).fill(group), dry_run: 1 });
  expect([response.status, response.json<Item>()['errors'][0].code]).toEqual([400, 'participant_count_invalid']);
  const [result] = await send(me, [{ ...bookingBody(dateId, { participants: [person()] }), idempotency_key: '' }]);
  expect([result!['status'], result!['errors']]).toEqual([
    400,
    [{ code: 'field_invalid', message: 'idempotency_key is not valid' }],
  ]);
});
