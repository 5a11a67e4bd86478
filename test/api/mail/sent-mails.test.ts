import { expect, test } from 'vitest';
import { listMails } from '../../../src/plugins/delivery/mail/service.ts';
import { addDate } from '../../support/dates.ts';
import { bookOrFail, createBookableDate, deregister, person } from '../../support/booking.ts';
import { withProfile } from '../../support/key-profiles.ts';
import {
  ageSentMails,
  createSentMail,
  deliverMails,
  eventually,
  extractToken,
  forced,
  invite,
  openMailTestApp,
  readOutbox,
  smtpError,
  startMailServer,
  startWorker,
  switchMails,
} from '../../support/mail.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

type Mail = Record<string, string | number | null> & { id: number; purpose: string };

const list = async (me: Provider, query = '') => {
  const response = await me.get(`/v2/mails?${query}`);
  expect(response.status, response.text).toBe(200);
  return response.json<Mail[]>();
};
const purposes = async (me: Provider, query = '') => (await list(me, query)).map(({ purpose }) => purpose);
const resend = (me: Provider, id: number, headers: Record<string, string> = {}) =>
  me.post(`/v2/mails/${id}/resend`, {}, headers);

const email = 'kari@people.example';
/** A booking with mails to its participant and its booker. */
async function bookWithMails(me: Provider) {
  await switchMails(me, { booking_receipt: true });
  const { dateId, courseId } = await createBookableDate(me);
  const booking = await bookOrFail(me, dateId, {
    ...{ booker_name: 'Ola', booker_email: 'booker@people.example', participants: [person({ email })] },
    config: { send_receipt_email_to_participant: true },
  });
  return { courseId, dateId, bookingId: Number(booking.booking_id), participantId: booking.participants[0]!.id };
}

test('GET /v2/mails lists waiting, sent and failed mails, with their recipients and references alone', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId, bookingId, participantId } = await bookWithMails(me);
  const [{ id: userId } = { id: 0 }] = (await me.get(`/v2/course-users?email=${email}`)).json<{ id: number }[]>();
  await deliverMails(testApp);
  await invite(me, 'Staff@school.example');
  await forced(me, `update outbox set failed_at = now(), last_error = 'refused' where purpose = 'booking_receipt'`);
  await forced(me, `update outbox set sent_at = null where purpose = 'booking_receipt'`);
  const [receipt, toBooker, invitation] = [...(await list(me, 'purpose=receipt')), ...(await list(me)).slice(-2)];
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
  const common = { user_id: null, admin_user_id: null, error: null, created_at: at, sent_at: null, failed_at: null };
  const about = { booking_id: bookingId, participant_id: participantId, coursedate_id: dateId };
  expect(receipt).toEqual({
    ...{ ...common, id: expect.any(Number), purpose: 'receipt', state: 'sent', recipient: email, user_id: userId },
    ...{ ...about, attempts: 1, sent_at: at },
  });
  expect(toBooker).toEqual({
    ...{ ...common, id: expect.any(Number), purpose: 'booking_receipt', state: 'failed' },
    ...{ ...about, recipient: 'booker@people.example', participant_id: null, coursedate_id: null },
    ...{ attempts: 1, error: 'refused', failed_at: at },
  });
  expect(invitation).toEqual({
    ...{ ...common, id: expect.any(Number), purpose: 'invitation', state: 'waiting', attempts: 0 },
    ...{ recipient: 'Staff@school.example', admin_user_id: expect.any(Number) },
    ...{ booking_id: null, participant_id: null, coursedate_id: null },
  });
  expect((await me.get(`/v2/mails/${receipt!.id}`)).json()).toEqual(receipt);
});

test('the filters of GET /v2/mails find mails by recipient, purpose, state, reference and time, in both orders', async () => {
  const me = await (await sharedTestApp()).createProvider();
  const { bookingId, participantId } = await bookWithMails(me);
  await invite(me, 'staff@school.example');
  await forced(me, `update admin_memberships set booking_email = 'desk@school.example' where provider_id = ${me.id}`);
  await forced(me, `update outbox set sent_at = now() where purpose = 'receipt'`);
  await forced(me, `update outbox set failed_at = now() where purpose = 'invitation'`);
  const { bookingId: otherId } = await bookWithMails(me);
  const all = ['receipt', 'booking_receipt', 'invitation', 'receipt', 'booking_receipt'].toSorted();
  expect((await purposes(me)).toSorted()).toEqual(all);
  expect(await purposes(me, 'recipient=KARI@people.example')).toEqual(['receipt', 'receipt']);
  expect(await purposes(me, 'recipient=Booker@People.example')).toEqual(['booking_receipt', 'booking_receipt']);
  expect(await purposes(me, 'recipient=STAFF@school.example')).toEqual(['invitation']);
  expect(await purposes(me, 'recipient=desk@school.example')).toEqual([]);
  expect(await purposes(me, 'recipient=people.example')).toEqual([]);
  expect(await purposes(me, 'purpose=invitation')).toEqual(['invitation']);
  expect(await purposes(me, 'state=failed')).toEqual(['invitation']);
  expect(await purposes(me, 'state=sent')).toEqual(['receipt']);
  expect(await purposes(me, 'state=waiting')).toHaveLength(3);
  expect(await purposes(me, `participant_id=${participantId}`)).toEqual(['receipt']);
  expect((await purposes(me, `booking_id=${bookingId}`)).toSorted()).toEqual(['booking_receipt', 'receipt']);
  expect(await purposes(me, `booking_id=${otherId}&recipient=${email}&state=waiting`)).toEqual(['receipt']);
  expect(await purposes(me, 'created_at_min=2000-01-01&created_at_max=2001-01-01')).toEqual([]);
  const ids = (await list(me)).map(({ id }) => id);
  expect((await list(me, 'order_by=created_at&order_direction=desc')).map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await list(me, `since_id=${ids[3]}`)).map(({ id }) => id)).toEqual(ids.slice(4));
  const refused = await Promise.all(
    ['order_by=updated_at', 'state=written', 'purpose=x'].map((query) => me.get(`/v2/mails?${query}`)),
  );
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
});

test('a mail to the staff is found by the address that it goes to, which the command line shows too', async () => {
  const { createProvider, database } = await sharedTestApp();
  const me = await createProvider();
  await me.put('/v2/schools', { ...minimalSchool, email_booking: '', email: '', email_admin: 'Admin@school.example' });
  await invite(me, 'staff@school.example');
  await forced(me, `update admin_memberships set booking_email = 'Desk@school.example' where provider_id = ${me.id}`);
  const { participantId } = await bookWithMails(me);
  await forced(me, `delete from outbox where provider_id = ${me.id}`);
  const columns =
    'provider_id, purpose, admin_user_id, address, participant_id, refused_address_id, created_at, due_at';
  const add = (values: string) => forced(me, `insert into outbox (${columns}) ${values}`);
  await forced(
    me,
    `insert into refused_addresses (provider_id, email, reason, refused_at) values (${me.id}, 'x@x.example', 'x', now())`,
  );
  const staff = `(select admin_user_id from admin_memberships where provider_id = ${me.id} and booking_email <> '')`;
  await add(`select ${me.id}, 'notice_booked', ${staff}, null, ${participantId}, null, now(), now()`);
  await add(`select ${me.id}, 'notice_canceled', null, 'Hall@school.example', ${participantId}, null, now(), now()`);
  await add(
    `select ${me.id}, 'address_refused', null, null, null, id, now(), now() from refused_addresses where provider_id = ${me.id}`,
  );
  const found = (await list(me)).map(({ purpose, recipient }) => [purpose, recipient]);
  expect(found).toEqual([
    ['notice_booked', 'Desk@school.example'],
    ['notice_canceled', 'Hall@school.example'],
    ['address_refused', 'Admin@school.example'],
  ]);
  const rows = await listMails(database, { providerId: me.id, onlyFailed: false, limit: 9 });
  expect(rows.map(({ purpose, email }) => [purpose, email]).toReversed()).toEqual(found);
  for (const [purpose, recipient] of found)
    expect(await purposes(me, `recipient=${recipient!.toString().toUpperCase()}`)).toEqual([purpose]);
  expect(await purposes(me, 'recipient=staff@school.example')).toEqual([]);
});

test('another school neither lists nor resends a mail', async () => {
  const { createProvider } = await sharedTestApp();
  const [me, stranger] = [await createProvider(), await createProvider()];
  const { bookingId, participantId } = await bookWithMails(me);
  await bookWithMails(stranger);
  await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  expect(await list(stranger, `recipient=${email}&state=sent`)).toEqual([]);
  expect(await list(stranger, `recipient=${email}`)).toHaveLength(1);
  for (const query of [`booking_id=${bookingId}`, `participant_id=${participantId}`])
    expect(await list(stranger, query)).toEqual([]);
  expect(await list(me)).toHaveLength(2);
});

test('a sent mail is sent again; one that waits, or of which an equal one waits, is refused', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { bookingId } = await bookWithMails(me);
  await deliverMails(testApp);
  await ageSentMails(testApp);
  const [first] = await list(me, 'purpose=booking_receipt');
  const response = await resend(me, first!.id, { 'idempotency-key': 'again' });
  expect(response.status).toBe(201);
  const again = response.json<Mail>();
  expect(again).toMatchObject({ purpose: 'booking_receipt', state: 'waiting', booking_id: bookingId, attempts: 0 });
  expect(again.id).toBeGreaterThan(first!.id);
  expect(response.headers['location']).toMatch(new RegExp(`/v2/mails/${again.id}$`));
  expect((await resend(me, first!.id, { 'idempotency-key': 'again' })).json()).toEqual(again);
  for (const [id, message] of [
    [first!.id, 'An equal mail is not sent yet'],
    [again.id, 'The mail is not sent yet'],
  ] as const) {
    const refused = await resend(me, id);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([400, 'mail_not_sent']);
    expect(refused.json()).toEqual({ error: message });
  }
  const [receipt] = await list(me, 'purpose=receipt');
  expect((await resend(me, receipt!.id)).status).toBe(201);
  expect(await deliverMails(testApp)).toHaveLength(2);
  expect(await list(me, 'state=sent')).toHaveLength(4);
});

test('a mail is not sent again within 5 minutes after an equal one', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await bookWithMails(me);
  await deliverMails(testApp);
  const [receipt] = await list(me, 'purpose=receipt');
  await ageSentMails(testApp);
  expect((await resend(me, receipt!.id)).status).toBe(201);
  await deliverMails(testApp);
  for (const { id } of await list(me, 'purpose=receipt')) {
    const refused = await resend(me, id);
    expect([refused.status, refused.headers['x-error-code']]).toEqual([400, 'mail_sent_recently']);
    expect(refused.json()).toEqual({ error: 'An equal mail was sent less than 5 minutes ago' });
  }
  await ageSentMails(testApp);
  expect((await resend(me, receipt!.id)).status).toBe(201);
});

test('the link of a mail that is sent again replaces the earlier one', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await bookWithMails(me);
  const linkOf = async () =>
    (await deliverMails(testApp)).map(({ text }) => extractToken(text, 'booking')).filter((token) => token !== '');
  const [earlier] = await linkOf();
  await ageSentMails(testApp);
  const [first] = await list(me, 'purpose=booking_receipt');
  await resend(me, first!.id);
  const [later] = await linkOf();
  const open = async (token = '') => (await testApp.app.inject({ url: `/my/booking/${token}` })).statusCode;
  expect([await open(earlier), await open(later)]).toEqual([410, 200]);
});

test('a mail that is no longer true when it is sent again is dropped', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { bookingId } = await bookWithMails(me);
  await deliverMails(testApp);
  await ageSentMails(testApp);
  const [receipt] = await list(me, 'purpose=receipt');
  await deregister(me, bookingId);
  const { id } = (await resend(me, receipt!.id)).json<Mail>();
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => expect((await me.get(`/v2/mails/${id}`)).status).toBe(404));
  expect(log).toContain(`info: Mail ${id} is dropped: its participant has left in the meantime`);
  expect(server.received).toEqual([]);
});

test('a mail about a move by a cancellation has its message also when it is sent again', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { courseId, dateId } = await bookWithMails(me);
  const to = await addDate(me, courseId, { startAt: '2031-08-10', endAt: '2031-08-10' });
  await deliverMails(testApp);
  const canceled = await me.post(`/v2/courses/${courseId}/coursedates/${dateId}/cancel`, {
    ...{ move_to: to, message: 'The hall has burned down' },
  });
  expect(canceled.status, canceled.text).toBe(200);
  const texts = async () =>
    (await deliverMails(testApp)).filter(({ text }) => text?.includes('The hall has burned down')).length;
  expect(await texts()).toBeGreaterThan(0);
  await ageSentMails(testApp);
  const [move] = await list(me, `purpose=move&recipient=${email}`);
  expect((await resend(me, move!.id)).status).toBe(201);
  expect(await texts()).toBe(1);
});

test('a move by hand, back to the date of an earlier cancellation, has no message of it', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { courseId, dateId, participantId } = await bookWithMails(me);
  const addLater = (startAt: string) => addDate(me, courseId, { startAt, endAt: startAt });
  const [to, other] = [await addLater('2031-08-10'), await addLater('2031-09-10')];
  await me.post(`/v2/courses/${courseId}/coursedates/${dateId}/cancel`, { move_to: to, message: 'Burned down' });
  const move = async (coursedate_id: number) =>
    expect((await me.post(`/v2/participants/${participantId}/move`, { coursedate_id })).status).toBe(200);
  const texts = async () =>
    (await deliverMails(testApp)).flatMap(({ subject, text }) =>
      subject!.startsWith('Your place is moved') ? text!.includes('Burned down') : [],
    );
  expect(await texts()).toEqual([true]);
  await move(other);
  expect(await texts()).toEqual([false]);
  await move(to);
  expect(await texts()).toEqual([false]);
  await ageSentMails(testApp);
  const [last] = await list(me, 'purpose=move&order_by=id&order_direction=desc');
  expect((await resend(me, last!.id)).status).toBe(201);
  expect(await texts()).toEqual([false]);
});

test('a mail that is sent again is tried at a refused address, whose next refusal marks it anew', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/schools', { ...minimalSchool, email_booking: 'booking@school.example' });
  let isRefused = true;
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(isRefused && address === email ? smtpError(550, '5.1.1 No such user') : null),
  });
  startWorker(testApp, { to: server.url });
  await bookWithMails(me);
  const ended = () =>
    eventually(async () => expect((await readOutbox(testApp)).every(({ sent, failed }) => sent || failed)).toBe(true));
  const marks = async () =>
    (
      await testApp.database.pool.query<{ isLifted: boolean }>(
        `select lifted_at is not null as "isLifted" from refused_addresses`,
      )
    ).rows;
  const notices = () => purposes(me, 'purpose=address_refused');
  await eventually(async () => expect(await notices()).toHaveLength(1));
  await ended();
  const [failed] = await list(me, 'state=failed');
  expect(failed).toMatchObject({ purpose: 'receipt', recipient: email });

  expect((await resend(me, failed!.id)).status).toBe(201);
  await eventually(async () => expect(await notices()).toHaveLength(2));
  await ended();
  expect(await marks()).toEqual([{ isLifted: false }]);
  expect(await list(me, 'state=failed')).toHaveLength(2);

  isRefused = false;
  expect((await resend(me, failed!.id)).status).toBe(201);
  await eventually(async () => expect(await list(me, `recipient=${email}&state=sent`)).toHaveLength(1));
  await ended();
  expect(await marks()).toEqual([{ isLifted: true }]);
  expect(await notices()).toHaveLength(2);
});

test('a key for reading lists mails but resends none, one for booking does neither', async () => {
  const testApp = await sharedTestApp();
  const me = await testApp.createProvider();
  const id = await createSentMail(me);
  const statuses = async (profile: 'full' | 'read' | 'booking') => {
    const { get, request } = await withProfile(testApp, me, profile);
    const responses = [await get('/v2/mails'), await get(`/v2/mails/${id}`)];
    return [...responses, await request('POST')(`/v2/mails/${id}/resend`, {})].map(({ status }) => status);
  };
  expect(await statuses('booking')).toEqual([403, 403, 403]);
  expect(await statuses('read')).toEqual([200, 200, 403]);
  expect(await list(me)).toHaveLength(1);
  expect(await statuses('full')).toEqual([200, 200, 201]);
});
