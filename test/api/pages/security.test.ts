import { eq } from 'drizzle-orm';
import type { QueryConfig, QueryResult } from 'pg';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { providers } from '../../../src/database/tables/providers.ts';
import { sanitizeHtml } from '../../../src/core/sanitize-html.ts';
import { isPassword, setPassword } from '../../../src/domains/school/auth/password-service.ts';
import {
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  changeDate,
  assignInstructor,
} from '../../support/dates.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import {
  sessionCookie,
  responseCookies,
  createSessionCookie,
  signedInVisitor,
  createUserToken,
  visitor,
} from '../../support/pages.ts';
import { openTestDatabase, openTestApp, sharedTestApp } from '../../support/test-app.ts';

async function somebody(fields: Record<string, unknown> = {}) {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const userId = await createUser(me, fields);
  return {
    testApp,
    me,
    userId,
    browser: await signedInVisitor(testApp.app, me, userId),
    anyone: visitor(testApp.app),
  };
}

test('every response below /my forbids scripts, frames, other origins and caching', async () => {
  const { me, userId, browser, anyone } = await somebody();
  const responses = [
    await anyone.get(`/my/sign-in/${await createUserToken(me, 'sign_in', userId)}`),
    await anyone.get('/my/sign-in/none'),
    await anyone.request('HEAD', '/my/sign-in/none'),
    await anyone.get(`/my/password/${await createUserToken(me, 'password', userId)}`),
    await anyone.get('/my/booking/none'),
    await anyone.get('/my/offer/none'),
    await anyone.get('/my/booking/none/cancel/1'),
    await anyone.get('/my'),
    await anyone.get('/my/nothing'),
    await anyone.post('/my/log-out', {}, { origin: 'https://evil.example' }),
    await browser.get('/my'),
    await browser.get('/my/courses/1'),
    await browser.get('/my/courses/1/cancel'),
    await browser.post('/my/details', { calendar: 'create' }),
    await browser.request('PUT', '/my/password'),
  ];
  expect(responses.map(({ status }) => status)).toEqual([
    ...[303, 410, 410, 200, 410, 410, 410, 401, 404, 403, 200, 404, 404, 200, 405],
  ]);
  for (const { headers, text } of responses) {
    expect(headers['content-security-policy']).toBe(
      "default-src 'none';style-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['vary']).toContain('Accept-Language');
    expect(headers['x-powered-by'] ?? headers['server']).toBeUndefined();
    expect(text).not.toMatch(/<script|<style|style="|\son\w+="/);
  }
  for (const { headers, text } of responses.filter(({ text }) => text !== '')) {
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/^<!doctype html><html lang="en">/);
  }
});

test('the stylesheet has a content hash in its name and is cached forever', async () => {
  const { anyone } = await somebody();
  const [, path] = /<link rel="stylesheet" href="([^"]+)"/.exec((await anyone.get('/my')).text)!;
  expect(path).toMatch(/^\/my\/style-[0-9a-f]{12}\.css$/);
  const { status, headers, text } = await anyone.get(path!);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect(text).not.toMatch(/url\(|@import|http/);
});

const evil = '"><script>alert(1)</script>\'<b>&';

test('every stored text is HTML-escaped', async () => {
  const people = ['firstname', 'lastname', 'email', 'phone', 'company', 'department', 'position', 'username'];
  const addresses = ['home', 'work', 'invoice'].flatMap((kind) =>
    ['Address', 'Address2', 'Address3', 'Zipcode', 'City', 'Phone'].map((part) => `${kind}${part}`),
  );
  const { me, userId, browser, anyone } = await somebody(
    Object.fromEntries([...people, ...addresses].map((name) => [name, `${name}${evil}`])),
  );
  const school = { title: evil, email: evil, emailBooking: evil, phone: evil, webAddress: `https://x.example/${evil}` };
  await write(me, (tx) => tx.update(providers).set(school).where(eq(providers.id, me.id)));
  const locationId = await addLocation(me, { title: evil, address: evil, zipcode: evil, city: evil });
  const eventUrl = `https://x.example/${evil}`;
  const courseId = await me.course();
  const dateId = await addDate(me, courseId, { title: evil, locationId, placeAdditionalInfo: evil, eventUrl });
  await assignInstructor(me, dateId, await addInstructor(me, { firstname: evil, lastname: evil, showOnWeb: true }));
  await addGathering(me, dateId, { theme: evil, description: evil, eventUrl, locationId });
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId] });
  await me.put('/v2/booking-settings', { self_cancellation: true });

  const course = `/my/courses/${participantIds[0]}`;
  const pages = ['/my', course, `${course}/cancel`, '/my/details', '/my/password'];
  const texts = await Promise.all(pages.map(async (page) => (await browser.get(page)).text));
  const afterChange = await anyone.get('/my/password-changed', {
    cookie: `${await createSessionCookie(me, userId)}; password-changed=yes`,
  });
  expect(afterChange.status).toBe(200);
  texts.push(afterChange.text);
  texts.push((await anyone.get(`/my/password/${await createUserToken(me, 'password', userId)}`)).text);
  await changeDate(me, dateId, { startAt: '2020-06-10', endAt: '2020-06-10', deadlineAt: '2020-06-10' });
  texts.push((await browser.get('/my')).text);
  for (const text of texts) {
    expect(text).not.toMatch(/<script|<b>/);
    expect(text).toContain('&lt;script>alert(1)&lt;/script>');
    // No text can close an attribute either.
    expect(text.replaceAll(/"[^"]*"/g, '')).not.toMatch(/<[^>]*["']/);
  }
});

test.each([
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  '//evil.example',
  'nonsense',
])('a URL like %s is not linked', async (address) => {
  const { me, userId, browser } = await somebody();
  await write(me, (tx) => tx.update(providers).set({ webAddress: address }).where(eq(providers.id, me.id)));
  const courseId = await me.course();
  const dateId = await addDate(me, courseId, { eventUrl: address });
  await addGathering(me, dateId, { eventUrl: address });
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId] });
  const course = `/my/courses/${participantIds[0]}`;
  for (const page of ['/my', course]) {
    const { text } = await browser.get(page);
    const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, to]) => to!);
    expect(links.filter((to) => !to.startsWith('/my') && to !== '#content')).toEqual([]);
  }
  expect((await browser.get(`${course}/calendar.ics`)).text).not.toContain(address);
});

test('course HTML is sanitised of scripts, loads and page-like markup', () => {
  expect(sanitizeHtml('<p>One <strong>two</strong><br>three</p><ul><li>Four</li></ul>')).toBe(
    '<p>One <strong>two</strong><br />three</p><ul><li>Four</li></ul>',
  );
  expect(sanitizeHtml('<h1>Title</h1><h6 class="x" style="color:red">Small</h6>')).toBe('<h3>Title</h3><h3>Small</h3>');
  expect(sanitizeHtml('<a href="https://x.example/?a=1&b=2" onclick="x()" target="_blank">x</a>')).toBe(
    '<a href="https://x.example/?a=1&amp;b=2" rel="noopener">x</a>',
  );
  for (const href of ['javascript:alert(1)', ' java\nscript:alert(1)', '/my/log-out', 'data:x'])
    expect(sanitizeHtml(`<a href="${href}">x</a>`)).toBe('<a>x</a>');
  for (const html of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<style>p{}</style>',
    '<iframe src="https://evil.example"></iframe>',
    '<svg onload=alert(1)></svg>',
    '<form action="/my/log-out"><input></form>',
    '<!-- <p>x</p> -->',
  ])
    expect(sanitizeHtml(html)).toBe('');
  expect(sanitizeHtml('1 < 2 & <b>3')).toBe('1 &lt; 2 &amp; <b>3</b>');
});

test('a text with excessive markup is shown as plain text', () => {
  const [opened, closed] = ['<b>'.repeat(1_000), '</b>'.repeat(999)];
  expect(sanitizeHtml(`${opened}x${closed}`)).toMatch(/^<b><b>.*x/);
  expect(sanitizeHtml(`<p>One</p>${opened}two &lt;${closed}<script>three <b 4 > 3 <img src=x`)).toBe(
    'One two &lt; three   3 &lt;img src=x',
  );
  expect(sanitizeHtml('<'.repeat(65_000))).toBe('&lt;'.repeat(65_000));
});

test('the contact e-mail link is valid', async () => {
  const { me, browser } = await somebody();
  const email = 'kari+kurs&co@fjord.example';
  await write(me, (tx) => tx.update(providers).set({ emailBooking: email }).where(eq(providers.id, me.id)));
  expect((await browser.get('/my')).text).toContain('href="mailto:kari%2Bkurs%26co@fjord.example"');
});

const old = 'fjord and forest';
const changed = 'mountain and moor';

async function withPassword() {
  const one = await somebody({ username: `kari-${Math.random()}` });
  await setPassword(await one.me.ctx(), one.userId, old);
  return { ...one, browser: await signedInVisitor(one.testApp.app, one.me, one.userId) };
}

test('changing the password requires the old one and ends other sessions', async () => {
  const { testApp, me, userId, browser, anyone } = await withPassword();
  const elsewhere = await signedInVisitor(testApp.app, me, userId);
  const response = await browser.post('/my/password', { old, password: changed, repeated: changed });
  expect(response).toMatchObject({ status: 303, headers: { location: '/my/password-changed' } });
  const cookie = responseCookies(response);
  const reported = await anyone.get('/my/password-changed', { cookie });
  expect(reported.text).toContain('still logged in here');
  expect(String(reported.headers['set-cookie'])).toMatch(/^password-changed=; .*Expires=Thu, 01 Jan 1970/);
  // Not sent without a change.
  const later = await anyone.get('/my/password-changed', { cookie: sessionCookie(response) });
  expect(later).toMatchObject({ status: 303, headers: { location: '/my/password' } });
  expect((await elsewhere.get('/my')).status).toBe(401);
  expect((await browser.get('/my')).status).toBe(401);
  const { rows } = await testApp.database.pool.query('select password_hash from course_users where id = $1', [userId]);
  expect(await isPassword(changed, rows[0].password_hash)).toBe(true);
});

test.each([
  ['wrong', { old: 'forest and fjord', password: changed }, 'old', 'not your password'],
  ['not there', { password: changed }, 'old', 'not your password'],
  ['right, but the new one too short', { old, password: 'short' }, 'password', '8 to 200'],
  ['right, but the new one not repeated', { old, password: changed, repeated: old }, 'repeated', 'not the same'],
])('an old password that is %s changes nothing', async (_, fields, name, rawResponse) => {
  const { browser } = await withPassword();
  const response = await browser.post('/my/password', fields);
  expect(response.status).toBe(400);
  expect(response.text).toContain('<title>Not saved: Change your password');
  expect(response.text).toMatch(new RegExp(`<p id="${name}-error" class="field-error">[^<]*${rawResponse}`));
  expect((await browser.post('/my/password', { old, password: changed })).status).toBe(303);
});

test('a concurrent password change wins, and the second is rejected', async () => {
  const { me, userId } = await withPassword();
  const testApp = await openTestApp(openTestDatabase(inject('shared')));
  onTestFinished(() => testApp.close());
  const browser = await signedInVisitor(testApp.app, me, userId);
  const { pool } = testApp.database;
  const query = pool.query.bind(pool) as (config: QueryConfig, values?: unknown[]) => Promise<QueryResult>;
  vi.spyOn(pool, 'query').mockImplementation((async (config: QueryConfig, values?: unknown[]) => {
    const result = await query(config, values);
    if (/^select "id", "password_hash"/.test(config.text))
      await setPassword(await me.ctx(), userId, 'chosen elsewhere');
    return result;
  }) as never);
  const response = await browser.post('/my/password', { old, password: changed });
  expect([response.status, response.headers['set-cookie']]).toEqual([400, undefined]);
  expect(response.text).toMatch(/<p id="old-error" class="field-error">[^<]*not your password/);
  const { rows } = await query({ text: 'select password_hash from course_users where id = $1', values: [userId] });
  expect(await isPassword('chosen elsewhere', rows[0].password_hash)).toBe(true);
});

test('ten wrong old passwords lock the change and the sign-on', async () => {
  const { me, userId, browser } = await withPassword();
  const tries = Array.from({ length: 10 }, () => browser.post('/my/password', { old: 'not it', password: changed }));
  for (const { status } of await Promise.all(tries)) expect(status).toBe(400);
  const response = await browser.post('/my/password', { old, password: changed });
  expect(response.status).toBe(429);
  expect(Number(response.headers['retry-after'])).toBeGreaterThan(800);
  expect(response.text).toMatch(/Too many wrong tries. Please wait 1[45] minutes/);
  const { username } = (await me.get(`/v2/course-users/${userId}`)).json();
  expect((await me.post('/v2/check-user-credentials', { username, password: old })).status).toBe(429);
});

test('personal details are shown in full', async () => {
  const { browser } = await somebody({
    ...{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari@x.example', phone: '900 00 000' },
    ...{ dateOfBirth: '1990-05-17', company: 'Fjord Energy' },
    ...{ homeAddress: 'Strandgaten 1', homeZipcode: '5013', homeCity: 'Bergen', invoiceCity: 'Oslo' },
  });
  const text = (await browser.get('/my/details')).text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  for (const fact of [
    'Name Kari Nordmann Username',
    'E-mail kari@x.example Phone 900 00 000 Date of birth Thursday 17 May 1990 Company Fjord Energy',
    'Home address Strandgaten 1 5013 Bergen Invoice address Oslo Is something wrong?',
  ])
    expect(text).toContain(fact);
});

test('errors are HTML pages', async () => {
  const { browser, anyone } = await somebody();
  const { text } = await anyone.get('/my/nothing/here', { 'accept-language': 'nb' });
  expect(text).toContain('Siden finnes ikke');
  const big = await browser.post('/my/password', { password: 'x'.repeat(1_100_000) });
  expect(big).toMatchObject({ status: 413, headers: { 'content-type': 'text/html; charset=utf-8' } });
  const gzip = await browser.post('/my/password', { password: 'x' }, { 'content-encoding': 'gzip' });
  expect(gzip.status).toBe(415);
});
