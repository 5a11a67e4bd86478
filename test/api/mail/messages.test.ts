import { expect, test } from 'vitest';
import { findTokenOwner, consumeToken } from '../../../src/domains/school/auth/token-service.ts';
import { addDate, addLocation } from '../../support/dates.ts';
import { createBookableDate, bookOrFail, person } from '../../support/booking.ts';
import {
  allSent,
  deliverMails,
  forced,
  invite,
  startMailServer,
  openMailTestApp,
  readOutbox,
  startWorker,
  extractToken,
} from '../../support/mail.ts';

const school = {
  title: 'Øystese kurs',
  org_nr: '987654321',
  phone: '56 55 00 00',
  email_admin: 'admin@oystese.example',
  email_booking: 'booking@oystese.example',
  post_address: 'Torget 1',
  post_zip: '5600',
  post_city: 'Øystese',
  web_address: 'https://oystese.example',
};

async function describedSchool(testApp: Awaited<ReturnType<typeof openMailTestApp>>) {
  const me = await testApp.createProvider('Øystese kurs');
  expect((await me.put('/v2/schools', school)).status).toBe(200);
  return me;
}

test('an invitation has the school, a link that works once, and nothing else secret', async () => {
  const testApp = await openMailTestApp();
  const me = await describedSchool(testApp);
  const invited = (await invite(me, 'ase@people.example')).json();
  const [mail, ...more] = await deliverMails(testApp);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({
    from: { name: 'Øystese kurs', address: 'courses@booking.example' },
    to: [{ name: 'Åse Ødegård', address: 'ase@people.example' }],
    replyTo: [{ name: 'Øystese kurs', address: 'booking@oystese.example' }],
    subject: 'Øystese kurs has invited you',
    messageId: expect.stringMatching(/^<\d{8}T\d{6}Z-\d+@booking\.example>$/),
  });
  const header = (name: string) => mail!.headers.find(({ key }) => key === name)?.value;
  expect([header('auto-submitted'), header('content-language')]).toEqual(['auto-generated', 'en']);

  const token = extractToken(mail!.text);
  expect(mail!.text).toBe(`Hello Åse,

Øystese kurs has added you to its staff.

Choose a password for your account. Your username is ase@people.example.

Choose a password:
http://localhost:3000/my/password/${token}

The link works once, for 7 days. After that, ask Øystese kurs for a new one.

If you did not expect this e-mail, you need do nothing.

Do you have a question? Just answer this e-mail.

Kind regards
Øystese kurs
booking@oystese.example
56 55 00 00
https://oystese.example

`);
  expect(mail!.html).toContain(`<a href="http://localhost:3000/my/password/${token}"`);
  const { unlockedStore } = await me.ctx();
  const owner = { providerId: me.id, userId: null, adminUserId: invited.id };
  expect(await findTokenOwner(unlockedStore, 'sign_in', token)).toBeUndefined();
  expect(await consumeToken(unlockedStore, 'password', token)).toEqual(owner);
  expect(await consumeToken(unlockedStore, 'password', token)).toBeUndefined();

  const { rows } = await testApp.database.pool.query(`select o::text || t::text as stored,
    t.expires_at - t.created_at = '7 days' as week, t.created_at >= o.created_at as later
    from outbox o join tokens t on t.mail_id = o.id`);
  expect(rows).toEqual([{ stored: expect.not.stringContaining(token), week: true, later: true }]);
});

test('a booking sends an account mail with the username and a receipt for each status', async () => {
  const testApp = await openMailTestApp();
  const me = await describedSchool(testApp);
  const locationId = await addLocation(me, {
    title: 'Sjøhuset',
    address: 'Kaien 2',
    zipcode: '5600',
    city: 'Norheimsund',
  });
  const { dateId } = await createBookableDate(me, {
    course: { title: 'Knots & splices' },
    startAt: '2030-06-07',
    endAt: '2030-06-07',
    startTimeAt: '09:00',
    endTimeAt: '15:30',
    capacityMax: 1,
    capacityOverbook: 1,
    capacityWait: 1,
    locationId,
    eventUrl: 'https://meet.example/knots',
  });
  const participants = ['Kari', 'Ola', 'Per'].map((firstname) => person({ firstname }));
  const config = {
    send_receipt_email_to_participant: true,
    send_account_created_email_to_user: true,
    waiting_list_when_full: true,
  };
  const { order_id } = await bookOrFail(me, dateId, { participants, config });
  const mails = await deliverMails(testApp);
  expect(mails.map(({ subject }) => subject)).toEqual([
    ...Array(3).fill('Your account at Øystese kurs'),
    ...Array(2).fill('Your booking: Knots & splices'),
    'Waiting list: Knots & splices',
  ]);
  expect(mails.map(({ to }) => to![0]!.address)).toEqual([...participants, ...participants].map(({ email }) => email));
  expect(mails[0]!.text).toContain(`Your username is ${participants[0]!.email}.`);
  expect(await findTokenOwner((await me.ctx()).unlockedStore, 'password', extractToken(mails[0]!.text))).toMatchObject({
    providerId: me.id,
    adminUserId: null,
  });

  expect(mails[3]!.text).toContain('Your place is confirmed');
  expect(mails[3]!.text).toContain(`Participant: Kari ${participants[0]!.lastname}
Course: Knots & splices
Date: Friday 7 June 2030, 09:00–15:30 (Europe/Oslo)
Place: Sjøhuset
       Kaien 2
       5600 Norheimsund
Link: https://meet.example/knots
Order number: ${order_id}

Open my page:
http://localhost:3000/my
`);
  expect(mails[3]!.html).toContain('Knots &amp; splices');
  expect(mails[4]!.text).toContain('You have an extra place');
  expect(mails[4]!.text).toContain('meet.example');
  expect(mails[5]!.text).toContain('You are on the waiting list');
  // Participants on the waiting list have no access yet.
  expect(mails[5]!.raw).not.toContain('meet.example');
  expect(mails.slice(3).map(({ text }) => extractToken(text))).toEqual(['', '', '']);
});

test('mails show the same days, times and places as the pages', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const dates = [
    [{ startAt: '2030-06-07', endTimeAt: '15:30' }, 'Friday 7 June 2030, until 15:30 (Europe/Oslo)'],
    [
      { startAt: '2030-06-07', endAt: '2030-06-09', startTimeAt: '09:00' },
      'Friday 7 June 2030, 09:00 – Sunday 9 June 2030 (Europe/Oslo)',
    ],
  ] as const;
  // An online place makes its dates online.
  const locationId = await addLocation(me, { title: 'The studio', isVirtual: true });
  for (const [date] of dates) {
    const { dateId } = await createBookableDate(me, { ...date, locationId });
    await bookOrFail(me, dateId, { participants: [person()], config: { send_receipt_email_to_participant: true } });
  }
  const mails = await deliverMails(testApp);
  for (const [n, [, reported]] of dates.entries())
    expect(mails[n]!.text).toContain(`Date: ${reported}\nPlace: Online\n       The studio\n`);
});

test('a delayed mail has the current participant status, and is skipped when obsolete', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me, { eventUrl: 'https://meet.example/knots' });
  const off = await createBookableDate(me, { eventUrl: 'https://meet.example/off' });
  const config = { send_receipt_email_to_participant: true };
  const receiptFor = async (date = dateId) => bookOrFail(me, date, { participants: [person()], config });
  const [unconfirmed, , gone] = [await receiptFor(), await receiptFor(off.dateId), await receiptFor()];
  const back = await receiptFor();
  for (const { booking_id } of [gone, back])
    expect((await me.put(`/v2/booking/${booking_id}/deregister`, { config })).status).toBe(200);
  await forced(
    me,
    `with a as (update course_dates set status_id = 3 where id = ${off.dateId})
      update participants set status_id = case id when ${unconfirmed.participants[0]!.id} then 7 else 1 end
      where id in (${unconfirmed.participants[0]!.id}, ${back.participants[0]!.id})`,
  );
  const server = await startMailServer();
  const { log, stop } = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  await stop();
  const mails = server.received.sort((a, b) => a.messageId!.localeCompare(b.messageId!, 'en', { numeric: true }));
  expect(mails.map(({ text }) => text!.split('\n')[2])).toEqual(
    [
      'Your booking is registered, and the school has yet to confirm your place.',
      'The school has canceled this date in the meantime.',
      'Your place is confirmed. Welcome!',
      // Of the deregistered one.
      '',
    ].map((reported) =>
      reported === '' ? expect.stringMatching(/no longer registered/) : expect.stringContaining(reported),
    ),
  );
  expect(mails.map(({ text }) => text!.includes('meet.example'))).toEqual([false, false, true, false]);
  expect(log.filter((line) => line.includes('dropped')).sort()).toEqual([
    expect.stringMatching(/^info: Mail \d+ is dropped: its participant has left in the meantime/),
    expect.stringMatching(/^info: Mail \d+ is dropped: its participant is back in the meantime/),
  ]);
  expect(await readOutbox(testApp)).toHaveLength(4);
});

test('a deregistration, with a fee and without', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me, { course: { title: 'Knots' } });
  for (const with_fee of [false, true]) {
    const { booking_id } = await bookOrFail(me, dateId, { participants: [person()] });
    const config = { with_fee, send_receipt_email_to_participant: true };
    expect((await me.put(`/v2/booking/${booking_id}/deregister`, { config })).status).toBe(200);
  }
  const mails = await deliverMails(testApp);
  expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('You are deregistered: Knots'));
  expect(mails.map(({ text }) => text!.includes('a fee is charged'))).toEqual([false, true]);
  expect(mails.map(({ text }) => text!.includes('No cancellation fee is charged.'))).toEqual([true, false]);
  expect(mails[0]!.text).not.toMatch(/Order number|answer this e-mail/);
  expect(mails[0]!.replyTo).toBeUndefined();
});

test('mails in Norwegian, with gatherings and another time zone', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Øystese kurs');
  const courseId = await me.course({ title: 'Knuter', email_booking: 'knuter@oystese.example' });
  const dateId = await addDate(me, courseId, { startAt: '2030-06-07', endAt: '2030-06-15', zone: 'Europe/London' });
  await forced(
    me,
    `insert into gatherings (provider_id, course_date_id, gathering_at, gathering_end_at, zone, theme, created_at, updated_at) values
      (${me.id}, ${dateId}, '2030-06-14 18:00', '2030-06-15 01:00', 'Europe/London', null, now(), now()),
      (${me.id}, ${dateId}, '2030-06-07 18:00', '2030-06-07 21:00', 'Europe/London', 'Første kveld', now(), now())`,
  );
  await bookOrFail(me, dateId, { participants: [person()], config: { send_receipt_email_to_participant: true } });
  await invite(me, 'ase@people.example');
  const [receipt, invitation] = await deliverMails(testApp, 'no');
  expect(receipt!.subject).toBe('Påmeldingen din: Knuter');
  expect(receipt!.text).toContain(`Hei Kari,

Takk for påmeldingen hos Øystese kurs. Plassen din er bekreftet. Velkommen!
`);
  expect(receipt!.text).toContain(`Datoer: fredag 7. juni 2030, 18:00–21:00 (Europe/London): Første kveld
        fredag 14. juni 2030, 18:00 – lørdag 15. juni 2030, 01:00 (Europe/London)
`);
  expect(receipt!.replyTo).toEqual([{ name: 'Øystese kurs', address: 'knuter@oystese.example' }]);
  expect(receipt!.html).toContain('<html lang="no">');
  expect(invitation!.subject).toBe('Øystese kurs har invitert deg');
  expect(extractToken(invitation!.text)).toMatch(/^\d+_/);
});

test('stored texts cannot inject headers, lines or markup', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId, courseId } = await createBookableDate(me);
  await bookOrFail(me, dateId, { participants: [person()], config: { send_receipt_email_to_participant: true } });
  const evil = `E'x\\r\\nBcc: spy@evil.example\\n\\n<script>alert("1")</script>'`;
  await forced(
    me,
    `with a as (update providers set title = ${evil}, email_booking = ${evil}, phone = ${evil} where id = ${me.id}),
      b as (update courses set title = ${evil} where id = ${courseId}),
      c as (update course_dates set place_additional_info = ${evil}, event_url = E'javascript:alert(1)\\n' where id = ${dateId})
      update course_users set firstname = ${evil}, lastname = ${evil} where provider_id = ${me.id}`,
  );
  const [mail] = await deliverMails(testApp);
  const reported = 'x Bcc: spy@evil.example <script>alert("1")</script>';
  expect(mail!.subject).toBe(`Your booking: ${reported}`);
  expect(mail!.from!.name).toBe(reported);
  expect(mail!.to).toEqual([{ name: `${reported} ${reported}`, address: expect.stringMatching(/^kari-/) }]);
  expect(mail!.headers.map(({ key }) => key)).not.toContain('bcc');
  expect(mail!.replyTo).toBeUndefined();
  expect(mail!.text).not.toMatch(/^Bcc/m);
  expect(mail!.html).not.toMatch(/<script|href="javascript/);
  expect(mail!.html).toContain('&lt;script>');
});

test.each(['', 'two@people.example, three@people.example', 'Kari <kari@people.example>', 'a\nb@people.example'])(
  'an invalid address (%j) fails its mail immediately and blocks no other',
  async (address) => {
    const testApp = await openMailTestApp();
    const me = await testApp.createProvider();
    const { dateId } = await createBookableDate(me);
    const config = { send_receipt_email_to_participant: true };
    await bookOrFail(me, dateId, { participants: [person({ lastname: 'Broken' }), person()], config });
    const stored = address === '' ? 'null' : `'${address}'`;
    await forced(me, `update course_users set email = ${stored} where lastname = 'Broken' and provider_id = ${me.id}`);
    const server = await startMailServer();
    const { log } = startWorker(testApp, { to: server.url });
    await expect.poll(() => server.received.length).toBe(1);
    await expect.poll(() => log.filter((line) => line.startsWith('error'))).toHaveLength(1);
    const problem = 'There is no e-mail address to send it to';
    expect(log.join('\n')).toMatch(new RegExp(`error: Mail \\d+ has failed: ${problem}`));
  },
);

test('an offer of a free place is mailed while it is open', async () => {
  const testApp = await openMailTestApp();
  const me = await describedSchool(testApp);
  for (const waiting of ['ida', 'liv']) {
    const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' });
    const { booking_id } = await bookOrFail(me, dateId);
    const participants = [{ firstname: 'Ida', lastname: 'Vik', email: `${waiting}@people.example` }];
    const waits = { participants, config: { waiting_list_when_full: 1 } };
    const [offered] = (await bookOrFail(me, dateId, waits)).participants;
    expect((await me.put(`/v2/booking/${booking_id}/deregister`, {})).status).toBe(200);
    if (waiting === 'liv') expect((await me.put(`/v2/participants/${offered!.id}`, { idStatus: 1 })).status).toBe(200);
  }
  const mails = await deliverMails(testApp);
  expect(mails.map(({ to, subject }) => [to![0]!.address, subject])).toEqual([
    ['ida@people.example', expect.stringMatching(/^A place is free: /)],
  ]);
  expect(mails[0]!.text).toContain('A place has become free on this course at Øystese kurs');
});
