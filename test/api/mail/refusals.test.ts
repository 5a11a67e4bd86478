import { expect, test } from 'vitest';
import { listMails, retryMail, retryMails } from '../../../src/plugins/delivery/mail/service.ts';
import { toRefused } from '../../../src/plugins/delivery/mail/transport.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import { makeDue, openMailTestApp, readOutbox, smtpError, startMailServer, startWorker } from '../../support/mail.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import type { Provider } from '../../support/test-app.ts';

const eventually = <T>(read: () => Promise<T> | T) => expect.poll(read, { timeout: 20_000, interval: 200 });

const refusing = (refused: string) => ({
  onRcptTo: ({ address }: { address: string }, _session: unknown, done: (error?: Error | null) => void) =>
    done(address.toLowerCase() === refused ? smtpError(550, `5.1.1 No such user: ${address}`) : null),
});

const book = async (me: Provider, email: string) =>
  bookOrFail(me, (await createBookableDate(me)).dateId, {
    participants: [person({ email })],
    config: { send_receipt_email_to_participant: true },
  });

test('a refused address is stored, the school is told once, and further mails fail at once', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/schools', { ...minimalSchool, email_booking: 'booking@school.example' });
  const server = await startMailServer(refusing('gone@people.example'));
  startWorker(testApp, { to: server.url });
  await book(me, 'gone@people.example');
  await eventually(() => server.received.length).toBe(1);
  const [notice] = server.received;
  expect(notice!.to).toEqual([expect.objectContaining({ address: 'booking@school.example' })]);
  expect(notice!.subject).toBe('An e-mail address is refused');
  expect(notice!.text).toContain('gone@people.example');
  expect(notice!.text).toContain('550 5.1.1 No such user: ***');
  expect(notice!.text).toMatch(/Subject of the mail: \S.*Course/);

  await book(me, 'Gone@people.example');
  await book(me, 'other@people.example');
  await eventually(() => server.received.length).toBe(2);
  await eventually(async () => (await readOutbox(testApp)).every(({ sent, failed }) => sent || failed)).toBe(true);
  const rows = await readOutbox(testApp);
  expect(rows.map(({ purpose, failed, attempts }) => [purpose, failed, attempts])).toEqual([
    ['receipt', true, 1],
    ['address_refused', false, 1],
    ['receipt', true, 1],
    ['receipt', false, 1],
  ]);
  expect(rows[2]!.last_error).toMatch(/^The mail server has refused this address: .*550 5\.1\.1/);
});

test('a person with another address gets mails again, and an erased person leaves no refused address', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/booking-settings', { mails: { address_refused: false } });
  const server = await startMailServer(refusing('gone@people.example'));
  startWorker(testApp, { to: server.url });
  const { participants } = await book(me, 'gone@people.example');
  const refused = async () =>
    (await testApp.database.pool.query<{ email: string }>('select email from refused_addresses')).rows;
  await eventually(refused).toEqual([{ email: 'gone@people.example' }]);
  await eventually(async () => (await readOutbox(testApp)).map(({ purpose, failed }) => [purpose, failed])).toEqual([
    ['receipt', true],
  ]);
  const [erased] = (await me.get('/v2/course-users?email=gone@people.example')).json<{ id: number }[]>();
  expect(participants).toHaveLength(1);
  const exported = (await me.get(`/v2/course-users/${erased!.id}/export`)).json<{ refused_addresses: object[] }>();
  const mark = { email: 'gone@people.example', subject: expect.stringContaining('Your booking'), lifted_at: null };
  expect(exported.refused_addresses).toEqual([expect.objectContaining(mark)]);
  expect((await me.post(`/v2/course-users/${erased!.id}/erase`, {})).status).toBe(200);
  expect(await refused()).toEqual([]);
  await book(me, 'here@people.example');
  await eventually(() => server.received.length).toBe(1);
});

test('the school is not told of a refused address to which mails are tried again meanwhile', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/schools', { ...minimalSchool, email_booking: 'booking@school.example' });
  const isGone = refusing('gone@people.example');
  const first = await startMailServer({
    onRcptTo: (address, session, done) =>
      address.address === 'booking@school.example'
        ? done(smtpError(451, 'later'))
        : isGone.onRcptTo(address, session, done),
  });
  const { stop } = startWorker(testApp, { to: first.url });
  await book(me, 'gone@people.example');
  const states = async () =>
    (await readOutbox(testApp)).map(({ purpose, failed, attempts }) => [purpose, failed, attempts]);
  await eventually(states).toEqual([
    ['receipt', true, 1],
    ['address_refused', false, 1],
  ]);
  await stop();
  const [receipt] = await readOutbox(testApp);
  expect((await me.post(`/v2/mails/${receipt!.id}/resend`, {})).status).toBe(201);
  await makeDue(testApp);
  const second = await startMailServer();
  const { log } = startWorker(testApp, { to: second.url });
  await eventually(() => log.filter((line) => line.includes('its address is tried again in the meantime')).length).toBe(
    1,
  );
  await eventually(() => second.received.map(({ to }) => to?.[0]?.address)).toEqual(['gone@people.example']);
});

test.each([
  ['550 5.1.1 The email account that you tried to reach does not exist', 'address'],
  ['550-5.2.1 The email account that you tried to reach is inactive', 'address'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', 'address'],
  ['556 5.1.10 Recipient address has null MX', 'address'],
  ['550 Unrouteable address', 'address'],
  ['550 No such user here: relay@people.example', 'address'],
  ['550 <sender@people.example>: User unknown', 'address'],
  ['553 sorry, no mailbox here by that name', 'address'],
  ['550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents', 'mail'],
  ['552 5.2.2 Mailbox full', 'mail'],
  ['550 #5.1.0 Address rejected', 'mail'],
  ['550 Requested action not taken: mailbox unavailable', 'mail'],
  ['554 Transaction failed', 'mail'],
  ['554 5.7.1 Relay access denied', undefined],
  ['550 relay not permitted', undefined],
  ['550 Sender verify failed', undefined],
  ['550 5.1.8 Access denied, bad outbound sender', undefined],
  ['451 4.3.0 later', undefined],
])('the answer to a recipient "%s" refuses for good: %s', (response, refused) => {
  const error = { command: 'RCPT TO', responseCode: Number(response.slice(0, 3)), response };
  expect(toRefused(error)).toBe(refused);
  expect(toRefused({ ...error, command: 'MAIL FROM' })).toBeUndefined();
});

test('a mail that is refused without its address fails at once, and later mails are tried', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  let isFull = true;
  const server = await startMailServer({
    onRcptTo: (_address, _session, done) => done(isFull ? smtpError(552, '5.2.2 Mailbox full') : null),
  });
  startWorker(testApp, { to: server.url });
  await book(me, 'full@people.example');
  await eventually(async () => (await readOutbox(testApp)).map(({ failed }) => failed)).toEqual([true]);
  isFull = false;
  await book(me, 'full@people.example');
  await eventually(() => server.received.length).toBe(1);
});

test('the school is told at its next address if the first one is refused, about both', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const emails = { email_booking: 'booking@school.example', email: 'post@school.example' };
  await me.put('/v2/schools', { ...minimalSchool, ...emails });
  const gone = ['gone@people.example', 'booking@school.example'];
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(gone.includes(address) ? smtpError(550, '5.1.1 No such user') : null),
  });
  startWorker(testApp, { to: server.url });
  await book(me, 'gone@people.example');
  await eventually(() => server.received.length).toBe(2);
  expect(server.received.map(({ to }) => to?.[0]?.address)).toEqual(Array(2).fill('post@school.example'));
  const texts = server.received.map(({ text }) => /refused a mail to (\S+)\. /.exec(text ?? '')?.[1]);
  expect(texts.toSorted()).toEqual(gone.toSorted());
  await eventually(async () => (await readOutbox(testApp)).every(({ sent, failed }) => sent || failed)).toBe(true);
  expect((await readOutbox(testApp)).filter(({ purpose }) => purpose === 'address_refused')).toHaveLength(3);
  const rows = await listMails(testApp.database, { providerId: me.id, onlyFailed: false, limit: 9 });
  expect(rows.filter(({ state }) => state === 'sent').map(({ email }) => email)).toEqual(Array(2).fill(emails.email));
});

test('the school is told once of an address that is refused again before the first mail to the school is sent', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/schools', { ...minimalSchool, email_booking: 'booking@school.example' });
  let isSchoolBusy = true;
  const isGone = refusing('gone@people.example');
  const server = await startMailServer({
    onRcptTo: (address, session, done) =>
      isSchoolBusy && address.address === 'booking@school.example'
        ? done(smtpError(451, 'later'))
        : isGone.onRcptTo(address, session, done),
  });
  const { log } = startWorker(testApp, { to: server.url });
  await book(me, 'gone@people.example');
  const notices = async () => (await readOutbox(testApp)).filter(({ purpose }) => purpose === 'address_refused');
  await eventually(async () => (await notices()).map(({ attempts }) => attempts)).toEqual([1]);
  const [receipt] = await readOutbox(testApp);
  expect((await me.post(`/v2/mails/${receipt!.id}/resend`, {})).status).toBe(201);
  await eventually(async () => (await notices()).filter(({ last_error }) => last_error !== null).length).toBe(2);
  isSchoolBusy = false;
  await makeDue(testApp);
  await eventually(async () => (await notices()).map(({ sent }) => sent)).toEqual([true]);
  expect(server.received.map(({ subject }) => subject)).toEqual(['An e-mail address is refused']);
  expect(log.filter((line) => line.includes('is dropped: a later mail tells of its address'))).toHaveLength(1);
});

test('a retry of one mail tries its refused address again, one of all failed mails takes of equal ones the latest', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/booking-settings', { mails: { address_refused: false } });
  let isRefused = true;
  const server = await startMailServer({
    onRcptTo({ address }, _session, done) {
      if (!isRefused) done();
      else done(address.startsWith('a') ? smtpError(550, '5.1.1 No such user') : smtpError(552, '5.2.2 Mailbox full'));
    },
  });
  startWorker(testApp, { to: server.url });
  for (const email of ['a@people.example', 'b@people.example', 'c@people.example']) await book(me, email);
  const failed = async () => (await readOutbox(testApp)).filter((mail) => mail.failed).map(({ id }) => id);
  const received = () => server.received.map(({ to }) => to?.[0]?.address).toSorted();
  await eventually(async () => (await failed()).length).toBe(3);
  const [first, second] = await failed();
  expect((await me.post(`/v2/mails/${second}/resend`, {})).status).toBe(201);
  await eventually(async () => (await failed()).length).toBe(4);
  isRefused = false;
  expect(await retryMails(testApp.database, 'failed')).toEqual({ retried: 2, failure: undefined });
  await eventually(received).toEqual(['b@people.example', 'c@people.example']);
  await eventually(failed).toEqual([first, second]);
  await retryMail(testApp.database, first!);
  await eventually(() => received()[0]).toBe('a@people.example');
  expect(await retryMails(testApp.database, 'failed')).toEqual({ retried: 0, failure: undefined });
});
