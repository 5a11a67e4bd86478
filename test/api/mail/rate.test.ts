import { expect, onTestFinished, test, vi } from 'vitest';
import { bookOrFail, createBookableDate } from '../../support/booking.ts';
import { addLocation } from '../../support/dates.ts';
import {
  allSent,
  bookWithReceipt,
  eventually,
  forced,
  invite,
  openMailTestApp,
  startMailServer,
  startWorker,
  switchMails,
} from '../../support/mail.ts';
import { mailCheck } from '../../../src/plugins/delivery/watched.ts';
import { createRate } from '../../../src/plugins/delivery/mail/deliveries.ts';
import { queueDueReminders } from '../../../src/domains/messages/mails/queue-service.ts';

test('a worker claims no more mails than it may send', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  for (let n = 0; n < 5; n += 1) await invite(me, `person-${n}@people.example`);
  const server = await startMailServer();
  const { stop } = startWorker(testApp, { to: server.url, rate: 1 });
  await eventually(() => expect(server.received).toHaveLength(1));
  await new Promise((done) => setTimeout(done, 2_500));
  await stop();
  const { rows } = await testApp.database.pool.query('select sum(attempts)::int as attempts from outbox');
  expect([server.received.length, rows]).toEqual([1, [{ attempts: 1 }]]);
  startWorker(testApp, { to: server.url, rate: 6_000 });
  await allSent(testApp);
  expect(server.received).toHaveLength(5);
});

test.each([1, 7, 59, 600, 601, 60_000])(
  'at %i mails per minute the next one waits for its share of the minute',
  (perMinute) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const rate = createRate(perMinute);
    // As many as at once, and what a minute adds.
    const atOnce = 1 + Math.floor(perMinute / 600);
    expect(rate.free()).toBe(1);
    rate.take();
    expect(rate.free()).toBe(0);
    const perToken = 60_000 / (perMinute - atOnce + 1);
    expect(rate.waitMs()).toBeLessThanOrEqual(Math.ceil(perToken));
  },
);

test('other mails of the school are sent before its reminders, and other schools in turns', async () => {
  const testApp = await openMailTestApp();
  const [me, other] = [await testApp.createProvider(), await testApp.createProvider()];
  await switchMails(me, { reminder: true });
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  const locationId = await addLocation(me, { notificationDays: 9 });
  const { dateId } = await createBookableDate(me, { locationId, startAt: day, createdAt: '2020-01-01' });
  for (let n = 0; n < 4; n += 1) await bookOrFail(me, dateId);
  await queueDueReminders(testApp.database);
  for (const school of [me, me, other, other]) await bookWithReceipt(school);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url, rate: 590 });
  await allSent(testApp);
  // due_at stays the end of the lease, so this is the order of the claims.
  const { rows } = await testApp.database.pool.query<{ purpose: string; own: boolean }>(
    `select purpose, provider_id = ${me.id} as own from outbox order by due_at, purpose`,
  );
  const own = rows.filter((row) => row.own).map(({ purpose }) => purpose);
  expect(own).toEqual(['receipt', 'receipt', 'reminder', 'reminder', 'reminder', 'reminder']);
  // Not after all of the other school.
  expect(rows.slice(0, 6).filter((row) => !row.own)).toHaveLength(2);
});

test('reminders that give way do not count as mails that wait too long', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await bookWithReceipt(me);
  const set = (columns: string) => forced(me, `update outbox set ${columns}`);
  const check = async () => (await mailCheck.run({ pool: testApp.database.pool } as never))[0];
  await set(`purpose = 'reminder', created_at = now() - interval '1 hour', due_at = now() + interval '5 hours'`);
  expect(await check()).toMatchObject({ message: 'No mail waits' });
  await set(`created_at = now() - interval '7 hours', due_at = now() - interval '1 hour'`);
  expect(await check()).toMatchObject({ message: expect.stringContaining('The oldest unsent mail is') as string });
});
