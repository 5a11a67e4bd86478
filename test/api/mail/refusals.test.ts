import { expect, test } from 'vitest';
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
  await eventually(() => log.filter((line) => line.includes('its address is tried again since')).length).toBe(1);
  await eventually(() => second.received.map(({ to }) => to?.[0]?.address)).toEqual(['gone@people.example']);
});
