import { expect, onTestFinished, test } from 'vitest';
import { openOwnHost } from '../../support/catalog.ts';
import { personFields, readMain } from '../../support/catalog-form.ts';
import { openFormSchool } from '../../support/form-school.ts';
import { createLinkToken } from '../../support/pages.ts';
import { openTestApp, sharedTestApp, toPluginConfig, type TestApp } from '../../support/test-app.ts';

const { database } = await sharedTestApp();
const config = toPluginConfig({ PERSONAL_PAGES: 'false' });

async function openWithout() {
  const testApp = await openTestApp(database, { config });
  onTestFinished(() => testApp.app.close());
  return testApp;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'] as const;

/** The answers to all methods, without what differs by request. */
async function answersBelow({ app }: Pick<TestApp, 'app'>, first: string, path: string, host = 'localhost') {
  const url = `${first}${path}`;
  const answers = await Promise.all(methods.map((method) => app.inject({ method, url, headers: { host } })));
  return answers.map(({ statusCode, headers, body }) => {
    const own = { 'x-request-id': '', 'content-length': '', date: '' };
    return [statusCode, { ...headers, ...own }, body.replaceAll(first, '/…')];
  });
}

const paths = ['', '/', '/log-in', '/sessions', `/sign-in/${'a'.repeat(43)}`, '/nothing', '/%', '/%2e/x', '?a=1'];

test.each(paths)('/my%s is answered as an unknown path', async (path) => {
  const testApp = await openWithout();
  const answers = await answersBelow(testApp, '/my', path);
  expect(answers).toEqual(await answersBelow(testApp, '/unknown', path));
  expect(answers[0]![0]).toBe(path === '/%' ? 400 : 404);
});

test('at the host name of a catalog, /my and links of mails are answered as an unknown path', async () => {
  const testApp = await openWithout();
  const me = await testApp.createProvider();
  const { host, app, read } = await openOwnHost({ database }, me, { config });
  expect((await read('/')).status).toBe(200);
  for (const path of [...paths, `/booking/${await createLinkToken(me, { bookingId: 1 })}`]) {
    const answers = await answersBelow({ app }, '/my', path, host);
    expect(answers, path).toEqual(await answersBelow({ app }, '/unknown', path, host));
    expect(answers[0]![0]).toBe(404);
  }
});

test('a booking in the catalog is confirmed without a link to it', async () => {
  const { base, open, send, anyone } = await openFormSchool(await openWithout());
  const booked = await send({ ...(await open()), ...personFields(1) });
  const confirmation = await anyone.get(String(booked.headers['location']));
  expect([booked.status, confirmation.status]).toEqual([303, 200]);
  expect(readMain(confirmation)).toContain('|We have sent a receipt to kari1@form.example.|');
  for (const { text } of [confirmation, await anyone.get(base)]) expect(text).not.toMatch(/\/my\b/);
});

test('a confirmation without a receipt names no link, of which there is none', async () => {
  const { open, send, anyone } = await openFormSchool(await openWithout());
  const book = async () => {
    const booked = await send({ ...(await open()), ...personFields(1, { email: 'often@form.example' }) });
    return readMain(await anyone.get(String(booked.headers['location'])));
  };
  let confirmation = '';
  for (let n = 0; n < 6 && !confirmation.includes('No receipt'); n += 1) confirmation = await book();
  expect(confirmation).toContain('|No receipt was sent by e-mail. Please keep this page.|');
});

test('the page of a course without a date has no form for an interest, which nobody could confirm', async () => {
  const { me, base, anyone } = await openFormSchool(await openWithout());
  const page = `${base}/courses/ropes-${await me.course({ title: 'Ropes' })}`;
  const course = await anyone.get(page);
  expect([course.status, course.text.includes('<form method="post"')]).toEqual([200, false]);
  const form = await anyone.get(`${page}/interest`);
  expect([form.status, form.headers['location']]).toEqual([303, page]);
});
