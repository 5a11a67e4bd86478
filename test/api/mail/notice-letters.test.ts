import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { addDate } from '../../support/dates.ts';
import {
  deliverMails,
  eventually,
  forced,
  openMailTestApp,
  readOutbox,
  startMailServer,
  startWorker,
} from '../../support/mail.ts';
import { createNotifiedDate, createNotifyingLocation, readNotices, switchNotices } from '../../support/notices.ts';
import { warnOfMinimum } from '../../../src/domains/messages/notices/service.ts';
import type { Provider } from '../../support/test-app.ts';

const day = { startAt: '2030-06-07', endAt: '2030-06-07', startTimeAt: '09:00', endTimeAt: '15:30' };
const hall = { address: 'Strandgaten 1', zipcode: '5004', city: 'Bergen', capacity_budget: 2 };
const knots = { course: { title: 'Knots' }, ...day, capacityMax: 2, capacityWait: 5 };
const kari = person({ lastname: 'Nordmann', email: 'kari@people.example' });

/** Books Kari on a date of a school, whose notices are switched on. */
async function bookKari(me: Provider, fields: Record<string, unknown> = {}) {
  const { courseId, dateId } = await createNotifiedDate(me, hall, knots);
  return { courseId, dateId, ...(await bookOrFail(me, dateId, { participants: [kari], ...fields })) };
}

test('a notice of a booking has the participant, the date, the place and the seats', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const { order_id } = await bookKari(me);
  const [mail, ...more] = await deliverMails(testApp);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({
    from: { name: 'Øystese kurs', address: 'courses@booking.example' },
    to: [{ address: 'hall@school.example' }],
    subject: 'Booked: Knots',
  });
  expect(mail!.replyTo).toBeUndefined();
  expect(mail!.attachments).toEqual([]);
  expect(mail!.text).toBe(`Hello,

There is a new booking of this date.

Participant: Kari Nordmann
             kari@people.example
Status now: Has a place
Order number: ${order_id}
Course: Knots
Date: Friday 7 June 2030, 09:00–15:30 (Europe/Oslo)
Place: The hall
       Strandgaten 1
       5004 Bergen
Seats: 1 taken, 1 free, 0 on the waiting list

The booking settings of your school decide which notices are sent.

Øystese kurs

`);
  for (const word of ['Kari Nordmann', 'kari@people.example', 'Strandgaten 1', '1 taken, 1 free'])
    expect(mail!.html).toContain(word);
});

test('notices are in the language of the school', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/booking-settings', { language: 'no', texts: { no: { greeting: 'God dag', footer: 'Skolen' } } });
  const { booking_id } = await bookKari(me, { language: 'en' });
  const [booked] = await deliverMails(testApp);
  await deregister(me, booking_id, { config: { with_fee: 1 } });
  const [left] = await deliverMails(testApp);
  expect([booked!.subject, left!.subject]).toEqual(['Påmeldt: Knots', 'Avmeldt: Knots']);
  expect(booked!.text).toContain('Plasser: 1 opptatt, 1 ledig, 0 på venteliste\n');
  expect(left!.text).toMatch(/^Hei,\n\nDet er en avmelding fra denne datoen\.\n/);
  expect(left!.text).toContain('Status nå: Avmeldt, med gebyr\n');
  expect(left!.text).toContain('Plasser: 0 opptatte, 2 ledige, 0 på venteliste\n');
  expect(left!.text).toContain('Dato: fredag 7. juni 2030, 09:00–15:30 (Europe/Oslo)\n');
});

test('notices of a date say that it is full, has reached its budget, and who waits', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await bookKari(me);
  const wait = { config: { waiting_list_when_full: 1 } };
  await bookOrFail(me, dateId, { participants: [person(), person({ firstname: 'Siv' })], ...wait });
  const mails = await deliverMails(testApp);
  const bySubject = new Map(mails.map(({ subject, text }) => [subject, text]));
  expect([...bySubject.keys()].toSorted()).toEqual([
    ...['Booked: Knots', 'Budget reached: Knots', 'Fully booked: Knots', 'On the waiting list: Knots'],
  ]);
  const seats = 'Seats: 2 taken, 0 free, 1 on the waiting list\n';
  expect(bySubject.get('Fully booked: Knots')).toContain(`All seats of this date are taken.\n\nCourse: Knots\n`);
  expect(bySubject.get('Fully booked: Knots')).toContain(seats);
  expect(bySubject.get('Budget reached: Knots')).toContain(`${seats}Confirmed: 2\nBudget: 2\n`);
  expect(bySubject.get('On the waiting list: Knots')).toMatch(
    /Participant: Siv .*\n.*\nStatus now: On the waiting list\n/,
  );
});

test('a notice of a date under its minimum has the numbers and the deadline, and no limit of seats', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const deadlineAt = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const date = {
    course: { title: 'Knots' },
    ...day,
    startAt: '2099-06-07',
    endAt: '2099-06-07',
    deadlineAt,
    capacityMin: 4,
  };
  const { dateId } = await createNotifiedDate(me, { notification_days: 7 }, date);
  await switchNotices(me, { notice_booked: false });
  await warnOfMinimum(testApp.database);
  await bookOrFail(me, dateId);
  const [mail] = await deliverMails(testApp);
  expect(mail!.subject).toBe('Under the minimum: Knots');
  const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' }).format(new Date(deadlineAt));
  expect(mail!.text).toMatch(
    new RegExp(`Seats: 1 taken, no limit, 0 on the waiting list\nConfirmed: 1\nMinimum: 4\nDeadline: ${weekday} `),
  );
});

test('a notice of a move says from where and to where', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { courseId, participants } = await bookKari(me);
  const locationId = await createNotifyingLocation(me, { email_booking: 'annex@school.example' });
  const toId = await addDate(me, courseId, { locationId, startAt: '2030-07-01', title: 'More knots' });
  await me.post(`/v2/participants/${participants[0]!.id}/move`, { coursedate_id: toId });
  const mails = (await deliverMails(testApp)).filter(({ to }) => to![0]!.address!.endsWith('@school.example'));
  const [, away, booked] = mails;
  expect([away, booked]).toMatchObject([
    { subject: 'Moved: Knots', to: [{ address: 'hall@school.example' }], attachments: [] },
    { subject: 'Booked: More knots', to: [{ address: 'annex@school.example' }] },
  ]);
  expect(away!.text).toContain(`Participant: Kari Nordmann
             kari@people.example
Moved to: More knots
          Monday 1 July 2030
Order number: `);
  expect(away!.text).toContain('Course: Knots\nDate: Friday 7 June 2030, 09:00–15:30 (Europe/Oslo)\n');
  expect(away!.text).toContain('Seats: 0 taken, 2 free, 0 on the waiting list\n');
});

test('a notice of places without names has their number', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createNotifiedDate(me);
  await bookOrFail(me, dateId, { participants: undefined, places: 3 });
  const [mail, ...more] = await deliverMails(testApp);
  expect(more).toEqual([]);
  expect(mail!.text).toContain('Participant: Without a name: 3 places\nStatus now: Reserved\n');
});

test('an admin user of the role gets notices at booking_email, or else at its e-mail, by name', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const invite = (fields: Record<string, unknown>) =>
    me.post('/v2/admin-users', { lastname: 'Berg', role_ids: [1], send_invite: false, ...fields });
  await invite({ firstname: 'Åse', email: 'ase@people.example', booking_email: 'ase.booking@school.example' });
  await invite({ firstname: 'Ole', email: 'ole@people.example' });
  const left = (await invite({ firstname: 'Per', email: 'per@people.example' })).json<{ id: number }>().id;
  const { locationId, dateId } = await createNotifiedDate(me);
  await forced(me, `update locations set notification_role_id = 1 where provider_id = ${me.id} and id = ${locationId}`);
  await bookOrFail(me, dateId);
  expect(await readNotices(testApp, me)).toHaveLength(3);
  expect((await me.request('DELETE')(`/v2/admin-users/${left}`)).status).toBe(200);
  const mails = await deliverMails(testApp);
  expect(mails.map(({ to, text }) => [to![0]!.address, text!.split('\n')[0]])).toEqual([
    ['ase.booking@school.example', 'Hello Åse,'],
    ['ole@people.example', 'Hello Ole,'],
  ]);
});

test.each([
  ['a seat is free', 'its date has free seats in the meantime', 'update course_dates set capacity_max = 9'],
  ['the date is canceled', 'its date is canceled in the meantime', 'update course_dates set status_id = 3'],
  ['the date is deleted', 'its date was deleted', 'update course_dates set deleted_at = now()'],
])('the notice of a full date is dropped once %s', async (_case, reason, statement) => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createNotifiedDate(me, {}, { capacityMax: 1 });
  await switchNotices(me, { notice_booked: false });
  await bookOrFail(me, dateId);
  await forced(me, `${statement} where provider_id = ${me.id}`);
  const { log } = startWorker(testApp, { to: (await startMailServer()).url });
  await eventually(() => expect(log.at(-1)).toMatch(new RegExp(`^info: Mail \\d+ is dropped: ${reason}$`)));
});

test.each([
  ['the minimum is reached', 'its date has its minimum in the meantime', 'capacity_min = 0'],
  ['the deadline is over', 'the deadline of its date is over', `deadline_at = '2020-01-01'`],
])('the notice of a date under its minimum is dropped once %s', async (_case, reason, change) => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const deadlineAt = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const date = { startAt: '2099-06-07', endAt: '2099-06-07', deadlineAt, capacityMin: 1 };
  await createNotifiedDate(me, { notification_days: 7 }, date);
  await warnOfMinimum(testApp.database);
  await forced(me, `update course_dates set ${change} where provider_id = ${me.id}`);
  const { log } = startWorker(testApp, { to: (await startMailServer()).url });
  await eventually(() => expect(log.at(-1)).toMatch(new RegExp(`is dropped: ${reason}$`)));
});

test('notices of a participant who is erased are deleted', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId, participants } = await bookKari(me);
  await createBookableDate(me);
  await bookOrFail(me, dateId);
  const id = (await me.get(`/v2/participants/${participants[0]!.id}`)).json<{ user: { id: number } }>().user.id;
  expect((await me.post(`/v2/course-users/${id}/erase`, {})).status).toBe(200);
  expect((await readNotices(testApp, me)).map(({ participantId }) => participantId)).not.toContain(participants[0]!.id);
  await forced(me, `update course_users set erased_at = now() where provider_id = ${me.id}`);
  await switchNotices(me, { notice_full: false, notice_budget: false });
  await forced(me, `delete from outbox where provider_id = ${me.id} and purpose <> 'notice_booked'`);
  const { log } = startWorker(testApp, { to: (await startMailServer()).url });
  await eventually(() => expect(log.at(-1)).toMatch(/is dropped: its course user is erased in the meantime$/));
  await eventually(async () => expect(await readOutbox(testApp)).toEqual([]));
});
