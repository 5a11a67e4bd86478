import { hash, verify } from '@node-rs/argon2';
import { Value } from '@sinclair/typebox/value';
import type { Pool, QueryConfig } from 'pg';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Ctx } from '../../../src/database/context.ts';
import { PasswordHash } from '../../../src/domains/school/auth/schema.ts';
import { replaceHash, setPassword, storePassword } from '../../../src/domains/school/auth/password-service.ts';
import { openSession, openSessionByToken, findSessionUser } from '../../../src/domains/school/auth/session-service.ts';
import { checkCredentials } from '../../../src/domains/school/auth/sign-on-service.ts';
import { findTokenOwner, consumeToken } from '../../../src/domains/school/auth/token-service.ts';
import { QueueTimeoutError } from '../../../src/core/database-errors.ts';
import { allAreas } from '../../../src/database/areas.ts';
import { queryBuilderOn } from '../../../src/database/reader.ts';
import { createBookableDate, bookOrFail } from '../../support/booking.ts';
import { settings, sharedTestApp, type Provider } from '../../support/test-app.ts';
import { createToken } from '../../support/pages.ts';

const { database, createProvider } = await sharedTestApp();
const password = 'fjord and forest';
const path = '/v2/check-user-credentials';

type User = { id: number; username: string };
let created = 0;

/** A booked course user with a password. */
async function newUser(me: Provider, theirs: string | null = password): Promise<User> {
  const username = `Åse-${(created += 1)}@people.example`;
  const participants = [{ firstname: 'Åse', lastname: 'Nordmann', email: username }];
  await bookOrFail(me, (await createBookableDate(me)).dateId, { participants });
  const [user] = (await me.get(`/v2/search-users?username=${encodeURIComponent(username)}`)).json<{ id: number }[]>();
  if (theirs !== null) await setPassword(await me.ctx(), user!.id, theirs);
  return { id: user!.id, username };
}
const request = (me: Provider, username: string, tried: string, more: object = {}) =>
  me.post(path, { username, password: tried, ...more });
const fail = async (me: Provider, username: string, times: number) => {
  const failures = await Promise.all(Array.from({ length: times }, () => request(me, username, 'wrong')));
  for (const failure of failures) expect(failure.json()).toEqual({ valid: false });
};
/** Shifts the stored times instead of the clock. */
const moveWindow = (me: Provider, by: string) =>
  database.pool.query(
    `update sign_on_failures set window_started_at = window_started_at - $2::interval,
      attempted_at = attempted_at - $2::interval where provider_id = $1`,
    [me.id, by],
  );

/** A provider context that runs a hook right after the user and the hash were read. */
async function afterReading(me: Provider, happens: () => Promise<unknown>): Promise<Ctx> {
  const ctx = await me.ctx();
  const query = async (config: QueryConfig, values?: unknown[]) => {
    const result = await ctx.unlockedStore.$client.query(config, values);
    if (/^select "id", "password_hash"/.test(config.text)) await happens();
    return result;
  };
  return { ...ctx, unlockedStore: queryBuilderOn({ query } as Pick<Pool, 'query'>) };
}
/** Stores a given hash, as a concurrent sign-on, password change or import does. */
const storeHash = async (me: Provider, id: number, hashed: string) => {
  const ctx = await me.ctx();
  await ctx.write(allAreas, (w) => storePassword(w, id, hashed));
};
const older = await hash(password, { memoryCost: 8_192, timeCost: 1 });

test('the right password identifies the user, ignoring username case and Unicode form', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me, 'blåbær øl 123');
  const known = { valid: true, user_id: id, firstname: 'Åse', lastname: 'Nordmann', email: username };
  for (const [name, tried] of [
    [username, 'blåbær øl 123'],
    [username.toUpperCase(), 'blåbær øl 123'],
    [` ${username.toLowerCase()} `, 'blåbær øl 123'.normalize('NFD')],
  ] as const) {
    const response = await request(me, name, tried);
    expect([response.status, response.json()]).toEqual([200, known]);
  }
});

test('wrong password, unknown user and missing password get the same response', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  const { username: without } = await newUser(me, null);
  const stranger = await createProvider();
  const attempts = [
    [me, username, 'Fjord and forest'],
    [me, username, ` ${password}`],
    [me, 'nobody', password],
    [me, without, password],
    [stranger, username, password],
  ] as const;
  const responses = await Promise.all(
    attempts.map(([provider, name, attempt]) => request(provider, name, attempt, { create_login_url: true })),
  );
  for (const response of responses) expect([response.status, response.json()]).toEqual([200, { valid: false }]);
});

test.each([
  [{}, 'Missing field(s): username,password'],
  [{ username: 'kari' }, 'Missing field(s): password'],
  [{ username: ' ', password: '' }, 'Missing field(s): username,password'],
  [{ username: 'kari', password, create_login_url: 'perhaps' }, 'Field(s) not valid: create_login_url'],
])('%j is rejected: %s', async (body, error) => {
  const response = await (await createProvider()).post(path, body);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test('a form of a PHP client is accepted', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  const form = new URLSearchParams({ username, password, create_login_url: '1' }).toString();
  const response = await me.post(path, form, { 'content-type': 'application/x-www-form-urlencoded' });
  expect(response.json()).toMatchObject({ valid: true, user_id: id, login_url: expect.any(String) });
});

test('a login URL is created on request; its token is stored hashed and works once for 15 minutes', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  expect((await request(me, username, password, { create_login_url: false })).json()).not.toHaveProperty('login_url');
  const { login_url: url } = (await request(me, username, password, { create_login_url: true })).json<{
    login_url: string;
  }>();
  expect(url).toMatch(new RegExp(`^${settings.publicUrl}/my/sign-in/\\d+_[A-Za-z0-9_-]{43}$`));

  const token = url.split('/').at(-1)!;
  const { rows } = await database.pool.query<{ text: string; minutes: number }>(
    'select t::text as text, extract(epoch from expires_at - created_at)::int / 60 as minutes from tokens t where provider_id = $1',
    [me.id],
  );
  expect([rows.length, rows[0]!.minutes, rows[0]!.text.includes(token)]).toEqual([1, 15, false]);

  const { unlockedStore } = await me.ctx();
  const owner = { providerId: me.id, userId: id, adminUserId: null };
  expect(await findTokenOwner(unlockedStore, 'sign_in', token)).toEqual(owner);
  expect(await consumeToken(unlockedStore, 'password', token)).toBeUndefined();
  const tabs = await Promise.all(Array.from({ length: 20 }, () => consumeToken(unlockedStore, 'sign_in', token)));
  expect(tabs.filter((one) => one !== undefined)).toEqual([owner]);
  expect(await findTokenOwner(unlockedStore, 'sign_in', token)).toBeUndefined();
});

test.each([
  ['14:59', true],
  ['15:01', false],
])('after %s minutes a login URL works: %s', async (age, works) => {
  const me = await createProvider();
  const { unlockedStore } = await me.ctx();
  const { id } = await newUser(me);
  const token = await createToken(unlockedStore, 'sign_in', { providerId: me.id, userId: id, adminUserId: null });
  await database.pool.query(`update tokens set expires_at = expires_at - $2::interval where provider_id = $1`, [
    me.id,
    `00:${age}`,
  ]);
  expect((await consumeToken(unlockedStore, 'sign_in', token)) !== undefined).toBe(works);
});

test('ten failures block a username, even with the right password, until the window ends', async () => {
  const me = await createProvider();
  const other = await createProvider();
  const { username } = await newUser(me);
  const { username: another } = await newUser(me);
  await fail(me, username, 5);
  await fail(me, username.toUpperCase(), 5);
  const refused = await request(me, username, password);
  expect([refused.status, refused.json()]).toEqual([429, { error: 'Too many failed attempts for this username' }]);
  const wait = Number(refused.headers['retry-after']);
  expect(wait > 840 && wait <= 900, String(wait)).toBe(true);
  expect((await request(me, another, password)).json()).toMatchObject({ valid: true });
  expect((await request(other, username, password)).json()).toEqual({ valid: false });

  await moveWindow(me, '14 minutes 30 seconds');
  expect((await request(me, username, password)).status).toBe(429);
  await moveWindow(me, '31 seconds');
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
  await fail(me, username, 10);
  expect((await request(me, username, password)).status).toBe(429);
});

test('a new password works despite earlier failures', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  const { username: another } = await newUser(me);
  await fail(me, username, 10);
  await fail(me, another, 10);
  await setPassword(await me.ctx(), id, 'another password');
  expect((await request(me, username, 'another password')).json()).toMatchObject({ valid: true });
  expect((await request(me, another, password)).status).toBe(429);
});

test('failures of unknown usernames are counted too', async () => {
  const me = await createProvider();
  await fail(me, 'nobody', 10);
  expect((await request(me, 'Nobody', password)).status).toBe(429);
});

test('a success neither counts as nor resets failures', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  await fail(me, username, 9);
  for (let n = 0; n < 3; n += 1) expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
  await fail(me, username, 1);
  expect((await request(me, username, password)).status).toBe(429);
});

test('of a hundred concurrent guesses only ten are checked', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  const responses = await Promise.all(Array.from({ length: 100 }, () => request(me, username, 'wrong')));
  const count = (status: number) => responses.filter((response) => response.status === status).length;
  expect([count(200), count(429)]).toEqual([10, 90]);
});

test('concurrent right passwords over the limit get Retry-After of a second', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  const responses = await Promise.all(Array.from({ length: 30 }, () => request(me, username, password)));
  const letIn = responses.filter(({ status }) => status === 200);
  expect(letIn.length).toBeGreaterThanOrEqual(10);
  for (const response of letIn) expect(response.json()).toMatchObject({ valid: true });
  for (const { status, headers } of responses.filter((response) => !letIn.includes(response)))
    expect([status, headers['retry-after']]).toEqual([429, '1']);
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
  await fail(me, username, 9);
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
});

test('attempts of a dead process count for half a minute', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  expect((await request(me, username, password)).status).toBe(200);
  const { rowCount } = await database.pool.query('update sign_on_failures set pending = 10 where provider_id = $1', [
    me.id,
  ]);
  expect(rowCount).toBe(1);
  const refused = await request(me, username, password);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
  expect(refused.json()).toEqual({ error: 'Too many attempts for this username at once' });
  await moveWindow(me, '31 seconds');
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
});

test('an attempt that ends in a server error is not a failure', async () => {
  const me = await createProvider();
  const { username } = await newUser(me);
  const ctx = await afterReading(me, async () => {
    throw new QueueTimeoutError('the queue is full');
  });
  for (let n = 0; n < 12; n += 1)
    await expect(checkCredentials(ctx, { username, password })).rejects.toMatchObject({
      cause: { message: 'the queue is full' },
    });
  await fail(me, username, 9);
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
});

test('a password changed during verification gives no login URL', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  const ctx = await afterReading(me, () => storeHash(me, id, older));
  const query = { username, password, create_login_url: true };
  expect(await checkCredentials(ctx, query)).toEqual({ valid: false });
  const { rows } = await database.pool.query('select 1 from tokens where provider_id = $1 and used_at is null', [
    me.id,
  ]);
  expect(rows).toEqual([]);
  expect(await checkCredentials(await me.ctx(), query)).toMatchObject({ valid: true });
});

test('a concurrent rehash does not reject the password', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  await storeHash(me, id, older);
  const to = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const ctx = await afterReading(me, () => ctx.write(allAreas, (w) => replaceHash(w, id, { from: older, to })));
  expect(await checkCredentials(ctx, { username, password, create_login_url: true })).toMatchObject({
    valid: true,
    login_url: expect.any(String),
  });
});

test('a failed rehash does not reject the password', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  await storeHash(me, id, older);
  const ctx = { ...(await me.ctx()), write: () => Promise.reject(new QueueTimeoutError('the queue is full')) };
  expect(await checkCredentials(ctx, { username, password, create_login_url: true })).toMatchObject({
    valid: true,
    login_url: expect.any(String),
  });
});

test('an unreadable hash matches no password', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  for (const broken of ['$argon2id$', older.slice(0, -30), older.replace('m=8192', 'm=1')]) {
    await storeHash(me, id, broken);
    const response = await request(me, username, password);
    expect([response.status, response.json()]).toEqual([200, { valid: false }]);
  }
});

const hashOf32 = 'dGhlIGhhc2ggb2YgYSBwYXNzd29yZCwgMzIgYnl0ZXM';
test.each([
  ['$argon2id$v=19$m=65536,t=4,p=1$c2l4dGVlbiBieXRlcyEh$' + hashOf32, true],
  ['$argon2id$v=19$m=102400,t=2,p=8$c29tZXNhbHQ$' + hashOf32, true],
  ['$argon2id$v=19$m=1000,t=1,p=8$c29tZXNhbHQ$' + hashOf32, true],
  ['$argon2id$v=19$m=65536,t=4,p=1$c2hvcnQ$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHR$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ=$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$' + hashOf32.slice(0, 20), false],
  ['$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$' + hashOf32.repeat(3), false],
  ['$argon2id$v=19$m=109999,t=2,p=1$c29tZXNhbHQ$' + hashOf32, true],
  ['$argon2id$v=19$m=65537,t=3,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=109999,t=4,p=8$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=999,t=1,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=110000,t=1,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=999,t=1,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=5,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=0,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=19$m=65536,t=4,p=9$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$v=16$m=65536,t=4,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2i$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$' + hashOf32, false],
  ['$argon2id$', false],
])('import of the hash %s: %s', async (brought, may) => {
  expect(Value.Check(PasswordHash, brought)).toBe(may);
  if (may) expect(await verify(brought, password)).toBe(false);
});

test('a hash with other parameters is rehashed at sign-on', async () => {
  const me = await createProvider();
  const { id, username } = await newUser(me);
  const hashOf = async () =>
    (await database.pool.query<{ hash: string }>('select password_hash as hash from course_users where id = $1', [id]))
      .rows[0]!.hash;
  await storeHash(me, id, older);
  await fail(me, username, 1);
  expect(await hashOf()).toBe(older);
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
  const renewed = await hashOf();
  expect(renewed).toContain('$m=19456,t=2,p=1$');
  expect((await request(me, username, password)).json()).toMatchObject({ valid: true });
  expect(await hashOf()).toBe(renewed);
});

test('a new password ends all sessions and links of that user only', async () => {
  const me = await createProvider();
  const { unlockedStore } = await me.ctx();
  const [user, neighbour] = [await newUser(me), await newUser(me)];
  const ownerBy = ({ id }: User) => ({ providerId: me.id, userId: id, adminUserId: null });
  const open = ({ id }: User) => openSession(unlockedStore, { providerId: me.id, userId: id });
  const [first, second, theirs] = [await open(user), await open(user), await open(neighbour)];
  const link = await createToken(unlockedStore, 'password', ownerBy(user));
  const theirLink = await createToken(unlockedStore, 'password', ownerBy(neighbour));
  expect(await findSessionUser(unlockedStore, first)).toEqual({ providerId: me.id, userId: user.id });

  await setPassword(await me.ctx(), user.id, 'another password');
  expect(await Promise.all([first, second, theirs].map((secret) => findSessionUser(unlockedStore, secret)))).toEqual([
    undefined,
    undefined,
    { providerId: me.id, userId: neighbour.id },
  ]);
  expect(await consumeToken(unlockedStore, 'password', link)).toBeUndefined();
  expect(await consumeToken(unlockedStore, 'password', theirLink)).toEqual(ownerBy(neighbour));
});

test('a link opened during a password change creates no session', async () => {
  const me = await createProvider();
  const ctx = await me.ctx();
  const { id } = await newUser(me);
  const token = await createToken(ctx.unlockedStore, 'sign_in', { providerId: me.id, userId: id, adminUserId: null });
  let opening: Promise<string | undefined> | undefined;
  let isOpened = false;
  await ctx.write(allAreas, async (w) => {
    const blocked = `select from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))`;
    const { rows } = await w.tx.$client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const isOpenedOrBlocked = async () =>
      isOpened || (await database.pool.query(blocked, [rows[0]!.pid])).rowCount === 1;
    const query = w.tx.$client.query.bind(w.tx.$client) as (
      config: QueryConfig,
      values?: unknown[],
    ) => Promise<unknown>;
    const between = async (config: QueryConfig, values?: unknown[]) => {
      const result = await query(config, values);
      if (/^(?:delete from "sessions"|update "tokens") /.test(config.text)) {
        opening ??= openSessionByToken(ctx.unlockedStore, { token, action: 'a test' }).finally(() => (isOpened = true));
        // In a later turn: the queries of one turn share a connection.
        await nextTurn();
        await expect.poll(isOpenedOrBlocked).toBe(true);
      }
      return result;
    };
    vi.spyOn(w.tx.$client, 'query').mockImplementation(between as never);
    await storePassword(w, id, older).finally(() => vi.restoreAllMocks());
  });
  const secret = await opening;
  expect(secret && (await findSessionUser(ctx.unlockedStore, secret))).toBeUndefined();
  const { rows } = await database.pool.query('select 1 from sessions where provider_id = $1', [me.id]);
  expect(rows).toEqual([]);
});

test.each([
  ['59 minutes', '0', true],
  ['61 minutes', '0', false],
  ['0', '11 hours 59 minutes', true],
  ['0', '12 hours 1 minute', false],
])('a session idle for %s and %s old lasts: %s', async (idle, age, lasts) => {
  const me = await createProvider();
  const { unlockedStore } = await me.ctx();
  const { id } = await newUser(me);
  const secret = await openSession(unlockedStore, { providerId: me.id, userId: id });
  await database.pool.query(
    `update sessions set used_at = used_at - $2::interval, expires_at = expires_at - $3::interval where provider_id = $1`,
    [me.id, idle, age],
  );
  expect((await findSessionUser(unlockedStore, secret)) !== undefined).toBe(lasts);
});

test('using a session extends it', async () => {
  const me = await createProvider();
  const { unlockedStore } = await me.ctx();
  const { id } = await newUser(me);
  const secret = await openSession(unlockedStore, { providerId: me.id, userId: id });
  const idle = () =>
    database.pool.query("update sessions set used_at = used_at - interval '45 minutes' where provider_id = $1", [
      me.id,
    ]);
  for (let n = 0; n < 3; n += 1) {
    await idle();
    expect(await findSessionUser(unlockedStore, secret)).toBeDefined();
  }
});
