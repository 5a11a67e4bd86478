import { describe, expect, test } from 'vitest';
import { createBookableDate } from '../../support/booking.ts';
import { getEndpoints, hasParameter } from '../../support/isolation.ts';
import { countWritten, keyedWrites } from '../../support/keyed-writes.ts';
import { createUser, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { database, createProvider } = testApp;
const key = (name: string) => ({ 'idempotency-key': name });
const message = 'The Idempotency-Key was used with another request';
const replayed = ({ headers }: { headers: object }) => (headers as Record<string, unknown>)['idempotent-replayed'];
const records = async (me: Provider, condition = 'true') =>
  (
    await database.pool.query<{ count: number }>(
      `select count(*)::int as count from idempotency_records where provider_id = $1 and ${condition}`,
      [me.id],
    )
  ).rows[0]!.count;

/** Each other POST, and why it takes no key. */
const excluded: Record<string, string> = {
  'POST /v2/batch/booking': 'each of its bookings has a key of its own',
  'POST /v2/booking/{id}/link': 'creates nothing; while a mail waits, no other is sent',
  'POST /v2/check-user-credentials': 'creates nothing',
  'POST /v2/courses/{course_id}/coursedates/{id}/cancel': 'a second request changes nothing',
  'POST /v2/courses/{id}/interests': 'a repetition adds nothing',
  'POST /v2/course-users/{id}/erase': 'creates nothing; a second request erases what was added since',
  'POST /v2/orders/{id}/export': 'creates nothing; a second request changes nothing',
  'POST /v2/webhooks': 'the response has a secret',
  'POST /v2/webhooks/{id}/rotate': 'the response has a secret',
  'POST /v2/webhooks/{id}/test': 'a test is sent each time',
};

test('each POST of the main interface takes a key, or is excluded for a reason', () => {
  const posts = getEndpoints(testApp).filter(({ name }) => name.startsWith('POST /v2/'));
  const [taking, others] = [true, false].map((takes) =>
    posts.filter((one) => hasParameter(one, 'Idempotency-Key') === takes).map(({ name }) => name),
  );
  expect(taking!.sort()).toEqual(keyedWrites.map(({ route }) => route).sort());
  expect(others!.sort()).toEqual(Object.keys(excluded).sort());
});

describe.each(keyedWrites)('$route', (one) => {
  test('a repeated request gets the first response, and writes nothing', async () => {
    const me = await createProvider();
    const { path, body } = await one.prepare(me);
    const before = await countWritten(database.pool, one, me.id);
    const first = await me.post(path, body, key('first'));
    expect([200, 201], first.text).toContain(first.status);
    expect(replayed(first)).toBeUndefined();

    for (let n = 0; n < 2; n += 1) {
      const again = await me.post(path, body, key('first'));
      expect([again.status, again.text, replayed(again)]).toEqual([first.status, first.text, 'true']);
      expect(again.headers['location']).toBe(first.headers['location']);
    }
    expect(await countWritten(database.pool, one, me.id)).toBe(before + 1);
    expect(await records(me)).toBe(1);
  });

  test('of requests at once with one key one writes, and both get its response', async () => {
    const me = await createProvider();
    const { path, body } = await one.prepare(me);
    const before = await countWritten(database.pool, one, me.id);
    const responses = await Promise.all([1, 2, 3].map(() => me.post(path, body, key('k'))));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size, responses[0]!.text).toBe(1);
    expect(responses.map(replayed).sort()).toEqual(['true', 'true', undefined]);
    expect(await countWritten(database.pool, one, me.id)).toBe(before + 1);
  });

  test('another request with the key is refused', async () => {
    const me = await createProvider();
    const { path, body } = await one.prepare(me);
    await me.post(path, body, key('k'));
    const [otherPath, other] = [one.otherPath ?? path, { ...body, ...one.other }];
    const response = await me.post(otherPath, other, key('k'));
    expect([response.status, response.headers['x-error-code']]).toEqual([400, 'idempotency_key_reused']);
    const details = await me.post(otherPath, other, { ...key('k'), accept: 'application/problem+json' });
    expect(details.json()).toMatchObject({ title: message, code: 'idempotency_key_reused' });
  });

  test.each(['', 'x'.repeat(256)])('the key %j is refused', async (name) => {
    const me = await createProvider();
    const { path, body } = await one.prepare(me);
    const response = await me.post(path, body, key(name));
    expect([response.status, response.text]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(await records(me)).toBe(0);
    expect((await me.post(path, body, key('x'.repeat(255)))).status).toBeLessThan(300);
  });
});

test('operations have keys of their own, and so have schools', async () => {
  for (const me of [await createProvider(), await createProvider()]) {
    for (const { prepare } of keyedWrites) {
      const { path, body } = await prepare(me);
      const { status, headers } = await me.post(path, body, key('one for all'));
      expect([status < 300, headers['idempotent-replayed']], path).toEqual([true, undefined]);
    }
  }
});

test('an equal key below another course is refused', async () => {
  const me = await createProvider();
  const [one, other] = [await me.course(), await me.course()];
  const days = { start_at: '2031-06-10', end_at: '2031-06-12' };
  expect((await me.post(`/v2/courses/${one}/coursedates`, days, key('k'))).status).toBe(201);
  expect((await me.post(`/v2/courses/${other}/coursedates`, days, key('k'))).json()).toEqual({ error: message });
});

test('what was written meanwhile does not change the repeated response', async () => {
  const me = await createProvider();
  const person = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
  const first = await me.post('/v2/course-users', person, key('k'));
  await me.put(`/v2/course-users/${first.json<{ id: number }>().id}`, { firstname: 'Ola' });
  expect((await me.post('/v2/course-users', person, key('k'))).text).toBe(first.text);
});

test('an error, a dry run and a 200 without a change are not stored', async () => {
  const me = await createProvider();
  expect((await me.post('/v2/courses', {}, key('k'))).status).toBe(400);
  const title = (await me.post('/v2/courses', { title: 'Taken' })).status === 201 ? 'Taken' : '';
  expect((await me.post('/v2/courses', { title }, key('k'))).status).toBe(400);
  await me.post('/v2/course-tags', { title: 'Found' });
  expect((await me.post('/v2/course-tags', { title: 'Found' }, key('k'))).status).toBe(200);
  const [id, into] = [await createUser(me), await createUser(me)];
  const dryRun = await me.post(`/v2/course-users/${id}/merge`, { into, dry_run: true }, key('k'));
  expect([dryRun.status, dryRun.headers['x-ignored-parameters']]).toEqual([200, 'Idempotency-Key']);
  expect(await records(me)).toBe(0);
  expect((await me.post('/v2/courses', { title: 'Free' }, key('k'))).status).toBe(201);
  expect((await me.post('/v2/course-tags', { title: 'New' }, key('k'))).status).toBe(201);
  expect((await me.post(`/v2/course-users/${id}/merge`, { into }, key('k'))).status).toBe(200);
});

test('a POST that takes no key names it among the ignored parameters', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const booked = await me.post('/v2/booking', {
    ...{ coursedate_id: dateId, payment_method: 'invoice', booker_email: 'ola@people.example' },
    participants: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' }],
  });
  const webhook = await me.post('/v2/webhooks', { url: 'https://hooks.example/', is_active: false }, key('k'));
  const { id } = webhook.json<{ id: number }>();
  const { summary } = booked.json<{ summary: { order_id: string; booking_id: string } }>();
  const responses = {
    'POST /v2/batch/booking': await me.post('/v2/batch/booking', { bookings: [{}] }, key('k')),
    'POST /v2/booking/{id}/link': await me.post(`/v2/booking/${summary.booking_id}/link`, {}, key('k')),
    'POST /v2/check-user-credentials': await me.post(
      '/v2/check-user-credentials?x=1',
      { username: 'nobody', password: 'nothing' },
      key('k'),
    ),
    'POST /v2/courses/{course_id}/coursedates/{id}/cancel': await me.post(
      `/v2/courses/${courseId}/coursedates/${dateId}/cancel`,
      { dry_run: true },
      key('k'),
    ),
    'POST /v2/courses/{id}/interests': await me.post(
      `/v2/courses/${await me.course()}/interests`,
      { email: 'kari@people.example' },
      key('k'),
    ),
    'POST /v2/course-users/{id}/erase': await me.post(`/v2/course-users/${await createUser(me)}/erase`, {}, key('k')),
    'POST /v2/orders/{id}/export': await me.post(`/v2/orders/${summary.order_id}/export`, {}, key('k')),
    'POST /v2/webhooks': webhook,
    'POST /v2/webhooks/{id}/rotate': await me.post(`/v2/webhooks/${id}/rotate`, {}, key('k')),
    'POST /v2/webhooks/{id}/test': await me.post(`/v2/webhooks/${id}/test`, {}, key('k')),
  };
  expect(Object.keys(responses).sort()).toEqual(Object.keys(excluded).sort());
  for (const [route, { headers }] of Object.entries(responses)) {
    const before = route.includes('credentials') ? 'x, ' : '';
    expect(headers['x-ignored-parameters'], route).toBe(`${before}Idempotency-Key`);
  }
  expect(await records(me)).toBe(0);
});

test('an answer that shows a course user is marked; a request whose record was deleted finds the person', async () => {
  const me = await createProvider();
  const person = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
  const first = await me.post('/v2/course-users', person, key('k'));
  await me.post('/v2/courses', { title: 'Course' }, key('k'));
  expect([await records(me), await records(me, 'has_course_user')]).toEqual([2, 1]);
  await write(me, (tx) =>
    tx.execute(`delete from idempotency_records where provider_id = ${me.id} and has_course_user`),
  );
  const again = await me.post('/v2/course-users', person, key('k'));
  expect([again.status, again.text, replayed(again)]).toEqual([200, first.text, undefined]);
});

test('other methods and the older interface take no key, and do not name it', async () => {
  const me = await createProvider();
  const id = await me.course();
  for (const response of [
    await me.put(`/v2/courses/${id}`, { text_lead: 'x' }, key('k')),
    await me.get('/v2/courses', key('k')),
    await me.post('/courses', { title: 'Older' }, key('k')),
  ]) {
    expect(response.status).toBe(200);
    expect(response.headers).not.toHaveProperty('x-ignored-parameters');
  }
  expect(await records(me)).toBe(0);
});
