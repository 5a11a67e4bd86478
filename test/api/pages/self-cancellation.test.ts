import { expect, test } from 'vitest';
import { loadCancellationTerms } from '../../../src/domains/bookings/participant-changes/deregistration-service.ts';
import {
  bookOrFail,
  createBookableDate,
  endOffers,
  person,
  seatCounters,
  statusesOnDate,
} from '../../support/booking.ts';
import { addGathering, addLocation, changeDate } from '../../support/dates.ts';
import { createNotifiedDate, readNotices } from '../../support/notices.ts';
import { createAttendance, createOrder, createUser } from '../../support/orders.ts';
import { createLinkToken, signedInVisitor, visitor } from '../../support/pages.ts';
import { sharedTestApp, type Provider, type TestResponse } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);
const main = ({ text }: TestResponse) =>
  /<main[^>]*>(.*)<\/main>/s
    .exec(text)![1]!
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/\s*\|[|\s]*/g, '|');
/** `$1` is the provider. */
const rowsOf = async (me: Provider, query: string) =>
  (await database.pool.query<Record<string, unknown>>(query, [me.id])).rows;
const mailsOf = async (me: Provider) =>
  (
    await rowsOf(
      me,
      `select purpose || ' ' || participant_id as mail from outbox where provider_id = $1
        and purpose in ('deregistration', 'promotion') order by id`,
    )
  ).map(({ mail }) => mail);
const writersOf = (me: Provider) =>
  rowsOf(
    me,
    `select actor, actor_id, action from audit_entries where provider_id = $1 and action like '%/my/%' order by id`,
  );

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

type Settings = { self_cancellation?: boolean; late_cancellation?: 'no' | 'fee' };
type Spec = Settings & {
  /** The days of the location of the date; the date has no location unless sent. */
  days?: number;
  date?: Parameters<typeof createBookableDate>[1];
};

async function school({ days, date = {}, ...settings }: Spec = {}) {
  const me = await createProvider('Øystese kurs');
  expect((await me.put('/v2/booking-settings', { self_cancellation: true, ...settings })).status).toBe(200);
  const locationId = days === undefined ? null : await addLocation(me, { title: 'Brygga', cancellationDays: days });
  const { courseId, dateId } = await createBookableDate(me, {
    ...{ course: { title: 'Knots' }, startAt: inDays(10), startTimeAt: '09:00', endTimeAt: '15:00', locationId },
    ...date,
  });
  return { me, courseId, dateId };
}

/** A person with a place, signed in. */
async function participant(spec: Spec = {}, statusId = 1) {
  const { me, courseId, dateId } = await school(spec);
  const userId = await createUser(me, { firstname: 'Kari', email: 'kari@people.example' });
  const order = { courseId, dateId, users: [userId], participant: { statusId } };
  const { participantIds, bookingId } = await createOrder(me, order);
  const id = participantIds[0]!;
  const browser = await signedInVisitor(app, me, userId);
  const path = `/my/courses/${id}`;
  const cancel = (fields: Record<string, string> = {}) =>
    browser.post(`${path}/cancel`, { date: String(dateId), ...fields });
  return { me, courseId, dateId, userId, id, bookingId, browser, path, cancel };
}

test('a participant cancels: the mail and the promotion of the next are of one transaction', async () => {
  const { me, dateId, userId, id, browser, path, cancel } = await participant({
    date: { capacityMax: 1, capacityWait: 2 },
  });
  const next = await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  const nextId = next.participants[0]!.id;
  expect(await statusesOnDate(me, dateId)).toEqual([1, 3]);

  const course = await browser.get(path);
  expect(course.text).toContain(`href="${path}/cancel"`);
  expect(main(course)).toMatch(/\|Cancel your place\|free of charge until \w+ \d+ \w+ \d{4}, 09:00\|/);
  const form = await browser.get(`${path}/cancel`);
  expect([form.status, form.headers['cache-control']]).toEqual([200, 'no-store']);
  expect(main(form)).toMatch(/^\|Cancel the place\?\|Knots\|When\|.*\|09:00–15:00\|.*\|Free of charge until /);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 3]);

  const done = await cancel();
  expect(done.status).toBe(200);
  expect(main(done)).toContain(
    '|The place is canceled|There is no fee for the cancellation.|NOK\u00a01,000.00 is credited.|Knots|',
  );
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1]);
  expect(await seatCounters(me, dateId)).toEqual([1, 0, 0, 0]);
  const written = await rowsOf(
    me,
    `select xmin::text from participants where provider_id = $1 and id in (${id}, ${nextId})
      union select xmin::text from outbox where provider_id = $1 and purpose = 'deregistration' and participant_id = ${id}`,
  );
  expect(written).toHaveLength(1);
  expect(await mailsOf(me)).toContain(`deregistration ${id}`);
  const action = 'POST /my/courses/:participantId/cancel';
  expect(await writersOf(me)).toEqual([{ actor: 'course_user', actor_id: userId, action }]);

  const clock = await rowsOf(me, 'select changed_at::text from provider_state where provider_id = $1');
  for (const again of [await cancel(), await browser.get(`${path}/cancel`)]) {
    expect(again.status).toBe(200);
    expect(main(again)).toBe(main(done));
  }
  expect(await rowsOf(me, 'select changed_at::text from provider_state where provider_id = $1')).toEqual(clock);
  expect((await mailsOf(me)).filter((mail) => mail === `deregistration ${id}`)).toHaveLength(1);
  const afterwards = await browser.get(path);
  expect(main(afterwards)).toContain('|You are deregistered|');
  expect(afterwards.text).not.toContain(`${path}/cancel`);
});

test('without the setting of the school there is neither a link nor a page', async () => {
  const { me, bookingId, id, browser, path, cancel } = await participant({ self_cancellation: false });
  const booking = `/my/booking/${await createLinkToken(me, { bookingId })}`;
  expect((await browser.get(path)).text).not.toContain('/cancel');
  expect((await anyone.get(booking)).text).not.toContain('/cancel');
  const unknown = await browser.get('/my/courses/999999999/cancel');
  for (const response of [await browser.get(`${path}/cancel`), await cancel()])
    expect([response.status, response.text]).toEqual([404, unknown.text]);
  for (const response of [await anyone.get(`${booking}/cancel/${id}`), await anyone.post(`${booking}/cancel/${id}`)])
    expect(response.status).toBe(404);
  expect(
    (await rowsOf(me, 'select status_id from participants where provider_id = $1')).map((row) => row['status_id']),
  ).toEqual([1]);
});

test('after the days of the location a place cannot be canceled', async () => {
  const { me, dateId, browser, path, cancel } = await participant({ days: 14 });
  expect((await browser.get(path)).text).not.toContain('/cancel');
  for (const response of [await browser.get(`${path}/cancel`), await cancel(), await cancel({ fee: 'yes' })]) {
    expect(response.status).toBe(410);
    expect(main(response)).toContain('|The place cannot be canceled here|The time to cancel is over.');
    expect(response.text).not.toContain('<form method="post">');
  }
  expect(await statusesOnDate(me, dateId)).toEqual([1]);
  expect(await mailsOf(me)).toEqual([]);
});

test('after the days of the location a place is canceled with a fee, where the school says so', async () => {
  const { me, dateId, id, browser, path, cancel } = await participant({ days: 14, late_cancellation: 'fee' });
  expect(main(await browser.get(path))).toMatch(/\|Cancel your place\|with a fee, until .*, 09:00\|/);
  const form = await browser.get(`${path}/cancel`);
  expect(form.text).toContain('name="fee" value="yes"');
  // A form from before the time limit.
  const refused = await cancel();
  expect(refused.status).toBe(409);
  expect(main(refused)).toContain('|Nothing was canceled: something has changed meanwhile.');
  expect(refused.text).toContain('name="fee" value="yes"');
  expect(await statusesOnDate(me, dateId)).toEqual([1]);

  const done = await cancel({ fee: 'yes' });
  expect(done.status).toBe(200);
  expect(main(done)).toContain('|The school charges a fee for the cancellation.|');
  expect(await statusesOnDate(me, dateId)).toEqual([8]);
  expect(await mailsOf(me)).toEqual([`deregistration ${id}`]);
});

test.each([
  ['a location without days', { days: 0 }],
  ['no location', {}],
  ['a location with fewer days', { days: 3, late_cancellation: 'fee' as const }],
])('%s: a place is canceled free of charge', async (_case, spec) => {
  const { me, dateId, browser, path, cancel } = await participant(spec);
  const { text } = await browser.get(path);
  expect(text.includes('after that with a fee')).toBe('late_cancellation' in spec);
  // A fee that is not due any more is not charged.
  expect((await cancel({ fee: 'yes' })).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4]);
});

const free = (until: string, isFeeAfterwards = true) => ({ kind: 'free', until, isFeeAfterwards });
const fee = (until: string) => ({ kind: 'fee', until });
const closed = (reason: string) => ({ kind: 'closed', reason });

test.each([
  // Summer time begins on 31 March 2030: seven days before 9 o'clock it is 9 o'clock in winter time.
  ['Europe/Oslo', '2030-04-03', '09:00', 7, '2030-03-27 07:59:59Z', free('2030-03-27 09:00')],
  ['Europe/Oslo', '2030-04-03', '09:00', 7, '2030-03-27 08:00:00Z', fee('2030-04-03 09:00')],
  ['Europe/Oslo', '2030-04-03', '09:00', 7, '2030-04-03 06:59:59Z', fee('2030-04-03 09:00')],
  ['Europe/Oslo', '2030-04-03', '09:00', 7, '2030-04-03 07:00:00Z', closed('started')],
  // And ends on 27 October.
  ['Europe/Oslo', '2030-10-28', null, 1, '2030-10-26 21:59:59Z', free('2030-10-26 23:59')],
  ['Europe/Oslo', '2030-10-28', null, 1, '2030-10-26 22:00:00Z', fee('2030-10-27 23:59')],
  ['Europe/Oslo', '2030-10-28', null, 1, '2030-10-27 22:59:59Z', fee('2030-10-27 23:59')],
  ['Europe/Oslo', '2030-10-28', null, 1, '2030-10-27 23:00:00Z', closed('started')],
  ['America/New_York', '2030-06-10', '18:30', 2, '2030-06-08 22:29:59Z', free('2030-06-08 18:30')],
  ['America/New_York', '2030-06-10', '18:30', 2, '2030-06-08 22:30:00Z', fee('2030-06-10 18:30')],
  ['Europe/Oslo', '2030-06-10', '09:00', 0, '2030-06-10 06:59:59Z', free('2030-06-10 09:00', false)],
  ['Europe/Oslo', '2030-06-10', '09:00', 0, '2030-06-10 07:00:00Z', closed('started')],
  ['Europe/Oslo', '2030-06-10', '09:00', 2_147_483_647, '2029-01-01 00:00:00Z', fee('2030-06-10 09:00')],
])(
  'in %s, a date at %s %s with %i days has at %s the terms %j',
  async (zone, startAt, startTimeAt, days, at, terms) => {
    const date = { startAt, startTimeAt, endTimeAt: null, timezone: zone };
    const { me, id } = await participant({ days, late_cancellation: 'fee', date });
    const ctx = await me.ctx();
    expect((await loadCancellationTerms(ctx, ctx.db, [id], at)).get(id)).toEqual(terms);
  },
);

test.each([
  ['a canceled date', { date: { statusId: 3 } }, 'The school has canceled this date.'],
  ['a date that has begun', { date: { startAt: inDays(-2), endAt: inDays(2) } }, 'The course has begun.'],
])('a place of %s cannot be canceled', async (_case, spec, reason) => {
  const { me, dateId, browser, path, cancel } = await participant(spec);
  expect((await browser.get(path)).text).not.toContain('/cancel');
  const refused = await cancel();
  expect([refused.status, main(refused).includes(`|${reason}`)]).toEqual([410, true]);
  expect(await statusesOnDate(me, dateId)).toEqual([1]);
});

test('a place with attendance cannot be canceled; attendance that was taken back does not count', async () => {
  const { me, dateId, id, cancel } = await participant();
  await createAttendance(me, id, await addGathering(me, dateId), { attended: null });
  await createAttendance(me, id, await addGathering(me, dateId), { attended: false });
  const refused = await cancel();
  expect([refused.status, main(refused).includes('|The school has registered attendance already.')]).toEqual([
    410,
    true,
  ]);
  const other = await participant();
  await createAttendance(other.me, other.id, await addGathering(other.me, other.dateId), { attended: null });
  expect((await other.cancel()).status).toBe(200);
});

test('the school is told, where it wants to be', async () => {
  const me = await createProvider();
  const { dateId, courseId } = await createNotifiedDate(me, {}, { startAt: inDays(10) });
  await me.put('/v2/booking-settings', { self_cancellation: true });
  const userId = await createUser(me);
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId] });
  const browser = await signedInVisitor(app, me, userId);
  await browser.post(`/my/courses/${participantIds[0]!}/cancel`, { date: String(dateId) });
  expect(await readNotices({ database }, me)).toMatchObject([
    { purpose: 'notice_canceled', address: 'hall@school.example', participantId: participantIds[0] },
  ]);
});

test('a place on the waiting list is canceled without a fee until the start', async () => {
  const { me, dateId, browser, path, cancel } = await participant({ days: 30, date: { capacityWait: 1 } }, 3);
  expect(main(await browser.get(path))).toMatch(/\|Leave the waiting list\|free of charge until .*, 09:00\|/);
  expect(main(await browser.get(`${path}/cancel`))).toContain(
    '|The place on the waiting list goes to the next person.|',
  );
  expect((await cancel()).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4]);
});

/** A date with one seat, which its first participant gives up; the others wait. */
async function offered(waiting: number, spec: Spec = {}) {
  const first = await participant({
    ...spec,
    date: { capacityMax: 1, capacityWait: 3, waitingMode: 'offer', ...spec.date },
  });
  const { me, courseId, dateId } = first;
  const users = [];
  for (let n = 0; n < waiting; n += 1) {
    const userId = await createUser(me);
    const order = { courseId, dateId, users: [userId], participant: { statusId: 3 } };
    const { participantIds } = await createOrder(me, order);
    const browser = await signedInVisitor(app, me, userId);
    const cancel = () => browser.post(`/my/courses/${participantIds[0]!}/cancel`, { date: String(dateId) });
    users.push({ id: participantIds[0]!, cancel });
  }
  expect((await first.cancel()).status).toBe(200);
  return { me, dateId, users };
}

test('an offer is canceled without a fee, and the place is offered to the next', async () => {
  const { me, dateId, users } = await offered(2);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7, 3]);
  expect((await users[0]!.cancel()).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 7]);
});

test('offers that are due end before a place is canceled', async () => {
  const { me, dateId, users } = await offered(2);
  await endOffers(me);
  expect((await users[0]!.cancel()).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 4, 7]);
  expect(
    await rowsOf(me, `select lapsed_offers from participants where provider_id = $1 and id = ${users[0]!.id}`),
  ).toEqual([{ lapsed_offers: 1 }]);
});

test('the rest of a group that waits together is promoted when it fits', async () => {
  const { me, dateId } = await school({ date: { capacityMax: 2, capacityWait: 4 } });
  await bookOrFail(me, dateId);
  const group = { participants: [person(), person()], waiting_together: true, config: { waiting_list_when_full: 1 } };
  const { booking_id, participants } = await bookOrFail(me, dateId, group);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 3, 3]);
  const booking = `/my/booking/${await createLinkToken(me, { bookingId: Number(booking_id) })}`;
  const left = await anyone.post(`${booking}/cancel/${participants[0]!.id}`, { date: String(dateId) });
  expect(left.status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([1, 4, 1]);
});

test('after a move, the place on the new date is canceled only once that was shown', async () => {
  const { me, dateId, id, browser, path, cancel } = await participant();
  const { dateId: other } = await createBookableDate(me, { startAt: inDays(20) });
  expect((await me.post(`/v2/participants/${id}/move`, { coursedate_id: other })).status).toBe(200);
  const refused = await cancel();
  expect(refused.status).toBe(409);
  expect(refused.text).toContain(`name="date" value="${other}"`);
  expect((await browser.post(`${path}/cancel`)).status).toBe(409);
  expect([await statusesOnDate(me, dateId), await statusesOnDate(me, other)]).toEqual([[], [1]]);
  expect((await cancel({ date: String(other) })).status).toBe(200);
  expect(await statusesOnDate(me, other)).toEqual([4]);
});

test('a date that moves out of the time to cancel meanwhile keeps its participant', async () => {
  const { me, dateId, cancel } = await participant({ days: 5 });
  await changeDate(me, dateId, { startAt: inDays(4), endAt: inDays(4), deadlineAt: inDays(4) });
  expect((await cancel()).status).toBe(410);
  expect(await statusesOnDate(me, dateId)).toEqual([1]);
});

test('places of other people cannot be canceled', async () => {
  const { me, courseId, dateId, browser } = await participant();
  const { participantIds } = await createOrder(me, { courseId, dateId });
  const paths = [participantIds[0]!, 'x', '9007199254740993'].map((one) => `/my/courses/${one}/cancel`);
  for (const path of paths) {
    expect((await browser.get(path)).status).toBe(404);
    expect((await browser.post(path, { date: String(dateId) })).status).toBe(404);
    expect((await anyone.post(path, { date: String(dateId) })).status).toBe(401);
  }
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1]);
});

test('twenty requests of two browsers cancel a place once', async () => {
  const { me, dateId, userId, id, path, cancel } = await participant({ date: { capacityMax: 1, capacityWait: 3 } });
  for (let n = 0; n < 3; n += 1) await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  const other = await signedInVisitor(app, me, userId);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? cancel() : other.post(`${path}/cancel`, { date: String(dateId) }),
    ),
  );
  expect(new Set(responses.map((response) => `${response.status} ${main(response)}`)).size).toBe(1);
  expect(responses[0]!.status).toBe(200);
  expect((await mailsOf(me)).filter((mail) => mail === `deregistration ${id}`)).toHaveLength(1);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 1, 3, 3]);
  expect(await writersOf(me)).toHaveLength(1);
});

async function payer(fields: Record<string, unknown>, spec: Spec = {}) {
  const { me, dateId } = await school(spec);
  const summary = await bookOrFail(me, dateId, { booker_name: 'Ola', booker_email: 'ola@payer.example', ...fields });
  const bookingId = Number(summary.booking_id);
  const url = `/my/booking/${await createLinkToken(me, { bookingId })}`;
  const ids = summary.participants.map(({ id }) => id);
  const cancel = (id: number, more: Record<string, string> = {}) =>
    anyone.post(`${url}/cancel/${id}`, { date: String(dateId), ...more });
  return { me, dateId, url, ids, cancel };
}

test('a payer cancels a place of the booking, and its participant gets a mail', async () => {
  const names = [person({ firstname: 'Siri', lastname: 'Vik' }), person({ firstname: 'Unn', lastname: 'Moe' })];
  const { me, dateId, url, ids, cancel } = await payer({ participants: names });
  const page = await anyone.get(url);
  for (const id of ids) expect(page.text).toContain(`href="${url}/cancel/${id}"`);
  expect(main(page)).toMatch(/\|Siri Vik\|Has a place\|Cancel\|: Siri Vik\|free of charge until .*, 09:00\|Unn Moe\|/);
  const form = await anyone.get(`${url}/cancel/${ids[1]!}`);
  expect(main(form)).toContain('|Participant|Unn Moe|');
  expect(main(form)).toContain('|Unn Moe gets an e-mail about it.|');
  expect(form.text).toContain(`href="${url}"`);

  const done = await cancel(ids[1]!);
  expect([done.status, main(done).includes('|The place is canceled|')]).toEqual([200, true]);
  expect(main(await cancel(ids[1]!))).toBe(main(done));
  expect(await statusesOnDate(me, dateId)).toEqual([1, 4]);
  expect(await mailsOf(me)).toEqual([`deregistration ${ids[1]!}`]);
  const action = 'POST /my/booking/:token/cancel/:participantId';
  expect(await writersOf(me)).toEqual([{ actor: 'server', actor_id: null, action }]);
  expect(main(await anyone.get(url))).toMatch(/\|Unn Moe\|Deregistered\|Payment\|/);
});

test('a payer cancels a place without a name, which has no mail', async () => {
  const { me, dateId, url, ids, cancel } = await payer({ participants: undefined, places: 2 });
  expect(main(await anyone.get(`${url}/cancel/${ids[0]!}`))).toContain('|Participant|No name yet|');
  expect((await cancel(ids[0]!)).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([4, 7]);
  expect(await mailsOf(me)).toEqual([]);
});

test('a payer accepts the fee of each place', async () => {
  const { me, dateId, ids, cancel } = await payer(
    { participants: [person(), person()] },
    { days: 14, late_cancellation: 'fee' },
  );
  expect((await cancel(ids[0]!)).status).toBe(409);
  expect((await cancel(ids[0]!, { fee: 'yes' })).status).toBe(200);
  expect(await statusesOnDate(me, dateId)).toEqual([8, 1]);
});

test('a link cancels no place of another booking, and none once it has ended', async () => {
  const { me, dateId, url, cancel } = await payer({});
  const other = await bookOrFail(me, dateId);
  const foreign = other.participants[0]!.id;
  expect((await anyone.get(`${url}/cancel/${foreign}`)).status).toBe(404);
  expect((await cancel(foreign)).status).toBe(404);
  const ended = await anyone.get(`/my/booking/${me.id}_${'x'.repeat(43)}/cancel/${foreign}`);
  expect(ended.status).toBe(410);
  expect(main(ended)).toContain('|This link no longer works|');
  expect(await statusesOnDate(me, dateId)).toEqual([1, 1]);
});

test('the pages are in Norwegian, too', async () => {
  const { browser, path } = await participant();
  const norwegian = { 'accept-language': 'nb' };
  expect(main(await browser.get(path, norwegian))).toMatch(
    /\|Avbestill plassen din\|gratis til \w+ \d+\. \w+ \d{4}, 09:00\|/,
  );
  expect(main(await browser.get(`${path}/cancel`, norwegian))).toContain('|Vil du avbestille plassen?|');
});
