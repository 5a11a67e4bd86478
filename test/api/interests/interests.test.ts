import { expect, test } from 'vitest';
import { createInterestLink } from '../../../src/domains/courses/interests/service.ts';
import { person } from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import { addInterests, askFor, interestMails, listInterests, newAddress } from '../../support/interests.ts';
import { forced, switchMails } from '../../support/mail.ts';
import { visitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();
const anyone = visitor(app);

async function school() {
  const me = await createProvider('Øystese kurs');
  return { me, courseId: await me.course({ title: 'Knots' }) };
}
const deleteCourse = async (me: Provider, id: number) =>
  expect((await me.request('DELETE')(`/v2/courses/${id}`)).status).toBe(200);
const age = (me: Provider, interval: string) =>
  forced(
    me,
    `update course_interests set created_at = created_at - interval '${interval}' where provider_id = ${me.id}`,
  );
/** The page that a mail links to. */
async function linkOf(me: Provider, courseId: number, email: string) {
  const [interest] = await listInterests(me, courseId, `?email=${email}`);
  const { unlockedStore } = await me.ctx();
  return `/my/interest/${await createInterestLink(unlockedStore, { providerId: me.id, interestId: interest!.id })}`;
}

test('an interest is stored with its language, and its address is asked by mail to confirm it', async () => {
  const { me, courseId } = await school();
  const response = await askFor(me, courseId, { email: 'Ida@Interest.Example', name: 'Ida Øvrebø', language: 'no' });
  expect([response.status, response.json()]).toEqual([
    202,
    { successful: true, course_id: courseId, email: 'Ida@Interest.Example' },
  ]);
  expect(await listInterests(me, courseId)).toEqual([
    {
      ...{ id: expect.any(Number), course_id: courseId, email: 'ida@interest.example', name: 'Ida Øvrebø' },
      ...{ language: 'no', confirmed_at: null, notified_at: null, coursedate_id: null },
      created_at: expect.any(String),
    },
  ]);
  expect(await interestMails(me)).toEqual(['interest_confirmation ida@interest.example']);
});

test.each([
  [{ email: undefined }, 'Missing field(s): email'],
  [{ email: 'nobody' }, 'Field(s) not valid: email'],
  [{ language: 'xx' }, 'Field(s) not valid: language'],
  [{ name: 'x'.repeat(256) }, 'Field(s) not valid: name'],
])('%j is refused', async (fields, error) => {
  const { me, courseId } = await school();
  const response = await askFor(me, courseId, fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
  expect(await listInterests(me, courseId)).toEqual([]);
});

test('a deleted course is not found', async () => {
  const { me, courseId } = await school();
  await deleteCourse(me, courseId);
  expect((await askFor(me, courseId)).status).toBe(404);
  expect((await me.get(`/v2/courses/${courseId}/interests`)).status).toBe(404);
});

test('a repeated request adds nothing, and is answered as the first one', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  const first = await askFor(me, courseId, { email });
  const again = await askFor(me, courseId, { email });
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(await listInterests(me, courseId)).toHaveLength(1);
  expect(await interestMails(me)).toHaveLength(1);
});

test('one that is not confirmed is asked again once its mail has left, a confirmed one is not', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  await askFor(me, courseId, { email });
  await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  await askFor(me, courseId, { email, name: 'Ida' });
  expect(await interestMails(me)).toHaveLength(2);
  await anyone.post(await linkOf(me, courseId, email), { answer: 'confirm' });
  await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  const known = await askFor(me, courseId, { email, name: 'Mallory' });
  expect([known.status, await interestMails(me)]).toEqual([202, Array(2).fill(`interest_confirmation ${email}`)]);
  expect(await listInterests(me, courseId)).toMatchObject([{ email, name: 'Ida', confirmed_at: expect.any(String) }]);
});

test('requests at the same time store one interest and queue one mail', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  const responses = await Promise.all(Array.from({ length: 8 }, () => askFor(me, courseId, { email })));
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect([(await listInterests(me, courseId)).length, (await interestMails(me)).length]).toEqual([1, 1]);
});

test('an e-mail address that the school knows is answered as an unknown one', async () => {
  const { me, courseId } = await school();
  const known = (await me.post('/v2/course-users', person())).json<{ email: string }>().email;
  const [first, second] = [
    await askFor(me, courseId, { email: known }),
    await askFor(me, courseId, { email: newAddress() }),
  ];
  const withoutAddress = (text: string) => text.replace(/"email":"[^"]*"/, '');
  expect([first.status, withoutAddress(first.text)]).toEqual([second.status, withoutAddress(second.text)]);
});

test('an address gets five mails in 24 hours, and is answered the same after that', async () => {
  const { me } = await school();
  const email = newAddress();
  const courses = [];
  for (let n = 0; n < 7; n += 1) courses.push(await me.course());
  const bodies = [];
  for (const id of courses) bodies.push(await askFor(me, id, { email: email.toUpperCase() }));
  expect(bodies.map(({ status }) => status)).toEqual(Array(7).fill(202));
  expect(await interestMails(me)).toHaveLength(5);
  expect(await listInterests(me, courses[5]!)).toEqual([]);
  // Of another school, and of the next day.
  const other = await school();
  await askFor(other.me, other.courseId, { email });
  expect(await interestMails(other.me)).toHaveLength(1);
  await forced(
    me,
    `update catalog_posts set created_at = created_at - interval '24 hours' where provider_id = ${me.id}`,
  );
  await askFor(me, courses[5]!, { email });
  expect(await interestMails(me)).toHaveLength(6);
});

test('a course with a date that can be booked is refused, and so is every course without the switch', async () => {
  const { me, courseId } = await school();
  const dateId = await addDate(me, courseId, { startAt: '2040-01-01', statusId: 3 });
  expect((await askFor(me, courseId)).status).toBe(202);
  await forced(me, `update course_dates set status_id = 1 where provider_id = ${me.id} and id = ${dateId}`);
  const refused = await askFor(me, courseId);
  expect([refused.status, refused.headers['x-error-code'], refused.json()]).toEqual([
    ...[400, 'course_has_date'],
    { error: 'The course has a date that can be booked' },
  ]);
  await switchMails(me, { date_published: false });
  expect((await askFor(me, await me.course())).headers['x-error-code']).toBe('interests_off');
});

test('the list is filtered by address, state and time', async () => {
  const { me, courseId } = await school();
  await addInterests(me, courseId, 2);
  await askFor(me, courseId, { email: 'ida@interest.example' });
  const emails = async (query: string) => (await listInterests(me, courseId, query)).map(({ email }) => email);
  expect(await emails('?confirmed=false')).toEqual(['ida@interest.example']);
  expect(await emails('?confirmed=true&limit=1')).toEqual(['ola-1@interest.example']);
  expect(await emails('?email=OLA-2@interest.example')).toEqual(['ola-2@interest.example']);
  expect(await emails('?notified=true')).toEqual([]);
  expect(await emails('?created_at_min=2100-01-01')).toEqual([]);
  expect(await emails('?limit=2&page=2')).toEqual(['ida@interest.example']);
});

test('the page of the link confirms by its form alone, and once', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  await askFor(me, courseId, { email });
  const link = await linkOf(me, courseId, email);
  const state = async () => (await listInterests(me, courseId)).map(({ confirmed_at }) => confirmed_at);
  const page = await anyone.get(link);
  expect([page.status, page.headers['cache-control'], page.headers['set-cookie']]).toEqual([
    200,
    'no-store',
    undefined,
  ]);
  expect(page.text).toContain('Øystese kurs tells you by one e-mail');
  await anyone.request('HEAD', link);
  expect(await state()).toEqual([null]);
  expect((await anyone.post(link, {})).status).toBe(400);
  expect((await anyone.post(link, { answer: 'confirm' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect(await state()).toEqual([null]);
  const confirmed = await anyone.post(link, { answer: 'confirm' });
  expect([confirmed.status, confirmed.text]).toEqual([200, expect.stringContaining('You get an e-mail when')]);
  const first = await state();
  expect(first).toEqual([expect.any(String)]);
  await anyone.post(link, { answer: 'confirm' });
  expect(await state()).toEqual(first);
});

test('the page deletes the interest with its mails, and then has ended', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  await askFor(me, courseId, { email });
  const link = await linkOf(me, courseId, email);
  const norwegian = { 'accept-language': 'nb' };
  const ended = await anyone.post(link, { answer: 'end' }, norwegian);
  expect([ended.status, ended.text]).toEqual([200, expect.stringContaining('Adressen din er slettet')]);
  expect([await listInterests(me, courseId), await interestMails(me)]).toEqual([[], []]);
  const unknown = await anyone.get(`/my/interest/${me.id}_${'x'.repeat(43)}`);
  for (const gone of [await anyone.get(link), await anyone.post(link, { answer: 'confirm' })])
    expect([gone.status, gone.text]).toEqual([410, unknown.text]);
  expect(unknown.text).not.toContain('My page');
});

test('a link ends with a newer one, after seven days, and with the course', async () => {
  const { me, courseId } = await school();
  const email = newAddress();
  await askFor(me, courseId, { email });
  const [first, second] = [await linkOf(me, courseId, email), await linkOf(me, courseId, email)];
  const status = async (link: string) => (await anyone.get(link)).status;
  expect([await status(first), await status(second)]).toEqual([410, 200]);
  await age(me, '7 days');
  expect(await status(second)).toBe(410);
  expect((await anyone.post(second, { answer: 'confirm' })).status).toBe(410);
  await age(me, '-1 minute');
  expect((await anyone.post(second, { answer: 'confirm' })).status).toBe(200);
  await age(me, '400 days');
  expect(await status(second)).toBe(200);
  await deleteCourse(me, courseId);
  expect(await status(second)).toBe(410);
});

test('a deleted course has no interests, also after the answer of a link', async () => {
  const { me, courseId } = await school();
  await addInterests(me, courseId, 3);
  await deleteCourse(me, courseId);
  const { rows } = await (
    await me.ctx()
  ).unlockedStore.$client.query(`select id from course_interests where provider_id = ${me.id}`);
  expect(rows).toEqual([]);
});
