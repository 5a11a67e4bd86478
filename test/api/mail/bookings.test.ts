import { expect, test } from 'vitest';
import { deleteOld } from '../../../src/database/housekeeping.ts';
import { findLink } from '../../../src/domains/messages/links/service.ts';
import { bookOrFail, book, createBookableDate, errorCodes, person } from '../../support/booking.ts';
import { tasks } from '../../support/housekeeping.ts';
import {
  allSent,
  deliverMails,
  eventually,
  extractToken,
  forced,
  makeDue,
  openMailTestApp,
  readOutbox,
  smtpError,
  startMailServer,
  startWorker,
} from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';

const booker = { booker_name: 'Ola Nordmann', booker_email: 'ola@people.example' };
const config = { send_link_email_to_booker: true };
const sendLink = (me: Provider, bookingId: string) => me.post(`/v2/booking/${bookingId}/link`, {});

/** A course with a title of its own. */
const other = { course: {} };

/** A booking of Kari by Ola, and the participant. */
async function bookKari(me: Provider, fields: Record<string, unknown> = {}, date: Record<string, unknown> = {}) {
  const { dateId } = await createBookableDate(me, {
    course: { title: 'Knots' },
    ...{ startAt: '2030-06-07', endAt: '2030-06-07', startTimeAt: '09:00', endTimeAt: '15:30' },
    ...date,
  });
  const participants = [person({ lastname: 'Nordmann', email: 'kari@people.example' })];
  const summary = await bookOrFail(me, dateId, { participants, ...booker, ...fields });
  return { ...summary, dateId, participantId: summary.participants[0]!.id };
}

/** Queues a mail about a participant. */
const queue = (me: Provider, purpose: string, participantId: number, to: 'user_id' | 'booking_id' | 'address') =>
  forced(
    me,
    `insert into outbox (provider_id, purpose, participant_id, ${to}, created_at, due_at)
      select provider_id, '${purpose}', id, ${to === 'address' ? "'per@people.example'" : to}, now(), now()
      from participants where provider_id = ${me.id} and id = ${participantId}`,
  );

const endDates = (me: Provider, dateId?: number) =>
  forced(
    me,
    `update course_dates set start_at = '2020-01-01', end_at = '2020-01-01', deadline_at = '2020-01-01'
      where provider_id = ${me.id} and id = ${dateId ?? 'id'}`,
  );

const offerUntil = (me: Provider, participantId: number, until = '2030-06-01 12:30+02') =>
  forced(
    me,
    `update participants set status_id = 7, held_for = 'offer', held_until = '${until}'
      where provider_id = ${me.id} and id = ${participantId}`,
  );

test('a booking mails its booker a link, and a new one ends it', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const { booking_id, order_id } = await bookKari(me, { config });
  const [mail, ...more] = await deliverMails(testApp);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({
    to: [{ name: 'Ola Nordmann', address: 'ola@people.example' }],
    subject: 'Your booking: Knots',
  });
  const token = extractToken(mail!.text, 'booking');
  expect(mail!.text).toBe(`Hello Ola Nordmann,

This link shows your booking at Øystese kurs: the participants, the amounts, and what is left to pay.

If you have booked places without names, you can name the participants there.

Course: Knots
Date: Friday 7 June 2030, 09:00–15:30 (Europe/Oslo)
Order number: ${order_id}
Price with VAT: NOK\u00a01,000.00
Paid: NOK\u00a00.00
Left to pay: NOK\u00a01,000.00

Show the booking:
http://localhost:3000/my/booking/${token}

The link works until the course is over. Keep it to yourself: whoever has it sees the booking.

Kind regards
Øystese kurs

`);
  const { unlockedStore } = await me.ctx();
  const found = { providerId: me.id, bookingId: Number(booking_id), participantId: null, userId: null };
  expect(await findLink(unlockedStore, 'booking', token)).toEqual(found);
  expect(await findLink(unlockedStore, 'offer', token)).toBeUndefined();
  const { rows } = await testApp.database.pool.query(`select l::text as stored, l.expires_at = d.ends_at as "ends"
    from booking_links l join bookings b on b.id = l.booking_id join course_dates d on d.id = b.course_date_id`);
  expect(rows).toEqual([{ stored: expect.not.stringContaining(token), ends: true }]);

  // The second request finds the mail waiting.
  for (let n = 0; n < 2; n += 1)
    expect((await sendLink(me, booking_id)).json<object>()).toEqual({
      ...{ successful: true, booking_id, email: 'ola@people.example' },
    });
  const again = await deliverMails(testApp);
  expect(again.map(({ subject }) => subject)).toEqual(['Your booking: Knots']);
  expect(await findLink(unlockedStore, 'booking', extractToken(again[0]!.text, 'booking'))).toEqual(found);
  expect(await findLink(unlockedStore, 'booking', token)).toBeUndefined();
});

test('a group without names gets the link alone', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me);
  const all = { ...config, send_receipt_email_to_participant: true, send_account_created_email_to_user: true };
  await bookOrFail(me, dateId, { participants: undefined, places: 2, ...booker, config: all });
  expect((await readOutbox(testApp)).map(({ purpose }) => purpose)).toEqual(['booking_link']);
});

test('a mail that is tried again has another link, and the mail is deleted before its link', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await bookKari(me, { config });
  let refusals = 1;
  const server = await startMailServer({
    onRcptTo: (_address, _session, done) => done((refusals -= 1) >= 0 ? smtpError(451, 'Later') : null),
  });
  startWorker(testApp, { to: server.url });
  const readHashes = async () =>
    (await testApp.database.pool.query<{ hash: string }>('select hash from booking_links')).rows;
  await eventually(async () => expect((await readOutbox(testApp))[0]!.last_error).not.toBeNull());
  const first = await readHashes();
  await makeDue(testApp);
  await allSent(testApp);
  expect(await readHashes()).toEqual([{ hash: expect.not.stringMatching(first[0]!.hash) }]);

  await testApp.database.pool.query(`update outbox set sent_at = sent_at - interval '9 days'`);
  const [outbox, links] = ['outbox', 'booking_links'].map((name) => tasks.find(({ table }) => table === name)!);
  expect(await deleteOld(testApp.database, outbox!, 5)).toBe(1);
  const { unlockedStore } = await me.ctx();
  const token = extractToken(server.received[0]!.text, 'booking');
  expect(await findLink(unlockedStore, 'booking', token)).toBeDefined();

  await testApp.database.pool.query(`update booking_links set expires_at = now() - interval '9 days'`);
  expect(await deleteOld(testApp.database, links!, 5)).toBe(0);
  await endDates(me);
  expect(await findLink(unlockedStore, 'booking', token)).toBeUndefined();
  expect(await deleteOld(testApp.database, links!, 5)).toBe(1);
});

test('a recipient gets 5 links in 24 hours, then 429, and mails that a booking asks for leave', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { booking_id } = await bookKari(me);
  const sent = () =>
    testApp.database.pool.query('update outbox set sent_at = created_at where provider_id = $1', [me.id]);
  const links = async () => (await readOutbox(testApp)).filter(({ purpose }) => purpose === 'booking_link').length;
  for (let n = 0; n < 5; n += 1) {
    await sent();
    expect((await sendLink(me, booking_id)).status).toBe(200);
  }
  // One waits.
  expect((await sendLink(me, booking_id)).status).toBe(200);
  await sent();
  const before = await links();
  const refused = await sendLink(me, booking_id);
  expect([refused.status, errorCodes(refused), refused.headers['retry-after']]).toEqual([
    ...[429, ['too_many_mails'], '3600'],
  ]);
  await bookKari(me, { config }, other);
  expect(await links()).toBe(before + 1);
  await forced(
    me,
    `update catalog_posts set created_at = created_at - interval '25 hours' where provider_id = ${me.id}`,
  );
  await sent();
  expect((await sendLink(me, booking_id)).status).toBe(200);
});

test('a link needs an address, a course that is not over, and a booking of the school', async () => {
  const testApp = await openMailTestApp();
  const [me, stranger] = [await testApp.createProvider(), await testApp.createProvider()];
  const { dateId } = await createBookableDate(me);
  const refused = await book(me, dateId, { config });
  expect([refused.status, refused.json()]).toMatchObject([
    400,
    { errors: [{ code: 'field_invalid', message: 'booker_email is not valid' }] },
  ]);
  expect(errorCodes(await book(me, dateId, { config, booker_email: 'x' }))).toEqual(['field_invalid']);

  const nameless = await bookOrFail(me, dateId);
  expect(errorCodes(await sendLink(me, nameless.booking_id))).toEqual(['field_invalid']);
  const { booking_id } = await bookKari(me);
  expect((await sendLink(stranger, booking_id)).status).toBe(404);
  await endDates(me);
  expect(errorCodes(await sendLink(me, booking_id))).toEqual(['booking_over']);
  expect(await readOutbox(testApp)).toEqual([]);
});

test('a waiting person gets an offer with a link, and another one at a new address', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const { participantId, booking_id } = await bookKari(me);
  await offerUntil(me, participantId);
  await queue(me, 'offer', participantId, 'user_id');
  const [mail] = await deliverMails(testApp);
  expect(mail!.subject).toBe('A place is free: Knots');
  const token = extractToken(mail!.text, 'offer');
  expect(mail!.text).toContain(`Please accept or decline it. Without an answer in time it goes to the next person.

Participant: Kari Nordmann
Course: Knots
Date: Friday 7 June 2030, 09:00–15:30 (Europe/Oslo)
Answer by: Saturday 1 June 2030, 12:30 (Europe/Oslo)

Accept or decline:
http://localhost:3000/my/offer/${token}

Keep the link to yourself: whoever has it can answer for you.
`);
  const { unlockedStore } = await me.ctx();
  const { user } = (await me.get(`/v2/participants/${participantId}`)).json<{ user: { id: number } }>();
  const found = { providerId: me.id, bookingId: Number(booking_id), participantId, userId: user.id };
  expect(await findLink(unlockedStore, 'offer', token)).toEqual(found);
  expect(await findLink(unlockedStore, 'booking', token)).toBeUndefined();

  expect((await me.put(`/v2/course-users/${user.id}`, { email: 'new@people.example' })).status).toBe(200);
  expect(await findLink(unlockedStore, 'offer', token)).toBeUndefined();
  const [again, ...more] = await deliverMails(testApp, 'no');
  expect([again!.to![0]!.address, again!.subject, more]).toEqual([
    ...['new@people.example', 'En plass er ledig: Knots', []],
  ]);
  expect(again!.text).toContain('Svar innen: lørdag 1. juni 2030, 12:30 (Europe/Oslo)\n\nTakk ja eller nei:\n');
  expect(await findLink(unlockedStore, 'offer', extractToken(again!.text, 'offer'))).toEqual(found);
});

const toKari = ['kari@people.example', 'Hello Kari,'];
const toOla = ['ola@people.example', 'Hello Ola Nordmann,'];
const toPer = ['per@people.example', 'Hello,'];

test.each([
  ['swap', 'user_id', toKari, 'Your place: Knots', 'You are registered for this course at'],
  ['move', 'user_id', toKari, 'Your place is moved: Knots', 'Your place is confirmed. Welcome!'],
  ['move', 'booking_id', toOla, 'A place is moved: Knots', 'is moved to the course and date below.'],
  ['date_canceled', 'user_id', toKari, 'Canceled: Knots', 'The boat leaks.'],
  ['date_canceled', 'address', toPer, 'Canceled: Knots', 'has canceled this date.'],
] as const)('%s to %s', async (purpose, to, [address, greeting], subject, part) => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { participantId, dateId } = await bookKari(me, {}, { eventUrl: 'https://meet.example/knots' });
  if (purpose === 'date_canceled')
    await forced(
      me,
      `update course_dates set status_id = 3, cancellation_message = 'The boat leaks.' where id = ${dateId}`,
    );
  await queue(me, purpose, participantId, to);
  const [mail] = await deliverMails(testApp);
  expect([mail!.to![0]!.address, mail!.subject]).toEqual([address, subject]);
  expect(mail!.text).toMatch(new RegExp(`^${greeting}\n`));
  expect(mail!.text).toContain(part);
  expect(mail!.text).toContain('Participant: Kari Nordmann\nCourse: Knots\n');
  expect(mail!.text!.includes('meet.example')).toBe(to === 'user_id' && purpose !== 'date_canceled');

  await queue(me, purpose, participantId, to);
  const [inNorwegian] = await deliverMails(testApp, 'no');
  expect(inNorwegian!.text).toMatch(/^Hei[ ,]/);
});

test('the participant before a swap does not learn who has the place', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { participantId } = await bookKari(me);
  await queue(me, 'swap', participantId, 'user_id');
  await queue(me, 'move', participantId, 'user_id');
  const { participantId: of } = await bookKari(me, { participants: [person({ firstname: 'Secret' })] }, other);
  await forced(
    me,
    `update participants set user_id = (select user_id from participants where id = ${of}) where id = ${participantId}`,
  );
  const [mail, ...more] = await deliverMails(testApp);
  expect([mail!.subject, more]).toEqual(['You are no longer registered: Knots', []]);
  expect(mail!.text).toContain('Participant: Kari Nordmann\n');
  expect(mail!.raw).not.toContain('Secret');
});

test('mails that are no longer true are dropped', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const dropped: [
    string,
    Parameters<typeof queue>[3],
    (booked: { participantId: number; booking_id: string }) => string,
  ][] = [
    ['offer', 'user_id', () => ''],
    ['date_canceled', 'user_id', () => ''],
    ['swap', 'user_id', ({ participantId }) => `update participants set status_id = 4 where id = ${participantId}`],
    ['move', 'booking_id', ({ participantId }) => `update participants set status_id = 4 where id = ${participantId}`],
    ['swap', 'booking_id', ({ booking_id }) => `update bookings set booker_email = null where id = ${booking_id}`],
    [
      ...(['swap', 'user_id'] as const),
      ({ participantId }) =>
        `update course_users set is_placeholder = true where id = (select user_id from participants where id = ${participantId})`,
    ],
  ];
  for (const [purpose, to, change] of dropped) {
    const booked = await bookKari(me, { participants: [person()] }, other);
    await queue(me, purpose, booked.participantId, to);
    if (change(booked) !== '') await forced(me, change(booked));
  }
  const over = await bookKari(me, { participants: [person()], config }, other);
  await endDates(me, over.dateId);
  const { log } = startWorker(testApp, { to: (await startMailServer()).url });
  await eventually(async () => expect(await readOutbox(testApp)).toEqual([]));
  const reasons = log.flatMap((line) => /is dropped: (.*)/.exec(line)?.[1] ?? []);
  expect(reasons.sort()).toEqual([
    'its booker has no e-mail address',
    'its course is over',
    'its date is not canceled any more',
    'its offer has ended in the meantime',
    'its participant has left in the meantime',
    'its participant has left in the meantime',
    'its participant has no name',
  ]);
});

test('an erasure ends the links of the person, and deletes mails to and about the person', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const own = { participants: [person({ firstname: 'Ola', lastname: 'Nordmann', email: booker.booker_email })] };
  const { participantId } = await bookKari(me, { ...own, config });
  await offerUntil(me, participantId);
  await queue(me, 'offer', participantId, 'user_id');
  await queue(me, 'swap', participantId, 'booking_id');
  await queue(me, 'swap', participantId, 'address');
  await bookKari(me, { booker_name: 'Per Hansen', booker_email: 'per@people.example', config }, other);
  await deliverMails(testApp);
  const { user } = (await me.get(`/v2/participants/${participantId}`)).json<{ user: { id: number } }>();
  const erased = await me.post(`/v2/course-users/${user.id}/erase`, {});
  expect(erased.json<object>()).toMatchObject({ mails: 4, links: 2 });
  const { rows } = await testApp.database.pool.query(
    'select (select count(*)::int from outbox) as mails, (select count(*)::int from booking_links) as links',
  );
  expect(rows).toEqual([{ mails: 1, links: 1 }]);
});
