import { expect, test, vi } from 'vitest';
import { getDeliveryCounters } from '../../../src/plugins/delivery/worker.ts';
import { mailCheck } from '../../../src/plugins/delivery/watched.ts';
import { stopMs } from '../../../src/plugins/delivery/mail/deliveries.ts';
import { retryMails } from '../../../src/plugins/delivery/mail/service.ts';
import { bookOrFail, createBookableDate, person } from '../../support/booking.ts';
import {
  allSent,
  bookWithReceipt,
  eventually,
  forced,
  invite,
  makeDue,
  openMailTestApp,
  readOutbox,
  smtpError,
  startMailServer,
  startWorker,
  switchMails,
} from '../../support/mail.ts';
import type { Provider, TestApp } from '../../support/test-app.ts';

type App = Pick<TestApp, 'database'>;

const away = 'smtp://127.0.0.1:1';
const emails = (count: number, name = 'person') =>
  Array.from({ length: count }, (_, n) => `${name}-${n}@people.example`);
const inviteAll = async (me: Provider, addresses: string[]) => {
  for (const email of addresses) await invite(me, email);
};
/** Lets the worker try all mails once, which fail. */
async function failAll(testApp: App, to: string) {
  const { stop } = startWorker(testApp, { to });
  await eventually(async () =>
    expect((await readOutbox(testApp)).filter(({ sent, last_error }) => !sent && last_error === null)).toEqual([]),
  );
  await stop();
}
const delay = ({ database }: App, hours = 5) =>
  database.pool.query(`update outbox set due_at = now() + $1 * interval '1 hour' where sent_at is null`, [hours]);
const doctor = async ({ database }: App) => mailCheck.run({ pool: database.pool, config: {} as never });

test('after an outage the first mail that is sent draws the waiting ones forward', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await inviteAll(me, emails(12));
  await failAll(testApp, away);
  await delay(testApp);
  const server = await startMailServer();
  const { stop } = startWorker(testApp, { to: server.url });
  await invite(me, 'new@people.example');
  await allSent(testApp);
  await stop();
  expect(server.received).toHaveLength(13);
  expect(server.received[0]!.to![0]!.address).toBe('new@people.example');
});

test('a mail that failed by itself is not drawn forward', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('full') ? smtpError(452, '4.2.2 Mailbox full') : null),
  });
  await inviteAll(me, ['full@people.example', ...emails(3)]);
  startWorker(testApp, { to: server.url });
  await eventually(() => expect(server.received).toHaveLength(3));
  const isTried = async () => (await readOutbox(testApp))[0]!.last_error !== null;
  await eventually(async () => expect(await isTried()).toBe(true));
  await delay(testApp);
  await inviteAll(me, emails(3, 'later'));
  await eventually(async () =>
    expect((await readOutbox(testApp)).map(({ sent }) => sent)).toEqual([false, ...Array<boolean>(6).fill(true)]),
  );
  const [full] = await readOutbox(testApp);
  expect(full).toMatchObject({ attempts: 1, sent: false });
  expect(full!.dueIn).toBeGreaterThan(3_600);
});

test('all waiting mails are retried by one command, and those that have not been tried stay as they are', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await inviteAll(me, emails(4));
  await failAll(testApp, away);
  await testApp.database.pool.query('update outbox set attempts = 9');
  await delay(testApp);
  await invite(me, 'new@people.example');
  await bookWithReceipt(await testApp.createProvider());
  expect(await retryMails(testApp.database, 'waiting')).toEqual({ retried: 4, failure: undefined });
  expect((await readOutbox(testApp)).map(({ attempts, dueIn }) => attempts === 0 && dueIn <= 0)).toEqual(
    Array<boolean>(6).fill(true),
  );
  const server = await startMailServer();
  startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(server.received).toHaveLength(6);
  expect(await retryMails(testApp.database, 'waiting')).toEqual({ retried: 0, failure: undefined });
});

test('a refused message has three attempts in a day, then fails, marks no address, and comes back by its time', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  let isSpam = true;
  const server = await startMailServer({
    onData(stream, _session, done) {
      stream.resume().on('end', () => done(isSpam ? smtpError(550, '5.7.1 Message refused by policy') : null));
    },
  });
  await invite(me, 'staff@school.example');
  // Attempts of an outage do not count.
  await testApp.database.pool.query(`update outbox set attempts = 7, last_error = 'away'`);
  const pauses: number[] = [];
  const { stop, log } = startWorker(testApp, { to: server.url });
  for (const attempts of [1, 2, 3]) {
    if (attempts > 1) await makeDue(testApp);
    await eventually(async () =>
      expect(await readOutbox(testApp)).toMatchObject([
        { attempts, last_error: expect.stringContaining('5.7.1') as string },
      ]),
    );
    pauses.push((await readOutbox(testApp))[0]!.dueIn / 3_600);
  }
  expect(pauses.map((pause) => Math.abs(Math.round(pause)))).toEqual([6, 6, 0]);
  expect(await readOutbox(testApp)).toMatchObject([{ failed: true }]);
  expect(log.filter((line) => line.startsWith('error'))).toHaveLength(1);
  expect((await testApp.database.pool.query('select 1 from refused_addresses')).rows).toEqual([]);
  expect(getDeliveryCounters(testApp.database).mails).toMatchObject({ failed: 1, refused: 0, retried: 2 });
  expect(await doctor(testApp)).toContainEqual(expect.objectContaining({ level: 'warning' }));

  const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString();
  isSpam = false;
  expect(await retryMails(testApp.database, 'failed', hour(1))).toMatchObject({ retried: 0 });
  expect(await retryMails(testApp.database, 'failed', hour(-1))).toMatchObject({ retried: 1 });
  await allSent(testApp);
  await stop();
});

test('an outage between refusals of a message uses up none of its attempts', async () => {
  const testApp = await openMailTestApp();
  await invite(await testApp.createProvider(), 'staff@school.example');
  const refused = { command: 'DATA', responseCode: 550, response: '550 5.7.1 spam' };
  const away = { command: 'CONN' };
  const answers = [away, refused, away, away, refused, away, refused, refused];
  const left = [...answers];
  const { stop } = startWorker(testApp, {
    to: {
      ...{ destination: 'a server', result: 'sent', secrets: [] },
      send: () => Promise.reject(Object.assign(new Error('not taken'), left.shift())),
    },
  });
  const [seen, mail] = [[] as unknown[], async () => (await readOutbox(testApp))[0]!];
  for (const [n] of answers.entries()) {
    await eventually(async () => expect([left.length, (await mail()).last_error]).toEqual([7 - n, 'not taken']));
    const { attempts, failed, dueIn } = await mail();
    seen.push([attempts, failed, Math.abs(Math.round(dueIn / 60))]);
    if (failed) break;
    await testApp.database.pool.query(`update outbox set due_at = now()`);
  }
  await stop();
  expect(seen).toEqual([
    [1, false, 1],
    [1, false, 360],
    ...[360, 360].map((minutes) => [1, false, minutes]),
    [2, false, 360],
    [2, false, 360],
    [3, true, 0],
  ]);
});

test('a stop cuts off a mail that hangs, which waits then, and ends within 10 s', async () => {
  const testApp = await openMailTestApp();
  await invite(await testApp.createProvider(), 'staff@school.example');
  const closed: string[] = [];
  let cutOff: ((error: Error) => void) | undefined;
  const { stop } = startWorker(testApp, {
    to: {
      ...{ destination: 'a server', result: 'sent', secrets: [] },
      send: () => new Promise((_, fail) => (cutOff = fail)),
      close(options) {
        closed.push(options?.force === true ? 'forced' : 'idle');
        cutOff?.(new Error('cut off'));
      },
    },
  });
  await eventually(() => expect(cutOff).toBeDefined());
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const stopped = stop();
  const [timeout] = timers.mock.calls;
  timers.mockRestore();
  const [cut, milliseconds] = timeout as [() => void, number];
  expect([closed, milliseconds]).toEqual([[], 5_000]);
  expect(stopMs).toBeLessThan(10_000);
  cut();
  await stopped;
  expect(closed).toEqual(['forced', 'idle']);
  expect(await readOutbox(testApp)).toMatchObject([{ attempts: 1, last_error: 'cut off', failed: false }]);
});

test('refused recipients are counted apart, no warning of doctor, and left out where all failed mails are retried', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await me.put('/v2/booking-settings', { mails: { address_refused: false } });
  const server = await startMailServer({
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('gone')) done(smtpError(550, '5.1.1 No such user'));
      else done(address.startsWith('full') ? smtpError(552, '5.2.2 Mailbox full') : null);
    },
  });
  await inviteAll(me, ['gone@people.example', 'full@people.example']);
  const failed = async () => (await readOutbox(testApp)).filter((mail) => mail.failed).length;
  startWorker(testApp, { to: server.url });
  await eventually(async () => expect(await failed()).toBe(2));
  await bookOrFail(me, (await createBookableDate(me)).dateId, {
    participants: [person({ email: 'gone@people.example' })],
    config: { send_receipt_email_to_participant: true },
  });
  await eventually(async () => expect(await failed()).toBe(3));
  expect(getDeliveryCounters(testApp.database).mails).toMatchObject({ refused: 3, failed: 0 });
  expect(await doctor(testApp)).toEqual([{ level: 'ok', message: 'No mail waits' }]);
  expect(await retryMails(testApp.database, 'failed')).toMatchObject({ retried: 1 });
  await eventually(async () => expect(await failed()).toBe(3));
  expect(server.received).toEqual([]);
});

test('a receipt of a date that is over is not sent again, the one of its payer is', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await switchMails(me, { booking_receipt: true });
  const { dateId } = await createBookableDate(me);
  await bookOrFail(me, dateId, {
    ...{ booker_name: 'Ola', booker_email: 'ola@payer.example' },
    ...{ participants: [person()], config: { send_receipt_email_to_participant: true } },
  });
  await failAll(testApp, away);
  await forced(
    me,
    `update course_dates set start_at = '2020-01-01', end_at = '2020-01-01', deadline_at = '2020-01-01' where id = ${dateId}`,
  );
  expect(await retryMails(testApp.database, 'waiting')).toMatchObject({ retried: 2 });
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(async () => expect(await readOutbox(testApp)).toMatchObject([{ sent: true }]));
  expect(server.received.map(({ to }) => to![0]!.address)).toEqual(['ola@payer.example']);
  expect(log).toContainEqual(expect.stringMatching(/is dropped: its date is over$/));
});
