import { expect, test } from 'vitest';
import { listAuditEntries } from '../../../src/database/audit-log.ts';
import { setPassword } from '../../../src/domains/school/auth/password-service.ts';
import { createUser } from '../../support/orders.ts';
import { backdate, signedInVisitor } from '../../support/pages.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { app, database, createProvider } = testApp;
const old = 'fjord and forest';

/** A person with a password who is signed in with three browsers, and another person of the school. */
async function signedInThrice() {
  const me = await createProvider();
  const userId = await createUser(me, { username: `kari-${Math.random()}` });
  await setPassword(await me.ctx(), userId, old);
  const strangerId = await createUser(me, { username: `ola-${Math.random()}` });
  const open = () => signedInVisitor(app, me, userId);
  const [browser, phone, tablet] = [await open(), await open(), await open()];
  return { me, userId, browser, phone, tablet, stranger: await signedInVisitor(app, me, strangerId) };
}
const idsIn = (text: string) => [...text.matchAll(/name="session" value="([0-9a-f]{16})"/g)].map(([, id]) => id!);
type Browser = Awaited<ReturnType<typeof signedInVisitor>>;
const isOpen = async (browser: Browser) => (await browser.get('/my')).status === 200;

test('the list shows the active sessions of the person alone, without secrets', async () => {
  const { userId, me, browser } = await signedInThrice();
  const { status, text } = await browser.get('/my/sessions');
  expect(status).toBe(200);
  expect(idsIn(text)).toHaveLength(2);
  expect(text).toMatch(/<h2>This browser<\/h2><p>\w+ \d+ \w+ \d{4}, <span class="time">logged in at \d\d:\d\d<\/span>/);
  const { rows } = await database.pool.query<{ hash: string }>('select hash from sessions where user_id = $1', [
    userId,
  ]);
  for (const { hash } of rows) expect(text).not.toContain(hash);

  await backdate(testApp, 'sessions', userId, '61 minutes');
  const later = await signedInVisitor(app, me, userId);
  const only = (await later.get('/my/sessions')).text;
  expect(idsIn(only)).toEqual([]);
  expect(only).toContain('You are logged in nowhere else.');
});

test('a ticked session is ended with the password, and in the audit log; others go on', async () => {
  const { me, userId, browser, phone, tablet } = await signedInThrice();
  // The phone was used last.
  await database.pool.query(`update sessions set used_at = now() - interval '2 minutes' where user_id = $1`, [userId]);
  await phone.get('/my');
  const [first] = idsIn((await browser.get('/my/sessions')).text);
  const response = await browser.post('/my/sessions', { session: first!, old, which: 'chosen' });
  expect(response.status).toBe(200);
  expect(response.text).toContain('You were logged out of one browser.');
  expect(idsIn(response.text)).toHaveLength(1);
  expect([await isOpen(browser), await isOpen(phone), await isOpen(tablet)]).toEqual([true, false, true]);
  const entries = await listAuditEntries(database, { providerId: me.id, since: null, limit: 2 });
  expect(entries).toMatchObject([
    { actor: 'course_user', actor_id: userId, action: 'POST /my/sessions', item_ids: [userId] },
    { actor: 'course_user', actor_id: userId, action: 'POST /my/sessions (succeeded)' },
  ]);
});

test('all other sessions are ended at once, never those of another person', async () => {
  const { browser, phone, tablet, stranger } = await signedInThrice();
  const response = await browser.post('/my/sessions', { old, which: 'all' });
  expect(response.text).toContain('You were logged out of 2 browsers.');
  expect([await isOpen(browser), await isOpen(phone), await isOpen(tablet), await isOpen(stranger)]).toEqual([
    ...[true, false, false, true],
  ]);
});

test.each([
  ['a wrong password', { old: 'not it', which: 'all' }, 'not your password'],
  ['no password', { which: 'all' }, 'not your password'],
  ['nothing ticked', { old, which: 'chosen' }, 'Tick at least one.'],
  ['an id that is none', { old, session: '%', which: 'chosen' }, 'Tick at least one.'],
])('with %s no session is ended', async (_name, fields: Record<string, string>, message) => {
  const { browser, phone } = await signedInThrice();
  const response = await browser.post('/my/sessions', fields);
  expect([response.status, response.text]).toEqual([400, expect.stringContaining(message)]);
  expect(await isOpen(phone)).toBe(true);
});

test("another person's session cannot be ended by its id", async () => {
  const { browser, stranger, phone } = await signedInThrice();
  const [id] = idsIn((await phone.get('/my/sessions')).text);
  const other = await signedInThrice();
  const response = await other.browser.post('/my/sessions', { old, session: id!, which: 'chosen' });
  expect(response.text).toContain('logged out of 0 browsers');
  expect([await isOpen(browser), await isOpen(stranger), await isOpen(phone)]).toEqual([true, true, true]);
});
