import { expect, test } from 'vitest';
import { person } from '../../support/booking.ts';
import { recipientHashSql } from '../../../src/database/tables/catalog-posts.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { personFields, readFormFields, readMain, type FormFields } from '../../support/catalog-form.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { addInterests, interestMails, listInterests, newAddress } from '../../support/interests.ts';
import { forced, switchMails } from '../../support/mail.ts';
import { visitor } from '../../support/pages.ts';
import { openTestApp, settings, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);

/** A course without a date in a public catalog, and its form. */
async function school(course: Record<string, unknown> = {}) {
  const me = await createProvider();
  const base = await switchCatalogOn(me);
  const courseId = await me.course({ title: 'Knots', ...course });
  const page = `${base}/courses/knots-${courseId}`;
  const send = (fields: FormFields, headers: Record<string, string> = {}) =>
    anyone.post(`${page}/interest`, fields, headers);
  return { me, base, courseId, page, send };
}
const emailsOf = async (me: Provider, courseId: number) =>
  (await listInterests(me, courseId)).map(({ email }) => email);
const hasForm = ({ text }: { text: string }) => text.includes('<form method="post"');

test('the page of a course without a date has a form, stays cacheable, and its post is confirmed by a page', async () => {
  const { me, courseId, page, send } = await school();
  const course = await anyone.get(page);
  expect([course.status, course.headers['cache-control'], typeof course.headers['etag']]).toEqual([
    ...[200, 'public, no-cache', 'string'],
  ]);
  expect(readMain(course)).toContain('|Tell me when there is a date|');
  const cached = await anyone.get(page, { 'if-none-match': String(course.headers['etag']) });
  expect(cached.status).toBe(304);
  const fields = readFormFields(course);
  expect(fields).toEqual({ website: '', email: '', name: '' });
  expect(/action="([^"]*)"/.exec(/<form method="post".*?>/s.exec(course.text)![0])![1]).toBe(`${page}/interest`);
  const sent = await send({ ...fields, email: 'Ida@form.example', name: 'Ida Øvrebø' });
  expect([sent.status, sent.headers['location'], sent.headers['cache-control'], sent.headers['set-cookie']]).toEqual([
    ...[303, `${page}/interested`, 'no-store', undefined],
  ]);
  const answer = await anyone.get(String(sent.headers['location']));
  expect([answer.status, answer.headers['cache-control'], readMain(answer)]).toEqual([
    200,
    'no-store',
    expect.stringContaining(
      'unless you already wait for a date of “Knots”. Open the link in it to confirm: otherwise we will not write to you.',
    ),
  ]);
  expect(await listInterests(me, courseId)).toMatchObject([
    { email: 'ida@form.example', name: 'Ida Øvrebø', language: 'en', confirmed_at: null },
  ]);
  expect(await interestMails(me)).toEqual(['interest_confirmation ida@form.example']);
});

test('in Norwegian the form, its answer and the mail are Norwegian', async () => {
  const { me, courseId, page } = await school();
  const course = await anyone.get(`${page}?lang=no`);
  expect(readMain(course)).toContain('Si fra når det kommer en dato');
  const sent = await anyone.post(`${page}/interest?lang=no`, { email: 'ida@form.example' });
  expect(sent.headers['location']).toBe(`${page}/interested?lang=no`);
  const answer = readMain(await anyone.get(String(sent.headers['location'])));
  expect(answer).toContain('Se i innboksen din');
  expect(answer).toContain(
    'hvis du ikke alt venter på en dato for «Knots». Åpne lenken i den for å bekrefte: ellers skriver vi ikke til deg.',
  );
  expect(await listInterests(me, courseId)).toMatchObject([{ language: 'no', name: null }]);
});

test.each([
  [{ email: '' }, ['E-mail is missing']],
  [{ email: 'ida at form' }, ['E-mail is not valid']],
  [{ email: `${'x'.repeat(250)}@form.example` }, ['E-mail is not valid']],
  [{ email: 'ida', name: 'y'.repeat(256) }, ['Name is not valid', 'E-mail is not valid']],
])('%j is shown again, with its errors beside the fields', async (fields, errors) => {
  const { me, courseId, send } = await school();
  const typed = { website: '', name: 'Ida "Øvrebø"', ...fields };
  const page = await send(typed);
  expect([page.status, page.headers['cache-control'], readFormFields(page)]).toEqual([400, 'no-store', typed]);
  for (const error of errors) {
    const name = error.startsWith('Name') ? 'name' : 'email';
    expect(page.text).toContain(`<a href="#${name}">${error}</a>`);
    expect(page.text).toContain(`<p id="${name}-error" class="field-error">${error}</p>`);
  }
  expect(page.text).toContain('<title>Error: Tell me when there is a date: Knots');
  expect(await emailsOf(me, courseId)).toEqual([]);
});

test('unknown, known, waiting, confirmed and limited addresses are answered the same', async () => {
  const { me, courseId, send } = await school();
  const known = (await me.post('/v2/course-users', person())).json<{ email: string }>().email;
  await addInterests(me, courseId);
  const limited = newAddress();
  for (let n = 0; n < 5; n += 1) await me.post(`/v2/courses/${await me.course()}/interests`, { email: limited });
  const waiting = newAddress();
  await send({ email: waiting });
  const answers = [];
  for (const email of [newAddress(), known, waiting, 'ola-1@interest.example', limited]) {
    const { status, headers, text } = await send({ email });
    answers.push(JSON.stringify([status, { ...headers, 'x-request-id': '', date: '' }, text]));
  }
  expect(new Set(answers).size).toBe(1);
  expect(await emailsOf(me, courseId)).not.toContain(limited);
  expect((await interestMails(me)).filter((mail) => mail.endsWith(` ${limited}`))).toHaveLength(5);
});

test('mails of the booking form count for the limit of a recipient', async () => {
  const { me, courseId, send } = await school();
  const email = newAddress();
  await forced(
    me,
    `insert into catalog_posts (provider_id, key_hash, places, recipients, created_at)
      select ${me.id}, 'x', 0, array_agg(${recipientHashSql(String(me.id), `'${email}'`)}), now()
      from generate_series(1, 5)`,
  );
  await send({ email });
  expect(await emailsOf(me, courseId)).toEqual([]);
});

test('mails about interests count for the limit of the booking form', async () => {
  const { me, base, courseId } = await school();
  const email = newAddress();
  for (let n = 0; n < 5; n += 1) await anyone.post(`${base}/courses/x-${await me.course()}/interest`, { email });
  const url = `${base}/dates/knots-${await addDate(me, courseId)}/book`;
  const shown = await anyone.post(url, { ...personFields(1, { email }), action: 'check' });
  const booked = await anyone.post(url, { ...readFormFields(shown), action: 'book' });
  expect(readMain(await anyone.get(String(booked.headers['location'])))).toContain('No receipt was sent by e-mail.');
});

test('a form of another site, and one with the hidden field filled in, store nothing', async () => {
  const { me, courseId, send } = await school();
  const email = newAddress();
  const forged = [
    await send({ email }, { origin: 'https://evil.example' }),
    await send({ email }, { 'sec-fetch-site': 'cross-site' }),
    await send({ email, website: 'https://spam.example' }),
  ];
  expect(forged.map(({ status }) => status)).toEqual([403, 403, 429]);
  expect(readMain(forged[2]!)).toContain('Nothing was stored.');
  expect(readFormFields(forged[2]!)).toMatchObject({ email, website: '' });
  expect(await emailsOf(me, courseId)).toEqual([]);
  const own = { origin: settings.publicUrl, 'sec-fetch-site': 'same-origin' };
  expect((await send({ email }, own)).status).toBe(303);
});

test('an address has a limit of posts in a minute, and one of an hour that counts every post', async () => {
  const own = await openTestApp(database, { trustProxy: ['127.0.0.1'] });
  try {
    const browser = visitor(own.app);
    const { me, page } = await school();
    const email = newAddress();
    const sendFrom = async (ip: string, to = email) =>
      (await browser.post(`${page}/interest`, { email: to }, { 'x-forwarded-for': ip })).status;
    expect(await sendFrom('192.0.2.1')).toBe(303);
    // The second is for an address that waits.
    expect(await sendFrom('192.0.2.1')).toBe(303);
    await forced(
      me,
      `insert into catalog_posts select provider_id, key_hash || n, null, address_hash, '{}', 0, created_at
        from catalog_posts, generate_series(1, 14) n where provider_id = ${me.id}`,
    );
    expect([await sendFrom('192.0.2.1'), await sendFrom('192.0.2.2')]).toEqual([429, 303]);
    await forced(
      me,
      `update catalog_posts set created_at = created_at - interval '1 hour' where provider_id = ${me.id}`,
    );
    expect(await sendFrom('192.0.2.1')).toBe(303);
    for (let n = 0; n < 30; n += 1) expect(await sendFrom(`2001:db8::${n + 1}`, '')).toBe(400);
    expect([await sendFrom('2001:db8::ffff', ''), await sendFrom('2001:db8:0:1::1', '')]).toEqual([429, 400]);
  } finally {
    await own.app.close();
  }
});

test('a course with a date in its list has no form, and redirects that of before', async () => {
  const { me, courseId, page, send } = await school();
  const form = `${page}/interest`;
  expect([hasForm(await anyone.get(page)), (await anyone.get(form)).status]).toEqual([true, 200]);
  const dateId = await addDate(me, courseId, { capacityMax: 1, numConfirmed: 1 });
  expect(hasForm(await anyone.get(page))).toBe(false);
  for (const redirected of [await anyone.get(form), await send({ email: newAddress() })])
    expect([redirected.status, redirected.headers['location']]).toEqual([303, page]);
  expect(await emailsOf(me, courseId)).toEqual([]);
  await changeDate(me, dateId, { statusId: 3 });
  expect(hasForm(await anyone.get(page))).toBe(true);
});

test('a school without the mail has no form', async () => {
  const { me, courseId, page, send } = await school();
  expect(hasForm(await anyone.get(page))).toBe(true);
  await switchMails(me, { date_published: false });
  expect(hasForm(await anyone.get(page))).toBe(false);
  const redirected = await send({ email: newAddress() });
  expect([redirected.status, redirected.headers['location']]).toEqual([303, page]);
  expect(await emailsOf(me, courseId)).toEqual([]);
});

test('a course that is not public, or of another school, is not found', async () => {
  const { me, base } = await school();
  const other = await school();
  for (const id of [await me.course({ type: 'internal' }), other.courseId, 999_999_999]) {
    const url = `${base}/courses/knots-${id}`;
    expect([id, (await anyone.get(`${url}/interest`)).status, (await anyone.get(`${url}/interested`)).status]).toEqual([
      id,
      404,
      404,
    ]);
    expect((await anyone.post(`${url}/interest`, { email: newAddress() })).status).toBe(404);
  }
  expect(await interestMails(other.me)).toEqual([]);
});

test('the page of the form has no script or inline style, and another slug leads to it', async () => {
  const { base, courseId, page } = await school();
  const form = await anyone.get(`${page}/interest`);
  expect(form.headers['content-security-policy']).toContain("default-src 'none'");
  expect(form.text).not.toMatch(/<script|\sstyle=/);
  expect(form.text).toContain('noindex');
  const other = await anyone.get(`${base}/courses/other-${courseId}/interest`);
  expect([other.status, other.headers['location']]).toEqual([301, `${page}/interest`]);
});

test.each([
  ...['https://evil.example', 'Kari WWW.evil.example', 'x://y', 'ｗｗｗ．evil.example', 'https：／／evil.example'],
  ...['w\u200bww.evil.example', 'www\u00ad.evil.example', 'ww\u2060w\u3002evil.example', '\u{1d430}ww.evil.example'],
])('a name that could be a link is refused: %s', async (name) => {
  const { me, courseId, send } = await school();
  expect((await send({ email: newAddress(), name })).status).toBe(400);
  expect(await listInterests(me, courseId)).toEqual([]);
});
