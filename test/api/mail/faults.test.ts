import { createServer, type AddressInfo, type Socket } from 'node:net';
import PostalMime from 'postal-mime';
import { expect, onTestFinished, test } from 'vitest';
import { bookOrFail, createBookableDate, person, persons } from '../../support/booking.ts';
import { addLocation } from '../../support/dates.ts';
import { eventually, invite, openMailTestApp, readOutbox, startWorker, switchMails } from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';

const stages = ['greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'text', 'end'] as const;
type Stage = (typeof stages)[number];
type Fault = { stage: Stage; action: 'hangs' | 'dies' | '451' | '421' | '554' };

const replies: Record<Stage, string> = {
  ...{ greeting: '220 hello', EHLO: '250 hello', MAIL: '250 ok', RCPT: '250 ok', DATA: '354 go on' },
  ...{ text: '', end: '250 taken' },
};

/** An SMTP server with these faults in turn: a new connection has the next one, and the one after it once it has shown. */
async function faultyServer(faults: Fault[]) {
  /** Message-IDs of complete mails, also of those whose reply did not arrive. */
  const accepted: string[] = [];
  const sockets = new Set<Socket>();
  const remaining = [...faults];
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    let fault = remaining.shift();
    let mail: string | undefined;
    let isHanging = false;
    const reach = (stage: Stage) => {
      const isFaulty = fault?.stage === stage;
      isHanging ||= isFaulty && fault!.action === 'hangs';
      if (isHanging) return false;
      if (isFaulty && fault!.action === 'dies') socket.destroy();
      else if (isFaulty) socket.write(`${fault!.action} 4.3.0 not now\r\n`);
      else if (stage !== 'text') socket.write(`${replies[stage]}\r\n`);
      if (isFaulty && stage !== 'text' && !socket.destroyed) fault = remaining.shift();
      return !isFaulty;
    };
    const receive = async (text: string) => {
      const isRefused = fault?.stage === 'end' && /^\d/.test(fault.action);
      if (!isRefused) accepted.push((await PostalMime.parse(text)).messageId!);
      reach('end');
    };
    reach('greeting');
    socket.on('data', (data) => {
      if (mail !== undefined) {
        if (mail === '' && !reach('text')) return;
        mail += data.toString();
        const isComplete = mail.endsWith('\r\n.\r\n');
        if (isComplete) void receive(mail.slice(0, -5));
        if (isComplete) mail = undefined;
        return;
      }
      const command = /^[A-Z]{4}/.exec(data.toString())?.[0] as Stage;
      if (!(command in replies)) socket.write('250 ok\r\n');
      else if (reach(command) && command === 'DATA') mail = '';
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  // A busy machine may be slow to reply, and then the mail would be sent again.
  const timeout = faults.some(({ action }) => action === 'hangs') ? 2_000 : 20_000;
  return { accepted, url: `smtp://127.0.0.1:${port}?greetingTimeout=${timeout}&socketTimeout=${timeout}` };
}

/** Mails of most kinds, and how many there are. */
async function queueMails(me: Provider) {
  const kinds = ['receipt', 'booking_receipt', 'promotion', 'date_changed', 'deregistration', 'notice_booked'];
  await switchMails(me, Object.fromEntries(kinds.map((kind) => [kind, true])));
  const locationId = await addLocation(me, { emailBooking: 'hall@school.example', isNotificationEnabled: true });
  const { courseId, dateId } = await createBookableDate(me, { locationId, capacityMax: 8, capacityWait: 5 });
  const { dateId: target } = await createBookableDate(me);
  const booker = { booker_name: 'Ola Nordmann', booker_email: 'ola@people.example' };
  const first = await bookOrFail(me, dateId, { ...booker, participants: persons(6) });
  await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 2 });
  await bookOrFail(me, dateId, { participants: persons(2), config: { waiting_list_when_full: 1 } });
  const ids = first.participants.map(({ id }) => id);
  expect((await me.post(`/v2/participants/${ids[0]}/move`, { coursedate_id: target })).status).toBe(200);
  expect((await me.put(`/v2/participants/${ids[1]}`, { user: person() })).status).toBe(200);
  const leaving = { participants: [ids[2]], config: { send_receipt_email_to_participant: true } };
  expect((await me.put(`/v2/booking/${first.booking_id}/deregister`, leaving)).status).toBe(200);
  const change = { end_time_at: '16:00' };
  expect((await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, change)).status).toBe(200);
  await invite(me, 'ase@people.example');
}

test.each<[string, Fault[], number]>([
  ['refuses for a time', stages.map((stage) => ({ stage, action: '451' as const })), 0],
  [
    'refuses for good, but not the recipient',
    [
      { stage: 'MAIL', action: '554' },
      { stage: 'end', action: '554' },
    ],
    0,
  ],
  ['closes the service', stages.map((stage) => ({ stage, action: '421' as const })), 0],
  ['hangs', stages.map((stage) => ({ stage, action: 'hangs' as const })), 1],
  ['dies', stages.map((stage) => ({ stage, action: 'dies' as const })), 1],
  // The client cannot know that the mail was accepted, so it sends the mail again.
  ['dies after each mail, twice', Array<Fault>(20).fill({ stage: 'end', action: 'dies' }), 20],
  ['refuses each recipient at first', Array<Fault>(40).fill({ stage: 'RCPT', action: '451' }), 0],
])('every mail arrives once from a server that %s', async (_, faults, repeats) => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueMails(me);
  const before = await readOutbox(testApp);
  expect(before.length).toBeGreaterThan(20);
  const server = await faultyServer(faults);
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => {
    const retry = 'update outbox set due_at = now() where sent_at is null and last_error is not null';
    await testApp.database.pool.query(retry);
    expect((await readOutbox(testApp)).filter(({ sent }) => !sent)).toEqual([]);
  });
  const after = await readOutbox(testApp);
  // Mails that are no longer true are dropped, with a line in the log.
  const dropped = log.filter((line) => line.includes('is dropped')).length;
  expect([after.length + dropped, after.filter(({ failed }) => failed)]).toEqual([before.length, []]);
  expect(new Set(server.accepted).size).toBe(after.length);
  expect(server.accepted).toHaveLength(after.length + repeats);
});
