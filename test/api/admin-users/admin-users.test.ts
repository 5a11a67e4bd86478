import { expect, test } from 'vitest';
import { dialects, encodeBody, newEmail, contentTypeHeader } from '../../support/request-bodies.ts';
import { write } from '../../support/orders.ts';
import { send, openTestAppForFile, type Provider } from '../../support/test-app.ts';
import { allAreas } from '../../../src/database/areas.ts';

const testApp = await openTestAppForFile();
const { app, database, createProvider } = testApp;

let created = 0;
const kari = { firstname: 'Kari', lastname: 'Nordmann', role_ids: [1] };
const asText = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

const save = (me: Provider, fields: Record<string, unknown>) => me.post('/v2/admin-users', fields);
const members = async (me: Provider) => (await me.get('/v2/admin-users')).json();

/** No endpoint creates roles. */
async function newRole(me: Provider, title = `Role ${(created += 1)}`, description = '') {
  return write(me, async (tx, now) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into roles (provider_id, title, description, created_at, updated_at)
       values (${me.id}, '${title}', '${description}', '${now}', '${now}') returning id`,
    );
    return rows[0]!.id;
  });
}

async function invitations(me: Provider) {
  const { rows } = await database.pool.query(
    `select purpose, user_id, admin_user_id, sent_at, due_at <= clock_timestamp() as due from outbox where provider_id = $1 order by id`,
    [me.id],
  );
  return rows;
}

test.each(dialects)('POST /v2/admin-users creates a person and returns every field (%s)', async (dialect) => {
  const me = await createProvider();
  const own = await newRole(me);
  const email = newEmail();
  const fields = {
    id: 1,
    created_at: '1999-01-01 00:00:00',
    updated_at: '1999-01-01 00:00:00',
    email,
    role_ids: [own, 1],
    firstname: ' Åse ',
    lastname: 'Ødegård 🚑',
    position: 'Leder & sjef',
    phone_prefix: '+47',
    phone: '22 33 44 55',
    booking_email: 'booking@people.example',
    send_invite: true,
  };
  const response = await me.post('/v2/admin-users', encodeBody(dialect, fields), contentTypeHeader(dialect));
  expect(response.status).toBe(201);
  const user = response.json();
  expect(user).toEqual({
    id: expect.any(Number),
    firstname: 'Åse',
    lastname: 'Ødegård 🚑',
    email,
    position: 'Leder & sjef',
    phone_prefix: '+47',
    phone: '22 33 44 55',
    booking_email: 'booking@people.example',
    role_ids: [1, own],
    created_at: expect.stringMatching(asText),
    updated_at: user.created_at,
  });
  expect(user.created_at.startsWith('1999')).toBe(false);
  expect(await members(me)).toEqual([user]);
});

test('only required fields: the others are empty and an invitation is queued', async () => {
  const me = await createProvider();
  const { id, ...rest } = (await save(me, { ...kari, email: newEmail() })).json();
  expect(rest).toMatchObject({ position: '', phone_prefix: '', phone: '', booking_email: '', role_ids: [1] });
  expect(await invitations(me)).toEqual([
    { purpose: 'invitation', user_id: null, admin_user_id: id, sent_at: null, due: true },
  ]);
});

test.each(['1,ROLE', ' 1 , ROLE ', '1,,ROLE,1'])('role_ids as a list with commas: %s', async (spelling) => {
  const me = await createProvider();
  const own = await newRole(me);
  const role_ids = spelling.replace('ROLE', String(own));
  expect((await save(me, { ...kari, email: newEmail(), role_ids })).json().role_ids).toEqual([1, own]);
});

test('send_invite=false and a repeated post for a member queue no invitation', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const email = newEmail();
  expect((await save(me, { ...kari, email, send_invite: '0' })).status).toBe(201);
  expect((await save(me, { ...kari, email, send_invite: true })).status).toBe(200);
  expect((await save(other, { ...kari, email, send_invite: false })).status).toBe(200);
  expect([await invitations(me), await invitations(other)]).toEqual([[], []]);
});

test('a post for an existing member replaces the roles and ignores profile fields', async () => {
  const me = await createProvider();
  const [a, b] = [await newRole(me), await newRole(me)];
  const email = newEmail();
  const first = (await save(me, { ...kari, email, role_ids: [1, a], position: 'Boss', phone: '1' })).json();
  const other = (await save(me, { ...kari, email: newEmail() })).json();
  const response = await save(me, {
    email: email.toUpperCase(),
    role_ids: [a, b],
    firstname: 'Ola',
    lastname: 'Hansen',
    position: 'Other',
    phone_prefix: '+46',
    phone: '2',
    booking_email: 'x@people.example',
  });
  expect(response.status).toBe(200);
  const ignored = 'email, firstname, lastname, position, phone_prefix, phone, booking_email';
  expect(response.headers['x-ignored-parameters']).toBe(ignored);
  expect(response.json()).toEqual({ ...first, role_ids: [a, b], updated_at: expect.stringMatching(asText) });
  expect(await members(me)).toEqual([response.json(), other]);
  const again = await save(me, { ...kari, email, role_ids: [a, b], position: 'Boss', phone: '' });
  expect([again.status, again.headers['x-ignored-parameters']]).toEqual([200, undefined]);
});

test('a post for the last administrator does not take its role', async () => {
  const me = await createProvider();
  const own = await newRole(me);
  const [email, other] = [newEmail(), newEmail()];
  const { id } = (await save(me, { ...kari, email })).json();
  await save(me, { ...kari, email: other, role_ids: [own] });
  const refused = await save(me, { email, role_ids: [own] });
  expect([refused.status, refused.json()]).toEqual([400, { errors: { missing_fields: [], not_valid: ['role_ids'] } }]);
  expect((await me.get(`/v2/admin-users/${id}`)).json().role_ids).toEqual([1]);
  expect((await save(me, { email: other, role_ids: [1, own] })).status).toBe(200);
  const posts = [email, other].map((address) => save(me, { email: address, role_ids: [own] }));
  expect((await Promise.all(posts)).map(({ status }) => status).sort()).toEqual([200, 400]);
});

test('updated_at changes when only the roles change', async () => {
  const me = await createProvider();
  const own = await newRole(me);
  const email = newEmail();
  const { id } = (await save(me, { ...kari, email })).json();
  await save(me, { ...kari, email: newEmail() });
  const readTimestamps = async () => {
    const { rows } = await database.pool.query(
      'select updated_at::text as at, updated_at > created_at as moved from admin_memberships where provider_id = $1 and admin_user_id = $2',
      [me.id, id],
    );
    return rows[0] as { at: string; moved: boolean };
  };
  await save(me, { email, role_ids: '1' });
  expect((await readTimestamps()).moved).toBe(false);
  await save(me, { email, role_ids: [own] });
  expect((await readTimestamps()).moved).toBe(true);
});

test("two providers share a person without seeing each other's data", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [mine, theirs] = [await newRole(me), await newRole(other)];
  const email = newEmail();
  const first = (
    await save(me, { ...kari, email, role_ids: [1, mine], position: 'Boss', phone: '1', booking_email: 'b@p.example' })
  ).json();

  const sent = { firstname: 'Ola', lastname: 'Hansen', position: 'Guest', phone: '2', phone_prefix: '+46' };
  const response = await save(other, { ...sent, email: email.toUpperCase(), role_ids: [theirs] });
  expect(response.status).toBe(200);
  expect(response.json()).toEqual({
    id: first.id,
    firstname: 'Kari',
    lastname: 'Nordmann',
    email,
    position: '',
    phone_prefix: '',
    phone: '',
    booking_email: '',
    role_ids: [theirs],
    created_at: expect.stringMatching(asText),
    updated_at: response.json().created_at,
  });
  expect(await members(me)).toEqual([first]);
  expect(await members(other)).toEqual([response.json()]);
  const person = { id: first.id, firstname: 'Kari', lastname: 'Nordmann', email };
  expect((await other.get('/v2/app-users')).json()).toEqual([person]);
});

test('e-mails that differ in Unicode case or form are one person', async () => {
  const me = await createProvider();
  const name = `å${process.pid}-${(created += 1)}`;
  const first = (await save(me, { ...kari, email: `${name}@people.example` })).json();
  for (const email of [`${name}@people.example`.toUpperCase(), `${name}@People.example`.normalize('NFD')]) {
    const response = await save(me, { email: ` ${email} `, role_ids: 1 });
    expect([response.status, response.json().id]).toEqual([200, first.id]);
  }
});

const email = 'nobody@people.example';
test.each<[string, Record<string, unknown>, string[], string[]]>([
  ['nothing at all', {}, ['email', 'role_ids'], []],
  ['empty values', { email: '', role_ids: [], firstname: null }, ['email', 'role_ids'], []],
  ['a new person without names', { email, role_ids: [1], firstname: ' ' }, ['firstname', 'lastname'], []],
  ['a new person without a lastname', { email, role_ids: [1], firstname: 'K' }, ['lastname'], []],
  ['an unknown role', { ...kari, email, role_ids: [1, 999_999_999] }, [], ['role_ids']],
  ['no names and an unknown role', { email, role_ids: '2' }, ['firstname', 'lastname'], ['role_ids']],
  ['a role that is no id', { ...kari, email, role_ids: '1,x' }, [], ['role_ids']],
  ['an e-mail that is none', { ...kari, email: 'kari' }, [], ['email']],
  ['a flag that is none', { ...kari, email, send_invite: 'maybe' }, [], ['send_invite']],
  [
    'several at once',
    { email: 'x', booking_email: 'y', phone: 'z'.repeat(5_001) },
    ['role_ids'],
    ['email', 'phone', 'booking_email'],
  ],
])('%s is reported in missing_fields and not_valid', async (_what, fields, missing_fields, not_valid) => {
  const me = await createProvider();
  const response = await save(me, fields);
  expect([response.status, response.json()]).toEqual([400, { errors: { missing_fields, not_valid } }]);
  expect(await members(me)).toEqual([]);
});

test("another provider's role is rejected like one that does not exist", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const theirs = await newRole(other);
  const response = await save(me, { ...kari, email: newEmail(), role_ids: [theirs] });
  expect([response.status, response.json()]).toEqual([
    400,
    { errors: { missing_fields: [], not_valid: ['role_ids'] } },
  ]);
});

test('an unreadable body is invalid input; other errors have the usual format', async () => {
  const me = await createProvider();
  const raw = (payload: string, type: string) => me.post('/v2/admin-users', payload, { 'content-type': type });
  const unread = await raw('{"email":', 'application/json');
  expect([unread.status, unread.json()]).toEqual([400, { errors: { missing_fields: [], not_valid: [] } }]);

  expect((await raw('x', 'text/plain')).json()).toEqual({ error: expect.stringContaining('Content-Type') });
  const large = await raw(JSON.stringify({ email: 'x'.repeat(1_100_000) }), 'application/json');
  expect([large.status, large.json()]).toEqual([413, { error: 'The body is too large' }]);
  const keyless = await send(app, { method: 'POST', url: '/v2/admin-users', payload: {} });
  expect([keyless.status, keyless.json()]).toEqual([401, { error: 'Wrong API Key' }]);
  const wrongMethod = await me.request('DELETE')('/v2/admin-users');
  expect([wrongMethod.status, wrongMethod.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
  expect(wrongMethod.json()).toEqual({ error: expect.any(String) });
  const below = await me.get('/v2/admin-users/1/roles');
  expect([below.status, below.json()]).toEqual([404, { error: 'There is nothing at this path' }]);
  expect((await send(app, { method: 'GET', url: '/v2/admin-users/1/roles' })).status).toBe(401);
});

test('twenty parallel posts of one e-mail from two providers create one person', async () => {
  const both = [await createProvider(), await createProvider()];
  const email = newEmail();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => save(both[n % 2]!, { ...kari, email: n % 3 ? email : email.toUpperCase() })),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(19);
  expect(new Set(responses.map((response) => response.json().id)).size).toBe(1);
  const lists = await Promise.all(both.map(members));
  expect(lists.map((list) => list.length)).toEqual([1, 1]);
  const sent = await Promise.all(both.map(invitations));
  expect(sent.map(({ length }) => length)).toEqual([1, 1]);
});

test("the lists contain the provider's own members and roles, ordered by id, with an ETag", async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const own = await newRole(me, 'Teacher', 'Teaches');
  await newRole(other);
  const a = (await save(me, { ...kari, email: newEmail() })).json();
  const b = (await save(me, { ...kari, firstname: 'Ola', email: newEmail(), role_ids: own })).json();
  await save(other, { ...kari, email: newEmail() });

  expect(await members(me)).toEqual([a, b]);
  expect((await me.get('/v2/app-users')).json()).toEqual(
    [a, b].map(({ id, firstname, lastname, email }) => ({ id, firstname, lastname, email })),
  );
  expect((await me.get('/v2/admin-roles')).json()).toEqual([
    { id: 1, title: 'Administrator', description: '' },
    { id: own, title: 'Teacher', description: 'Teaches' },
  ]);
  for (const path of ['/v2/admin-users', '/v2/app-users', '/v2/admin-roles']) {
    const etag = String((await me.get(path)).headers['etag']);
    expect((await me.get(path, { 'if-none-match': etag })).status).toBe(304);
  }
});

test('timestamps are in the time zone of the service', async () => {
  const me = await createProvider();
  const { id } = (await save(me, { ...kari, email: newEmail() })).json();
  const ctx = await me.ctx();
  await ctx.write(allAreas, async ({ tx }) => {
    await tx.execute(
      `update admin_memberships set created_at = '2026-01-01T00:00:00.9Z', updated_at = '2026-07-01T00:00:00Z'
       where provider_id = ${me.id} and admin_user_id = ${id}`,
    );
  });
  expect(await members(me)).toMatchObject([{ created_at: '2026-01-01 01:00:00', updated_at: '2026-07-01 02:00:00' }]);
});
