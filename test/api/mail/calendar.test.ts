import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { parseCalendar } from '../../support/calendars.ts';
import { addGathering, addLocation } from '../../support/dates.ts';
import { deliverMails, forced, openMailTestApp, switchMails, type ReceivedMail } from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';

const kari = { firstname: 'Kari', lastname: 'Nordmann', email: 'kari@people.example' };
const nine = { startAt: '2030-06-10', startTimeAt: '09:00', endTimeAt: '15:30' };
const joinUrl = 'https://meet.example/knots';
const every = ['receipt', 'deregistration', 'promotion', 'date_changed', 'reminder', 'booking_receipt'];

/** Makes gatherings older than the booking. */
const earlier = { createdAt: '2026-01-01 00:00+00' };

async function school() {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  await switchMails(me, Object.fromEntries(every.map((kind) => [kind, true])));
  const deliver = () => deliverMails(testApp);
  return { testApp, me, deliver };
}

/** A booking of Kari, whose receipt is sent. */
async function booked(date: Parameters<typeof createBookableDate>[1] = {}, fields: Record<string, unknown> = {}) {
  const staged = await school();
  const { me } = staged;
  const { courseId, dateId } = await createBookableDate(me, { course: { title: 'Knots' }, ...nine, ...date });
  const { booking_id, participants } = await bookOrFail(me, dateId, { participants: [kari], ...fields });
  const participantId = participants[0]!.id;
  const { user } = (await me.get(`/v2/participants/${participantId}`)).json<{ user: { id: number } }>();
  const toUid = (date: number, { userId = user.id, n = 1 } = {}) =>
    `participant-${[me.id, participantId, userId, date, ...(n > 1 ? [n] : [])].join('-')}@localhost`;
  const changeDate = (values: Record<string, unknown>) =>
    me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, values);
  return { ...staged, courseId, dateId, booking_id, participantId, userId: user.id, toUid, changeDate };
}

/** So that each change has a sequence of its own, which counts seconds: the first one is aged more. */
const age = (me: Provider, minutes: number) =>
  forced(
    me,
    `with dates as (
        update course_dates set updated_at = updated_at - interval '${minutes} minutes' where provider_id = ${me.id})
      update participants set updated_at = updated_at - interval '${minutes} minutes' where provider_id = ${me.id}`,
  );

/** The calendars of a mail: the alternative that programs act on, and the attachment to open. */
function readCalendars(mail: ReceivedMail) {
  const parts = mail.attachments.map((part) => {
    // `postal-mime` replaces line breaks.
    const content = findCalendar(mail.raw, part.method!);
    expect(new TextDecoder().decode(part.content as ArrayBuffer)).toBe(content.replaceAll('\r\n', '\n'));
    const { method, events } = parseCalendar(content);
    expect([part.mimeType, part.method]).toEqual(['text/calendar', method]);
    const isAttachment = part.disposition === 'attachment';
    expect(part.filename).toBe(isAttachment ? 'calendar.ics' : null);
    return { isAttachment, method, event: events[0]!, events };
  });
  const [alternative, ...alternatives] = parts.filter(({ isAttachment }) => !isAttachment);
  const [attachment, ...attachments] = parts.filter(({ isAttachment }) => isAttachment);
  expect([...alternatives, ...attachments]).toEqual([]);
  return { alternative, attachment };
}

function findCalendar(raw: string, method: string) {
  const header = `Content-Type: text/calendar; charset=utf-8; method=${method}`;
  const [, body] = new RegExp(`^${header}.*?\\r\\n\\r\\n(.*?)\\r\\n--`, 'ms').exec(raw)!;
  return Buffer.from(body!, 'base64').toString();
}

/** Reads the calendar of a mail that has one at most. */
function readCalendar(mail: ReceivedMail) {
  const { alternative, attachment } = readCalendars(mail);
  expect([alternative, attachment]).toContain(undefined);
  return alternative ?? attachment;
}
const read = (mail: ReceivedMail) => readCalendar(mail)!;

test('an entry is created, changed and removed under one UID with a growing sequence', async () => {
  const { me, deliver, booking_id, dateId, toUid, changeDate } = await booked();
  await age(me, 2);
  const [receipt] = await deliver();
  const created = read(receipt!);
  expect(created).toMatchObject({ method: 'REQUEST', isAttachment: false });
  expect(receipt!.raw).toMatch(/^Content-Type: text\/calendar; charset=utf-8; method=REQUEST\r$/m);
  expect(created.event).toMatchObject({
    ...{ uid: toUid(dateId), status: 'CONFIRMED', summary: 'Knots' },
    ...{ start: '2030-06-10T07:00:00Z', end: '2030-06-10T13:30:00Z' },
    ...{ organizer: 'mailto:courses@booking.example', attendees: ['MAILTO:kari@people.example'] },
  });
  const { component } = created.event;
  const parameters = (name: string) => component.getFirstProperty(name)!.toJSON()[1] as unknown;
  expect(parameters('organizer')).toMatchObject({ cn: 'Øystese kurs' });
  expect(parameters('attendee')).toMatchObject({ cn: 'Kari Nordmann', rsvp: 'FALSE', partstat: 'ACCEPTED' });
  expect(receipt!.from!.address).toBe('courses@booking.example');

  expect((await changeDate({ start_time_at: '10:00' })).status).toBe(200);
  await age(me, 1);
  const changed = read((await deliver())[0]!);
  expect(changed).toMatchObject({ method: 'REQUEST', event: { uid: toUid(dateId), start: '2030-06-10T08:00:00Z' } });

  await deregister(me, booking_id);
  const ended = read((await deliver())[0]!);
  expect(ended).toMatchObject({ method: 'CANCEL', isAttachment: false });
  expect(ended.event).toMatchObject({ uid: toUid(dateId), status: 'CANCELLED', url: undefined });
  const sequences = [created, changed, ended].map(({ event }) => event.sequence);
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
});

test('a move to another date removes one entry and creates another', async () => {
  const { me, deliver, dateId, participantId, toUid } = await booked();
  const other = await createBookableDate(me, { course: { title: 'Splices' }, ...nine, startAt: '2030-09-01' });
  await age(me, 1);
  const [receipt] = await deliver();
  expect((await me.post(`/v2/participants/${participantId}/move`, { coursedate_id: other.dateId })).status).toBe(200);
  const mails = await deliver();
  const of = (subject: string) => read(mails.find((mail) => mail.subject!.startsWith(subject))!);
  expect(mails).toHaveLength(2);
  expect(of('Your place is moved')).toMatchObject({
    method: 'REQUEST',
    event: { uid: toUid(other.dateId), summary: 'Splices', start: '2030-09-01T07:00:00Z' },
  });
  const removed = of('No longer on this date');
  expect(removed).toMatchObject({ method: 'CANCEL', event: { uid: toUid(dateId), summary: 'Knots' } });
  expect(removed.event.sequence).toBeGreaterThan(read(receipt!).event.sequence);
});

test('a swap removes the entry of one person and creates that of another', async () => {
  const { me, deliver, dateId, participantId, toUid, userId } = await booked();
  await deliver();
  const user = { firstname: 'Ola', lastname: 'Hansen', email: 'ola@people.example' };
  expect((await me.put(`/v2/participants/${participantId}`, { user })).status).toBe(200);
  const mails = await deliver();
  const to = (address: string) => mails.find((mail) => mail.to![0]!.address === address)!;
  const [former, present] = [to('kari@people.example'), to('ola@people.example')];
  expect(read(former)).toMatchObject({
    method: 'CANCEL',
    event: { uid: toUid(dateId), attendees: ['MAILTO:kari@people.example'] },
  });
  expect(read(present)).toMatchObject({ method: 'REQUEST', event: { attendees: ['MAILTO:ola@people.example'] } });
  const now = (await me.get(`/v2/participants/${participantId}`)).json<{ user: { id: number } }>();
  expect([read(present).event.uid, now.user.id]).toEqual([toUid(dateId, { userId: now.user.id }), userId + 1]);
  const content = new TextDecoder().decode(former.attachments[0]!.content as ArrayBuffer);
  expect([former.text, former.html, content].filter((text) => /Ola|Hansen/.test(text!))).toEqual([]);
});

test('a canceled date removes the entries', async () => {
  const { me, deliver, courseId, dateId, toUid } = await booked({ capacityMax: 1, capacityWait: 1 });
  await bookOrFail(me, dateId, { config: { waiting_list_when_full: 1 } });
  await deliver();
  expect((await me.post(`/v2/courses/${courseId}/coursedates/${dateId}/cancel`, {})).status).toBe(200);
  const [canceled, ofWaiting] = await deliver();
  expect(read(canceled!)).toMatchObject({ method: 'CANCEL', event: { uid: toUid(dateId), status: 'CANCELLED' } });
  expect(readCalendar(ofWaiting!)).toBeUndefined();
});

test('a date with several gatherings has an attachment with an event for each', async () => {
  const { me, deliver, booking_id, dateId, toUid, changeDate } = await booked({
    startAt: '2030-06-10',
    endAt: '2030-06-24',
  });
  const locationId = await addLocation(me, {
    title: 'Brygga',
    address: 'Kaien 2',
    zipcode: '5600',
    city: 'Norheimsund',
  });
  const evening = (day: string) => ({ gatheringAt: `${day} 18:00`, gatheringEndAt: `${day} 21:00`, ...earlier });
  await addGathering(me, dateId, { ...evening('2030-06-10'), locationId, description: 'Bring rope;\nand, a knife' });
  await addGathering(me, dateId, { ...evening('2030-06-17'), theme: 'Ice' });
  await age(me, 2);
  const created = read((await deliver())[0]!);
  expect(created).toMatchObject({ method: 'PUBLISH', isAttachment: true });
  expect(created.events).toMatchObject([
    { summary: 'Knots', location: 'Brygga, Kaien 2, 5600 Norheimsund', description: 'Bring rope;\nand, a knife' },
    { summary: 'Knots: Ice', start: '2030-06-17T16:00:00Z', end: '2030-06-17T19:00:00Z' },
  ]);
  const uids = [toUid(dateId), toUid(dateId, { n: 2 })];
  expect(created.events.map(({ uid }) => uid)).toEqual(uids);

  expect((await changeDate({ location_id: locationId })).status).toBe(200);
  await age(me, 1);
  const changed = read((await deliver())[0]!);
  expect(changed).toMatchObject({ method: 'PUBLISH', isAttachment: true });
  expect(changed.events.map(({ uid }) => uid)).toEqual(uids);

  await deregister(me, booking_id);
  const ended = read((await deliver())[0]!);
  expect(ended.method).toBe('PUBLISH');
  expect(ended.events).toMatchObject(uids.map((uid) => ({ uid, status: 'CANCELLED', attendees: [] })));
  expect(ended.events[0]!.sequence).toBeGreaterThan(changed.events[0]!.sequence);
  expect(changed.events[0]!.sequence).toBeGreaterThan(created.events[0]!.sequence);
});

const evening = (day: string) => ({ gathering_at: `${day} 18:00`, gathering_end_at: `${day} 21:00` });
const [first, second, third] = ['2030-06-10', '2030-06-17', '2030-06-24'].map(evening);

/** A booking of a date with these gatherings, of which a receipt is sent; each change is sent, too. */
async function bookedWith(gatherings: object[]) {
  const staged = await booked({ startAt: '2030-06-10', endAt: '2030-06-24' });
  const { me, deliver, dateId, changeDate } = staged;
  for (const { gathering_at, gathering_end_at } of gatherings as ReturnType<typeof evening>[])
    await addGathering(me, dateId, { gatheringAt: gathering_at, gatheringEndAt: gathering_end_at, ...earlier });
  await age(me, 9);
  const receipt = readCalendars((await deliver())[0]!);
  const change = async (values: object) => {
    expect((await changeDate({ ...values })).status).toBe(200);
    const [mail, ...others] = await deliver();
    expect(others).toEqual([]);
    return readCalendars(mail!);
  };
  return { ...staged, receipt, change };
}

const toEntries = (calendar: ReturnType<typeof readCalendars>['attachment']) =>
  calendar?.events.map(({ uid, status, start }) => [uid, status, start?.slice(0, 10)]);

test.each([
  ['no gathering', []],
  ['one gathering', [first!]],
])('an entry of a date with %s is updated when it gets several', async (_, before) => {
  const { me, deliver, dateId, booking_id, toUid, receipt, change } = await bookedWith(before);
  expect([toEntries(receipt.alternative), receipt.attachment]).toEqual([
    [[toUid(dateId), 'CONFIRMED', '2030-06-10']],
    undefined,
  ]);
  const { alternative, attachment } = await change({ gatherings: [second, third] });
  expect(alternative).toMatchObject({ method: 'REQUEST', event: { attendees: ['MAILTO:kari@people.example'] } });
  expect(toEntries(alternative)).toEqual([[toUid(dateId), 'CONFIRMED', '2030-06-17']]);
  expect(attachment!.method).toBe('PUBLISH');
  expect(toEntries(attachment)).toEqual([
    [toUid(dateId), 'CONFIRMED', '2030-06-17'],
    [toUid(dateId, { n: 2 }), 'CONFIRMED', '2030-06-24'],
  ]);
  expect(alternative!.event.sequence).toBeGreaterThan(receipt.alternative!.event.sequence);
  expect(attachment!.event.sequence).toBe(alternative!.event.sequence);

  await deregister(me, booking_id);
  const ended = readCalendars((await deliver())[0]!);
  expect(ended.alternative).toMatchObject({ method: 'CANCEL', event: { uid: toUid(dateId) } });
  expect(ended.attachment!.events).toMatchObject([
    { uid: toUid(dateId), status: 'CANCELLED' },
    { uid: toUid(dateId, { n: 2 }), status: 'CANCELLED' },
  ]);
});

test('entries of gatherings that a date has no more are removed', async () => {
  const { dateId, toUid, receipt, change } = await bookedWith([first!, second!, third!]);
  const [one, two, three] = [toUid(dateId), toUid(dateId, { n: 2 }), toUid(dateId, { n: 3 })];
  expect(receipt.alternative).toBeUndefined();
  expect(toEntries(receipt.attachment)).toEqual([
    [one, 'CONFIRMED', '2030-06-10'],
    [two, 'CONFIRMED', '2030-06-17'],
    [three, 'CONFIRMED', '2030-06-24'],
  ]);
  const fewer = await change({ gatherings: [first, third] });
  expect(fewer.alternative).toBeUndefined();
  expect(toEntries(fewer.attachment)).toEqual([
    [one, 'CONFIRMED', '2030-06-10'],
    [two, 'CONFIRMED', '2030-06-24'],
    [three, 'CANCELLED', '2030-06-10'],
  ]);
  const single = await change({ gatherings: [third] });
  expect(single.alternative!.method).toBe('REQUEST');
  expect(toEntries(single.alternative)).toEqual([[one, 'CONFIRMED', '2030-06-24']]);
  expect(toEntries(single.attachment)).toEqual([
    [one, 'CONFIRMED', '2030-06-24'],
    [two, 'CANCELLED', '2030-06-10'],
    [three, 'CANCELLED', '2030-06-10'],
  ]);
  const sequences = [receipt, fewer, single].map(({ attachment }) => attachment!.events.at(-1)!.sequence);
  expect(sequences[1]).toBeGreaterThan(sequences[0]!);
  expect(sequences[2]).toBeGreaterThanOrEqual(sequences[1]!);
  const none = await change({ gatherings: '' });
  expect(none.alternative).toMatchObject({ method: 'REQUEST', event: { uid: one, start: '2030-06-10T07:00:00Z' } });
  expect(toEntries(none.attachment)!.map(([uid, status]) => [uid, status])).toEqual([
    [one, 'CONFIRMED'],
    [two, 'CANCELLED'],
    [three, 'CANCELLED'],
  ]);
});

test('who books after gatherings were removed gets no entries of them', async () => {
  const { me, deliver, dateId, change } = await bookedWith([first!, second!, third!]);
  await change({ gatherings: [first, third] });
  await change({ gatherings: [third] });
  await bookOrFail(me, dateId);
  const { alternative, attachment } = readCalendars((await deliver())[0]!);
  expect([toEntries(alternative)!.length, attachment]).toEqual([1, undefined]);
});

test('a date that is postponed with another time removes the entry, and its new time creates it again', async () => {
  const { dateId, toUid, receipt, change } = await bookedWith([]);
  const postponed = await change({ status_id: 4, start_time_at: '10:00' });
  expect(postponed.alternative).toMatchObject({ method: 'CANCEL', event: { uid: toUid(dateId), status: 'CANCELLED' } });
  expect(postponed.alternative!.event.sequence).toBeGreaterThan(receipt.alternative!.event.sequence);
  const settled = await change({ status_id: 1, start_time_at: '11:00' });
  expect(settled.alternative).toMatchObject({ method: 'REQUEST', event: { uid: toUid(dateId), status: 'CONFIRMED' } });
});

test('the end of a place that was not confirmed removes no entry', async () => {
  const { me, deliver, courseId, dateId } = await booked({ capacityMax: 2, capacityWait: 5 });
  await bookOrFail(me, dateId, { participants: [person({ status_id: 7 })] });
  const wait = { config: { waiting_list_when_full: 1 } };
  const [waiting] = [await bookOrFail(me, dateId, wait), await bookOrFail(me, dateId, wait)];
  await deliver();
  await deregister(me, waiting.booking_id);
  const left = await deliver();
  expect(left.map((mail) => [mail.subject!.split(':')[0], readCalendar(mail)])).toEqual([
    ['You are deregistered', undefined],
  ]);

  // The participants have left when their mails are written.
  await me.post(`/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { credit: true });
  const canceled = await deliver();
  expect(canceled.map((mail) => readCalendar(mail)?.method)).toEqual(['CANCEL', undefined, undefined]);
});

test('a single gathering has the UID of the date', async () => {
  const { me, deliver, dateId, toUid } = await booked();
  await addGathering(me, dateId, { gatheringAt: '2030-06-10 12:00', gatheringEndAt: '2030-06-10 13:00', ...earlier });
  const [receipt] = await deliver();
  expect(read(receipt!)).toMatchObject({
    method: 'REQUEST',
    event: { uid: toUid(dateId), start: '2030-06-10T10:00:00Z', end: '2030-06-10T11:00:00Z' },
  });
});

test.each([
  ['days without times', { startAt: '2030-06-10', endAt: '2030-06-12' }, ['2030-06-10', '2030-06-13']],
  ['no end time', { startAt: '2030-06-10', startTimeAt: '09:00' }, ['2030-06-10T07:00:00Z', undefined]],
  [
    'a zone at +13:45 in daylight saving time',
    { ...nine, startAt: '2030-01-10', zone: 'Pacific/Chatham' },
    ['2030-01-09T19:15:00Z', '2030-01-10T01:45:00Z'],
  ],
  [
    'a zone at -02:30 in daylight saving time',
    { ...nine, startAt: '2030-07-10', zone: 'America/St_Johns' },
    ['2030-07-10T11:30:00Z', '2030-07-10T18:00:00Z'],
  ],
  [
    'a night in which clocks are put forward',
    { startAt: '2030-03-30', endAt: '2030-03-31', startTimeAt: '22:00', endTimeAt: '06:00' },
    ['2030-03-30T21:00:00Z', '2030-03-31T04:00:00Z'],
  ],
] as const)('an entry of %s', async (_, date, [start, end]) => {
  const { deliver } = await booked({ ...{ startTimeAt: null, endTimeAt: null, endAt: date.startAt }, ...date });
  const { event } = read((await deliver())[0]!);
  expect([event.start, event.end]).toEqual([start, end]);
});

const odd = 'Ropes, knots; \\ and "more": 🪢 👩‍👩‍👧 עברית العربية ';

test('long texts of any kind arrive unchanged', async () => {
  const title = `${odd}${'Blåbærsyltetøy '.repeat(12)}`.trim().slice(0, 200);
  const person = { firstname: 'Kari; "K"', lastname: 'שלום, 🪢', email: "kari.o'neil+course@people.example" };
  const { me, deliver } = await booked(
    { course: { title }, isVirtual: true, eventUrl: joinUrl },
    { participants: [person] },
  );
  await forced(me, `update providers set title = 'Knots, "ropes"; & more' where id = ${me.id}`);
  await forced(
    me,
    `update course_dates set place_additional_info = E'Quay 3,\\r\\nleft; \\\\ 🪢' where provider_id = ${me.id}`,
  );
  const { event } = read((await deliver())[0]!);
  expect(event).toMatchObject({
    summary: title,
    ...{ url: joinUrl, location: 'Quay 3,\nleft; \\ 🪢', attendees: [`MAILTO:${person.email}`] },
  });
  const name = (property: string) => event.component.getFirstProperty(property)!.getParameter('cn');
  expect([name('organizer'), name('attendee')]).toEqual(["Knots, 'ropes'; & more", "Kari; 'K' שלום, 🪢"]);
});

test('only mails that give or end a place have a calendar, and only those with one a link to join', async () => {
  const { me, deliver, dateId, participantId, toUid } = await booked(
    { eventUrl: joinUrl, capacityMax: 1, capacityWait: 3 },
    { booker_name: 'Ola', booker_email: 'ola@people.example' },
  );
  const wait = { config: { waiting_list_when_full: 1 } };
  await bookOrFail(me, dateId, { ...wait, participants: [person({ email: 'waiting@people.example' })] });
  const group = { participants: undefined, places: 1, booker_name: 'Per', booker_email: 'per@people.example' };
  await forced(me, `update course_dates set capacity_max = 9 where id = ${dateId}`);
  await bookOrFail(me, dateId, { ...group });
  const queue = (purpose: string, participant: number) =>
    forced(
      me,
      `insert into outbox (provider_id, purpose, participant_id, user_id, created_at, due_at)
        select provider_id, '${purpose}', id, user_id, now(), now() from participants where id = ${participant}`,
    );
  await queue('reminder', participantId);
  await queue('promotion', participantId);
  const mails = await deliver();
  expect(
    mails.map((mail) => [mail.to![0]!.address, mail.subject!.split(':')[0], readCalendar(mail)?.event.url]),
  ).toEqual([
    ['kari@people.example', 'Your booking', joinUrl],
    ['ola@people.example', 'Receipt of your booking', undefined],
    ['waiting@people.example', 'Waiting list', undefined],
    ['per@people.example', 'Receipt of your booking', undefined],
    ['kari@people.example', 'Soon', undefined],
    ['kari@people.example', 'You have a place', joinUrl],
  ]);
  expect(mails.filter((mail) => readCalendar(mail)).map(({ subject }) => subject!.split(':')[0])).toEqual([
    ...['Your booking', 'Receipt of your booking', 'You have a place'],
  ]);
  expect(mails.map(({ text }) => text!.includes(joinUrl))).toEqual([true, false, false, false, true, true]);
  expect(mails[1]!.raw).not.toContain(joinUrl);
  const entry = { uid: toUid(dateId), status: 'CONFIRMED', summary: 'Knots', attendees: [] };
  expect(read(mails[1]!)).toMatchObject({ method: 'PUBLISH', isAttachment: true, event: entry });
});

test('a place that is not confirmed, or on a postponed date, has no entry', async () => {
  const { me, deliver, dateId } = await booked();
  await bookOrFail(me, dateId, { participants: [person({ status_id: 7 })] });
  await forced(me, `update course_dates set status_id = 4 where id = ${dateId}`);
  const mails = await deliver();
  expect(mails.map(readCalendar)).toEqual([undefined, undefined]);
  expect(mails[0]!.text).toContain('The school has postponed this date and will tell you the new one.');
});

test('an entry is removed where its place is not confirmed any more, and comes back', async () => {
  const { me, deliver, dateId, participantId, toUid } = await booked({ capacityWait: 3 });
  await deliver();
  const set = async (idStatus: number) => {
    expect((await me.put(`/v2/participants/${participantId}`, { idStatus })).status).toBe(200);
    const [mail] = await deliver();
    const calendar = readCalendar(mail!);
    return calendar && [calendar.method, calendar.event.uid];
  };
  const uid = toUid(dateId);
  expect(await set(3)).toEqual(['CANCEL', uid]);
  expect(await set(7)).toBeUndefined();
  expect(await set(1)).toEqual(['REQUEST', uid]);
  expect(await set(7)).toEqual(['CANCEL', uid]);
  expect(await set(1)).toEqual(['REQUEST', uid]);
  expect(await set(4)).toEqual(['CANCEL', uid]);
});
