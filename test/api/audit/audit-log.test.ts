import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { listAuditEntries } from '../../../src/database/audit-log.ts';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { setPassword } from '../../../src/domains/school/auth/password-service.ts';
import { requestPartner } from '../../../src/domains/school/schools/partner-service.ts';
import { book, createBookableDate, bookOrFail, bookingBody } from '../../support/booking.ts';
import { addAdminUser, addInstructor } from '../../support/dates.ts';
import { minimalPerson, minimalSchool, endpointUrl, sendWrite, writeEndpoints } from '../../support/request-bodies.ts';
import { createOrder, createUser } from '../../support/orders.ts';
import { createAdminToken, signedInVisitor, createUserToken, visitor } from '../../support/pages.ts';
import { openTestDatabase, openTestApp, ownDatabase, sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, database, createProvider } = testApp;

/** The provider's entries, newest first. */
const entriesOf = ({ id }: { id: number }, of = database) =>
  listAuditEntries(of, { providerId: id, since: null, limit: 1_000 });

/** Entries written during the work. */
async function entriesDuring(me: Provider, work: () => Promise<unknown>) {
  const before = (await entriesOf(me)).length;
  await work();
  const all = await entriesOf(me);
  return all.slice(0, all.length - before);
}

const keyOf = async ({ id }: Provider) => {
  const first = 'select min(id) as id from api_keys where provider_id = $1';
  return (await database.pool.query<{ id: number }>(first, [id])).rows[0]!.id;
};

test.each(writeEndpoints)('$name writes one audit entry for the key, and none when rejected', async (endpoint) => {
  const me = await createProvider();
  const url = await endpointUrl(me, endpoint);
  const entries = await entriesDuring(me, async () => {
    const response = await sendWrite(me, endpoint, 'json', endpoint.full);
    expect(response.status, response.text).toBe(endpoint.created);
  });
  expect(entries).toEqual([
    {
      entry_id: expect.any(Number) as number,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string,
      provider_id: me.id,
      actor: 'key',
      actor_id: await keyOf(me),
      action: expect.stringMatching(new RegExp(`^${endpoint.name.replaceAll(/:\w+/g, ':\\w+')}$`)) as string,
      item_ids: expect.any(Array) as number[],
    },
  ]);
  const named = [...url.matchAll(/\/(\d+)/g)].map(([, id]) => Number(id));
  expect(entries[0]!.item_ids.slice(0, named.length)).toEqual(named);
  const created = endpoint.method === 'POST' || endpoint.name.includes('admin-users');
  expect(entries[0]!.item_ids).toHaveLength(named.length + Number(created));

  const wrong = { ...endpoint.full, [Object.keys(endpoint.full)[0]!]: [['nonsense']] };
  const none = await entriesDuring(me, async () => {
    expect((await sendWrite(me, endpoint, 'json', wrong)).status).toBe(400);
    expect((await me.request(endpoint.method)(url, endpoint.full, { 'x-api-key': 'wrong' })).status).toBe(401);
    await me.get(url);
  });
  expect(none).toEqual([]);
});

test('entries name the created, deleted, booked or exported item', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const [booking] = await entriesDuring(me, () => book(me, dateId));
  const { rows } = await database.pool.query<{ id: number }>('select id from bookings where provider_id = $1', [me.id]);
  expect(booking).toMatchObject({ action: 'POST /v2/booking', item_ids: [rows[0]!.id] });

  const instructorId = await addInstructor(me);
  const [archived] = await entriesDuring(me, () => me.request('DELETE')(`/v2/instructors/${instructorId}`));
  expect(archived).toMatchObject({ action: 'DELETE /v2/instructors/:id', item_ids: [instructorId] });
  const { orderId } = await createOrder(me, { courseId });
  const [exported] = await entriesDuring(me, () => me.post(`/v2/orders/${orderId}/export`));
  expect(exported).toMatchObject({ action: 'POST /v2/orders/:id/export', item_ids: [orderId] });

  let id = 0;
  const [created] = await entriesDuring(me, async () => (id = await me.course()));
  expect(created).toMatchObject({ action: 'POST /v2/courses', item_ids: [id] });
  const [gone] = await entriesDuring(me, () => me.request('DELETE')(`/v2/courses/${id}`));
  expect(gone).toMatchObject({ action: 'DELETE /v2/courses/:id', item_ids: [id] });
});

test('a write without changes leaves no entry and the same data version', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const withKey = { 'idempotency-key': 'once' };
  const fields = bookingBody(dateId);
  const { participantIds, orderId } = await createOrder(me, { courseId });
  const instructorId = await addInstructor(me);
  const person = minimalPerson();
  const { booking_id } = await bookOrFail(me, dateId);
  const ways: [string, () => Promise<{ status: number; text: string }>][] = [
    ['a booking that is sent again', () => me.post('/v2/booking', fields, withKey)],
    ['a booking that was deregistered', () => me.put(`/v2/booking/${booking_id}/deregister`, {})],
    ['a tag that is there', () => me.post('/v2/course-tags', { title: 'Weekend' })],
    ['a participant as they are', () => me.put(`/v2/participants/${participantIds[0]!}`, { completed: true })],
    ['an instructor who is archived', () => me.request('DELETE')(`/v2/instructors/${instructorId}`)],
    ['an order that is exported', () => me.post(`/v2/orders/${orderId}/export`)],
    ['an admin user with the same roles', () => me.post('/v2/admin-users', person)],
  ];
  for (const [name, request] of ways) {
    expect(await entriesDuring(me, request), name).toHaveLength(1);
    const { version } = await me.ctx();
    expect(await entriesDuring(me, async () => expect((await request()).status, name).toBeLessThan(300)), name).toEqual(
      [],
    );
    expect((await me.ctx()).version, name).toBe(version);
  }
});

test('a request that changes two providers writes one entry for each of them only', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  let schoolId = 0;
  const entries = await entriesDuring(me, async () => {
    const response = await me.post('/schools', minimalSchool);
    schoolId = Number(response.json<{ school_id: string }>().school_id);
  });
  const reported = { actor: 'key', actor_id: await keyOf(me), action: 'POST /schools', item_ids: [schoolId] };
  expect(entries).toMatchObject([{ ...reported, provider_id: me.id }]);
  expect(await entriesOf({ id: schoolId })).toMatchObject([{ ...reported, provider_id: schoolId }]);
  expect(await entriesOf(other)).toEqual([]);
});

test("actions on the user pages are logged with the user's id", async () => {
  const me = await createProvider();
  const userId = await createUser(me, { username: `user-${Math.random()}` });
  const password = 'fjord and forest';
  const anyone = visitor(app);
  const chosen = await entriesDuring(me, async () => {
    const link = `/my/password/${await createUserToken(me, 'password', userId)}`;
    expect((await anyone.get(link)).status).toBe(200);
    expect((await anyone.post(link, { password: 'short' })).status).toBe(400);
    expect((await anyone.post(link, { password })).status).toBe(303);
    expect((await anyone.post(link, { password })).status).toBe(410);
  });
  const byUser = { actor: 'course_user', actor_id: userId, item_ids: [userId] };
  expect(chosen).toMatchObject([{ ...byUser, action: 'POST /my/password/:token' }]);

  const browser = await signedInVisitor(app, me, userId);
  const changed = await entriesDuring(me, async () => {
    await browser.get('/my');
    expect((await browser.post('/my/password', { old: 'wrong', password: 'mountain and moor' })).status).toBe(400);
    expect((await browser.post('/my/password', { old: password, password: 'mountain and moor' })).status).toBe(303);
  });
  const asked = (result: string) => ({ ...byUser, action: `POST /my/password (${result})` });
  expect(changed).toMatchObject([{ ...byUser, action: 'POST /my/password' }, asked('succeeded'), asked('failed')]);

  const adminUserId = await addAdminUser(me);
  const asAdmin = await entriesDuring(me, async () => {
    const link = `/my/password/${await createAdminToken(me, adminUserId)}`;
    expect((await anyone.post(link, { password })).status).toBe(200);
  });
  expect(asAdmin).toMatchObject([{ actor: 'admin_user', actor_id: adminUserId, item_ids: [adminUserId] }]);
});

test('sign-ons are logged with their result, also failed ones, unless the limit refused them unchecked', async () => {
  const me = await createProvider();
  const username = `user-${Math.random()}`;
  const userId = await createUser(me, { username });
  const password = 'fjord and forest';
  await setPassword(await me.ctx(), userId, password);
  const ask = (name: string, tried: string) =>
    me.post('/v2/check-user-credentials', { username: name, password: tried, create_login_url: true });

  let loginUrl = '';
  const asked = await entriesDuring(me, async () => {
    expect((await ask('nobody', password)).json()).toEqual({ valid: false });
    expect((await ask(username, 'wrong')).json()).toEqual({ valid: false });
    loginUrl = (await ask(username, password)).json<{ login_url: string }>().login_url;
  });
  const byKey = { actor: 'key', actor_id: await keyOf(me) };
  const action = (result: string) => `POST /v2/check-user-credentials (${result})`;
  expect(asked).toMatchObject([
    { ...byKey, action: action('succeeded'), item_ids: [userId] },
    { ...byKey, action: action('failed'), item_ids: [userId] },
    { ...byKey, action: action('failed'), item_ids: [] },
  ]);

  const anyone = visitor(app);
  const opened = await entriesDuring(me, async () => {
    const { pathname } = new URL(loginUrl);
    expect((await anyone.get(pathname)).status).toBe(303);
    expect((await anyone.get(pathname)).status).toBe(410);
    expect((await anyone.get(`/my/sign-in/${me.id}_${'x'.repeat(43)}`)).status).toBe(410);
  });
  const byLink = { actor: 'course_user', actor_id: userId, item_ids: [userId] };
  // A link that never existed leaves no entry, so that a stranger cannot fill the log.
  expect(opened).toMatchObject([
    { ...byLink, action: 'GET /my/sign-in/:token (failed)' },
    { ...byLink, action: 'GET /my/sign-in/:token (succeeded)' },
  ]);

  const limited = await entriesDuring(me, async () => {
    await Promise.all(Array.from({ length: 9 }, () => ask(username, 'wrong')));
    expect((await ask(username, password)).status).toBe(429);
  });
  expect(limited).toHaveLength(9);
});

/** A separate database, changed by these statements, with a provider. */
async function worldWith(statements: string) {
  const own = await openTestApp(openTestDatabase(await ownDatabase()));
  onTestFinished(() => own.close());
  const me = await own.createProvider();
  await own.database.pool.query(statements);
  return { own, me };
}
const failing = (when: string, state: string) => `create sequence attempts;
  create function fail() returns trigger language plpgsql as $$ begin
    if ${when} then raise exception 'no' using errcode = '${state}'; end if;
    return null;
  end $$;
  create constraint trigger failing after insert on courses deferrable initially deferred
    for each row execute function fail()`;

test('no change is committed without its entry', async () => {
  const { own, me } = await worldWith('alter table audit_entries add constraint never check (false) not valid');
  expect((await me.post('/v2/courses', { title: 'Untold' })).status).toBe(500);
  expect((await me.get('/v2/courses')).json()).toEqual([]);
  await own.database.pool.query('alter table audit_entries drop constraint never');
  expect((await me.post('/v2/courses', { title: 'Told' })).status).toBe(201);
});

test('no entry is committed without its change, and a retried change has one', async () => {
  const failsFor = await worldWith(failing('true', 'XX000'));
  expect((await failsFor.me.post('/v2/courses', { title: 'Not kept' })).status).toBe(500);
  expect(await entriesOf(failsFor.me, failsFor.own.database)).toEqual([]);

  const again = await worldWith(failing("nextval('attempts') < 3", '40001'));
  expect((await again.me.post('/v2/courses', { title: 'Kept' })).status).toBe(201);
  expect(await entriesOf(again.me, again.own.database)).toHaveLength(1);
});

test('nested units of work write one entry per committed change', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const auditContext = { actor: 'operator', actorId: null, action: 'several' } as const;
  const request = () =>
    database.withAudit(auditContext).atomically((within) => requestPartner(within, me.id, other.id));
  expect(await entriesDuring(me, request)).toMatchObject([{ actor: 'operator', action: 'several' }]);
  expect(await entriesDuring(me, request)).toEqual([]);
});

test('an entry costs one statement, and the commit does not wait for it', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const seen: { text: string; isAnswered: boolean }[] = [];
  const prototype = Client.prototype as unknown as { query: (config: string | { text: string }) => Promise<unknown> };
  const { query } = prototype;
  onTestFinished(() => void (prototype.query = query));
  let recordIsAnswered: boolean | undefined;
  prototype.query = function look(...args) {
    const text = typeof args[0] === 'string' ? args[0] : args[0].text;
    if (text === 'commit') recordIsAnswered = seen.find((one) => one.text.includes('audit_entries'))?.isAnswered;
    const one = { text, isAnswered: false };
    seen.push(one);
    const answering = query.apply(this, args);
    void Promise.resolve(answering).then(() => (one.isAnswered = true));
    return answering;
  };
  await bookOrFail(me, dateId);
  expect(seen.filter(({ text }) => text.includes('audit_entries'))).toHaveLength(1);
  expect(recordIsAnswered).toBe(false);
});

test('an entry contains no request data', async () => {
  const me = await createProvider();
  const secret = 'Sent-by-somebody';
  const { dateId } = await createBookableDate(me, { course: { title: secret } });
  const person = { firstname: secret, lastname: secret, email: `${secret}@x.example` };
  await book(me, dateId, { participants: [person] }, { 'idempotency-key': secret, 'x-request-id': secret });
  await me.post(`/v2/courses?${secret}=${secret}`, { title: `${secret} again` });
  const { rows } = await database.pool.query('select e::text from audit_entries e where provider_id = $1', [me.id]);
  expect(rows).toHaveLength(3);
  expect(JSON.stringify(rows)).not.toContain(secret);
  expect(JSON.stringify(rows)).not.toContain(me.apiKey);
});

test('entries distinguish the keys of a provider', async () => {
  const me = await createProvider();
  const { apiKey, keyId } = await createKey(await me.ctx(), {});
  const entries = await entriesDuring(me, async () => {
    await me.course();
    await me.post('/v2/courses', { title: 'By the other' }, { 'x-api-key': apiKey });
  });
  expect(entries.map(({ actor_id }) => actor_id)).toEqual([keyId, await keyOf(me)]);
});
