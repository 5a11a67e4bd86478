import { expect, inject, onTestFinished, test } from 'vitest';
import { isPassword } from '../../../src/domains/school/auth/password-service.ts';
import { addAdminUser } from '../../support/dates.ts';
import { createUser } from '../../support/orders.ts';
import {
  createAdminToken,
  createSessionCookie,
  backdate,
  sessionCookie,
  signedInVisitor,
  createUserToken,
  visitor,
} from '../../support/pages.ts';
import {
  openTestDatabase,
  openTestApp,
  ownDatabase,
  settings,
  sharedTestApp,
  type Provider,
} from '../../support/test-app.ts';

const password = 'fjord and forest';

async function somebody(fields = {}) {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  return { testApp, me, userId: await createUser(me, fields), anyone: visitor(testApp.app) };
}

/** A second application on this database, with another PUBLIC_URL. */
async function behind(publicUrl: string) {
  const testApp = await openTestApp(openTestDatabase(inject('shared')), { settings: { ...settings, publicUrl } });
  onTestFinished(() => testApp.close());
  return testApp;
}

const hashOf = async (me: Provider, userId: number) => {
  const { rows } = await (
    await sharedTestApp()
  ).database.pool.query<{ password_hash: string | null }>(
    'select password_hash from course_users where provider_id = $1 and id = $2',
    [me.id, userId],
  );
  return rows[0]!.password_hash;
};

test('the sign-on link opens the page and removes the token from the URL', async () => {
  const { me, userId, anyone } = await somebody({ firstname: 'Kari' });
  const response = await anyone.get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`);
  expect(response).toMatchObject({ status: 303, headers: { location: '/my' } });
  const page = await anyone.get('/my', { cookie: sessionCookie(response) });
  expect(page.status).toBe(200);
  expect(page.text).toContain('Hello, Kari');
});

test('a secret with the id of another provider is not accepted', async () => {
  const { me, userId, anyone, testApp } = await somebody();
  const other = await testApp.createProvider();
  const token = (await createUserToken(me, 'sign_in', userId)).replace(/^\d+/, String(other.id));
  expect((await anyone.get(`/my/sign-in/${token}`)).status).toBe(410);
  const session = (await createSessionCookie(me, userId)).replace(/\d+_/, `${other.id}_`);
  expect((await anyone.get('/my', { cookie: session })).status).toBe(401);
});

test('POST /v2/check-user-credentials returns that link', async () => {
  const { testApp, me, userId, anyone } = await somebody({ username: 'kari@x.example' });
  await anyone.post(`/my/password/${await createUserToken(me, 'password', userId)}`, { password });
  const { login_url } = (
    await me.post('/v2/check-user-credentials', { username: 'kari@x.example', password, create_login_url: true })
  ).json();
  const response = await visitor(testApp.app).get(new URL(login_url).pathname);
  expect(response.status).toBe(303);
});

test.each(['sign_in', 'password'] as const)(
  'a %s link that is used, expired or unknown gives a 410 page',
  async (purpose) => {
    const { testApp, me, userId, anyone } = await somebody();
    const path = purpose === 'sign_in' ? '/my/sign-in' : '/my/password';
    const used = await createUserToken(me, purpose, userId);
    await (purpose === 'sign_in' ? anyone.get(`${path}/${used}`) : anyone.post(`${path}/${used}`, { password }));
    const old = await createUserToken(me, purpose, userId);
    await backdate(testApp, 'tokens', userId, '8 days');
    const otherPurpose = await createUserToken(me, purpose === 'sign_in' ? 'password' : 'sign_in', userId);

    for (const token of [used, old, otherPurpose, 'no-such-token', 'abc%', `${used}%`, '%ff', '%41%', 'x%?y=%']) {
      const response = await anyone.get(`${path}/${token}`);
      expect(response).toMatchObject({ status: 410, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(response.text).toContain('This link no longer works');
      expect(response.text).toContain(purpose === 'sign_in' ? 'sign on again' : 'ask your school');
      expect(response.headers['set-cookie']).toBeUndefined();
    }
  },
);

test.each([
  ['sign_in', '14 minutes 30 seconds', '15 minutes 1 second'],
  ['password', '6 days 23 hours 59 minutes', '7 days 1 second'],
] as const)('a %s link works after %s and not after %s', async (purpose, young, old) => {
  const path = purpose === 'sign_in' ? '/my/sign-in' : '/my/password';
  for (const [interval, works] of [
    [young, true],
    [old, false],
  ] as const) {
    const { testApp, me, userId, anyone } = await somebody();
    const token = await createUserToken(me, purpose, userId);
    await backdate(testApp, 'tokens', userId, interval);
    const response = await anyone.get(`${path}/${token}`);
    expect(response.status).toBe(works ? (purpose === 'sign_in' ? 303 : 200) : 410);
  }
});

test('an aborted sign-in does not use the link or end the earlier session', async () => {
  const testApp = await openTestApp(openTestDatabase(await ownDatabase()));
  onTestFinished(() => testApp.close());
  const me = await testApp.createProvider();
  const userId = await createUser(me);
  const [token, browser] = [
    await createUserToken(me, 'sign_in', userId),
    await signedInVisitor(testApp.app, me, userId),
  ];
  await testApp.database.pool.query('alter table sessions add constraint none_new check (false) not valid');
  expect((await browser.get(`/my/sign-in/${token}`)).status).toBe(500);
  await testApp.database.pool.query('alter table sessions drop constraint none_new');
  expect((await browser.get('/my')).status).toBe(200);
  expect((await browser.get(`/my/sign-in/${token}`)).status).toBe(303);
});

test('HEAD requests and opening the form do not use up a link', async () => {
  const { me, userId, anyone } = await somebody();
  const [signIn, choose] = [
    await createUserToken(me, 'sign_in', userId),
    await createUserToken(me, 'password', userId),
  ];
  for (let time = 0; time < 3; time += 1) {
    const response = await anyone.request('HEAD', `/my/sign-in/${signIn}`);
    expect(response).toMatchObject({ status: 200, text: '' });
    expect(response.headers['set-cookie']).toBeUndefined();
    expect(await anyone.request('HEAD', `/my/password/${choose}`)).toMatchObject({ status: 200, text: '' });
    expect((await anyone.get(`/my/password/${choose}`)).status).toBe(200);
  }
  expect((await anyone.get(`/my/sign-in/${signIn}`)).status).toBe(303);
  expect((await anyone.request('HEAD', `/my/sign-in/${signIn}`)).status).toBe(410);
  expect((await anyone.post(`/my/password/${choose}`, { password })).status).toBe(303);
});

test('only one of several concurrent requests can use a link', async () => {
  const { me, userId, anyone } = await somebody();
  const [signIn, choose] = [
    await createUserToken(me, 'sign_in', userId),
    await createUserToken(me, 'password', userId),
  ];
  const tabs = Array.from({ length: 8 }, (_, n) => n);
  const entered = await Promise.all(tabs.map(() => anyone.get(`/my/sign-in/${signIn}`)));
  expect(entered.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(410)]);

  const chosen = await Promise.all(
    tabs.map((n) => anyone.post(`/my/password/${choose}`, { password: `${password} ${n}` })),
  );
  expect(chosen.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(410)]);
  const winner = chosen.findIndex(({ status }) => status === 303);
  expect(await isPassword(`${password} ${winner}`, await hashOf(me, userId))).toBe(true);
});

test('choosing a password signs a course user in, and ends other sessions and links', async () => {
  const { testApp, me, userId, anyone } = await somebody({ firstname: 'Ola', username: 'ola & co' });
  const elsewhere = await signedInVisitor(testApp.app, me, userId);
  const other = await createUserToken(me, 'sign_in', userId);
  const token = await createUserToken(me, 'password', userId);
  const form = await anyone.get(`/my/password/${token}`);
  expect(form.text).toContain('value="ola &amp; co"');
  expect(form.text).toContain(me.title);

  const response = await anyone.post(`/my/password/${token}`, { password, repeated: password });
  expect(response).toMatchObject({ status: 303, headers: { location: '/my' } });
  expect((await anyone.get('/my', { cookie: sessionCookie(response) })).text).toContain('Hello, Ola');
  expect((await elsewhere.get('/my')).status).toBe(401);
  expect((await anyone.get(`/my/sign-in/${other}`)).status).toBe(410);
  expect(await isPassword(password, await hashOf(me, userId))).toBe(true);
});

test.each([
  ['too short', { password: '1234567' }, 'password', '8 to 200'],
  ['too long', { password: 'x'.repeat(201) }, 'password', '8 to 200'],
  ['not there', {}, 'password', '8 to 200'],
  ['one of the most common', { password: 'Iloveyou1' }, 'password', 'most common passwords'],
  ['the name of the person', { password: 'nordmann.Kari-2026' }, 'password', 'must not consist of'],
  ['not repeated', { password, repeated: 'fjord and forst' }, 'repeated', 'not the same'],
  ['repeated as nothing', { password, repeated: '' }, 'repeated', 'not the same'],
])('a password that is %s gets a field error, and the link still works', async (_, fields, name, rawResponse) => {
  const { me, userId, anyone } = await somebody({ firstname: 'Kari', lastname: 'Nordmann' });
  const path = `/my/password/${await createUserToken(me, 'password', userId)}`;
  const response = await anyone.post(path, fields);
  expect(response.status).toBe(400);
  expect(response.text).toMatch(new RegExp(`<p id="${name}-error" class="field-error">[^<]*${rawResponse}`));
  const field = /<input[^>]*>/g;
  const input = response.text.match(field)!.find((tag) => tag.includes(`name="${name}"`))!;
  expect(input).toContain('aria-invalid="true"');
  expect(input).toMatch(new RegExp(`aria-describedby="${name}-error`));
  expect(response.text).not.toContain(password);
  expect(await hashOf(me, userId)).toBeNull();
  expect((await anyone.post(path, { password })).status).toBe(303);
});

test.each(['aB4!xyzq', 'x'.repeat(200), '🙂'.repeat(8)])('%s has a valid length', async (chosen) => {
  const { me, userId, anyone } = await somebody();
  const response = await anyone.post(`/my/password/${await createUserToken(me, 'password', userId)}`, {
    password: chosen,
  });
  expect(response.status).toBe(303);
});

test('an admin user without pages gets a confirmation', async () => {
  const { testApp, me, anyone } = await somebody();
  const adminUserId = await addAdminUser(me);
  const token = await createAdminToken(me, adminUserId);
  expect((await anyone.get(`/my/password/${token}`)).text).toContain('@x.example');
  const response = await anyone.post(`/my/password/${token}`, { password });
  expect(response.status).toBe(200);
  expect(response.text).toContain('Your password is saved');
  expect(response.headers['set-cookie']).toBeUndefined();
  const { rows } = await testApp.database.pool.query('select password_hash from admin_users where id = $1', [
    adminUserId,
  ]);
  expect(await isPassword(password, rows[0].password_hash)).toBe(true);
  expect((await anyone.post(`/my/password/${token}`, { password })).status).toBe(410);
});

test.each([
  ['http://localhost:3000', /^session=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/],
  ['https://courses.example', /^__Host-session=\d+_[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/],
])('the cookie at %s', async (publicUrl, expected) => {
  const { me, userId } = await somebody();
  const { app } = await behind(publicUrl);
  const response = await visitor(app).get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`);
  expect(response.headers['set-cookie']).toMatch(expected);
  expect((await visitor(app).get('/my', { cookie: sessionCookie(response) })).status).toBe(200);
});

test.each<Record<string, string>>([
  { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' },
])('a sign-on link that is loaded with %j is not used', async (headers) => {
  const { me, userId, anyone } = await somebody();
  const url = `/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`;
  const refused = await anyone.get(url, headers);
  expect([refused.status, refused.headers['set-cookie']]).toEqual([403, undefined]);
  const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  expect((await anyone.get(url, followed)).status).toBe(303);
});

test('links contain the path prefix of the proxy', async () => {
  const { me, userId } = await somebody();
  const { app } = await behind('https://courses.example/booking');
  const response = await visitor(app).get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`);
  expect(response.headers['location']).toBe('/booking/my');
  const page = await visitor(app).get('/my', { cookie: sessionCookie(response) });
  const links = [...page.text.matchAll(/(?:href|action)="([^"]+)"/g)].map(([, to]) => to!);
  expect(links.filter((to) => !to.startsWith('/booking/my') && to !== '#content')).toEqual([]);
  expect(links.length).toBeGreaterThan(5);
});

test('choosing a password replaces any session of the browser', async () => {
  const { testApp, me, userId } = await somebody();
  const first = await signedInVisitor(testApp.app, me, await createUser(me));
  const gone = await first.post('/my/password/no-such-token', { password });
  expect([gone.status, (await first.get('/my')).status]).toEqual([410, 200]);
  expect((await first.post(`/my/password/${await createUserToken(me, 'password', userId)}`, { password })).status).toBe(
    303,
  );
  expect((await first.get('/my')).status).toBe(401);
});

test('a second sign-in replaces the first session of the browser', async () => {
  const { testApp, me, userId } = await somebody();
  const first = await signedInVisitor(testApp.app, me, userId);
  expect((await first.get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`)).status).toBe(303);
  expect((await first.get('/my')).status).toBe(401);
});

test.each([
  ['an hour idle', "used_at = now() - interval '61 minutes'"],
  ['twelve hours', "expires_at = now() - interval '1 second'"],
])('a session ends after %s with a page on how to sign in again', async (_, ended) => {
  const { testApp, me, userId } = await somebody();
  const session = await signedInVisitor(testApp.app, me, userId);
  expect((await session.get('/my')).status).toBe(200);
  await testApp.database.pool.query(`update sessions set ${ended} where user_id = $1`, [userId]);
  const response = await session.get('/my');
  expect(response.status).toBe(401);
  expect(response.text).toContain('You are signed out');
});

test('without a session nothing is shown or changed', async () => {
  const { anyone } = await somebody();
  for (const path of ['/my', '/my/details', '/my/password', '/my/courses/1', '/my/courses/1/calendar.ics'])
    expect((await anyone.get(path)).status).toBe(401);
  for (const path of ['/my/password', '/my/log-out']) expect((await anyone.post(path)).status).toBe(401);
});

test('logging out ends the session', async () => {
  const { testApp, me, userId } = await somebody();
  const session = await signedInVisitor(testApp.app, me, userId);
  const response = await session.post('/my/log-out');
  expect(response).toMatchObject({ status: 303, headers: { location: '/my/log-out' } });
  expect(String(response.headers['set-cookie'])).toMatch(/^session=; .*Expires=Thu, 01 Jan 1970/);
  expect((await session.get('/my/log-out')).text).toContain('You are logged out');
  expect((await session.get('/my')).status).toBe(401);
});

test.each([
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'http://localhost:3001' }, 403],
  [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'cross-site' }, 403],
  [{ origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, 403],
  [{ origin: 'http://localhost:3000' }, 303],
  [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, 303],
  [{ 'sec-fetch-site': 'same-origin' }, 303],
  [{}, 303],
])('a form posted with %j gets %i', async (headers, status) => {
  const { testApp, me, userId } = await somebody();
  const session = await signedInVisitor(testApp.app, me, userId);
  const token = await createUserToken(me, 'password', userId);
  expect((await session.post(`/my/password/${token}`, { password }, headers as Record<string, string>)).status).toBe(
    status,
  );
  const again = await signedInVisitor(testApp.app, me, userId);
  expect((await again.post('/my/log-out', {}, headers as Record<string, string>)).status).toBe(status);
  expect((await again.get('/my')).status).toBe(status === 403 ? 200 : 401);
});
