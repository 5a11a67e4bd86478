import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fileTransport } from '../../../src/plugins/delivery/mail/transport.ts';
import { bookOrFail, persons } from '../../support/booking.ts';
import {
  allSent,
  eventually,
  forced,
  makeDue,
  openMailTestApp,
  readOutbox,
  smtpError,
  startMailServer,
  startWorker,
  type ReceivedMail,
} from '../../support/mail.ts';
import { createNotifiedDate, createNotifyingLocation } from '../../support/notices.ts';
import { addDate } from '../../support/dates.ts';

/** A school with notices of the bookings of `count` persons that wait for `hall@school.example`. */
async function openWithNotices(count: number) {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider('Knot school');
  const { courseId, dateId } = await createNotifiedDate(me, {}, { course: { title: 'Knots' } });
  for (let left = count; left > 0; left -= 50)
    await bookOrFail(me, dateId, { participants: persons(Math.min(left, 50)) });
  const { rows } = await testApp.database.pool.query<{ name: string }>(
    `select concat_ws(' ', firstname, lastname) as name from course_users where provider_id = $1 order by id`,
    [me.id],
  );
  return { testApp, me, courseId, dateId, names: rows.map(({ name }) => name) };
}

/** The participants of the mails, of each notice once. */
const namesIn = (mails: ReceivedMail[]) =>
  mails.flatMap(({ text }) => [...text!.matchAll(/Kari Nordmann \d+/g)].map(([name]) => name)).toSorted();

test('up to 20 notices are sent one by one', async () => {
  const { testApp, names } = await openWithNotices(20);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url });
  await allSent(testApp);
  expect(server.received.map(({ subject }) => subject)).toEqual(Array(20).fill('Booked: Knots'));
  expect(namesIn(server.received)).toEqual(names.toSorted());
});

test('of more than 20 notices to one address one mail lists all, and those to another address are sent as ever', async () => {
  const { testApp, me, courseId, names } = await openWithNotices(24);
  const locationId = await createNotifyingLocation(me, { email_booking: 'annex@school.example' });
  await bookOrFail(me, await addDate(me, courseId, { locationId }));
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  const [digest, ...more] = server.received.filter(({ to }) => to![0]!.address === 'hall@school.example');
  expect(more).toEqual([]);
  expect(server.received).toHaveLength(2);
  expect(digest).toMatchObject({ subject: '24 notices of bookings and course dates' });
  expect(namesIn([digest!])).toEqual(names.toSorted());
  expect(digest!.text).toMatch(
    /Booked: Kari Nordmann \d+, kari-\d+@people\.example\n        Knots, Monday 10 June 2030\n        Has a place, order \d+\n/,
  );
  expect(digest!.html).toContain(names.at(-1));
  expect(log.filter((line) => line.endsWith('is sent'))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^info: Mail \d+, a digest of 24 notices, is sent$/)]),
  );
  expect(log.filter((line) => !line.startsWith('info'))).toEqual([]);
});

test('notices that wait while the mail server is down are one mail once it is up, and an attempt is one for each', async () => {
  const { testApp, names } = await openWithNotices(22);
  let isDown = true;
  const server = await startMailServer({
    onRcptTo: (_address, _session, done) => done(isDown ? smtpError(451, '4.3.0 Come back later') : null),
  });
  const { log } = startWorker(testApp, { to: server.url });
  const tried = (attempts: number) =>
    eventually(async () => {
      const rows = await readOutbox(testApp);
      expect(rows).toEqual(rows.map(() => expect.objectContaining({ attempts, sent: false, failed: false }) as object));
      for (const { last_error, dueIn } of rows)
        expect([last_error, dueIn > 30]).toEqual([expect.stringContaining('451'), true]);
    });
  await tried(1);
  await makeDue(testApp);
  await tried(2);
  expect(log.filter((line) => line.startsWith('warn'))).toEqual(
    [1, 2].map(
      (minutes) =>
        expect.stringMatching(
          new RegExp(`a digest of 22 notices, could not be sent, .* ${minutes} min: .*451`),
        ) as string,
    ),
  );
  isDown = false;
  await makeDue(testApp);
  await allSent(testApp);
  expect(server.received).toHaveLength(1);
  expect(namesIn(server.received)).toEqual(names.toSorted());
});

test('a permanent refusal of a digest fails all of its notices', async () => {
  const { testApp } = await openWithNotices(21);
  const server = await startMailServer({ onRcptTo: (_a, _s, done) => done(smtpError(550, '5.1.1 No such user')) });
  startWorker(testApp, { to: server.url });
  await eventually(async () => {
    const rows = (await readOutbox(testApp)).filter(({ purpose }) => purpose === 'notice_booked');
    expect(rows.map(({ failed, attempts }) => [failed, attempts])).toEqual(Array(21).fill([true, 1]));
  });
});

test('two workers send each notice once, also those that are queued meanwhile', async () => {
  const { testApp, me, dateId } = await openWithNotices(60);
  const server = await startMailServer();
  for (let n = 0; n < 2; n += 1) startWorker(testApp, { to: server.url });
  for (let n = 0; n < 5; n += 1) await bookOrFail(me, dateId, { participants: persons(9) });
  await allSent(testApp);
  const { rows } = await testApp.database.pool.query<{ name: string }>(
    `select concat_ws(' ', firstname, lastname) as name from course_users where provider_id = $1`,
    [me.id],
  );
  expect(namesIn(server.received)).toEqual(rows.map(({ name }) => name).toSorted());
  expect(server.received.length).toBeLessThan(60);
});

test('notices whose worker died are sent once their lease has ended', async () => {
  const { testApp, names } = await openWithNotices(25);
  await testApp.database.pool.query(`update outbox set attempts = 1, due_at = now() + interval '2 minutes'`);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url });
  await testApp.database.pool.query(`update outbox set due_at = now() - interval '1 second'`);
  await allSent(testApp);
  expect(server.received).toHaveLength(1);
  expect(namesIn(server.received)).toEqual(names.toSorted());
  expect((await readOutbox(testApp)).map(({ attempts }) => attempts)).toEqual(Array(25).fill(2));
});

test('a digest lists 200 notices and the number of the others, and no erased person', async () => {
  const { testApp, me, names } = await openWithNotices(203);
  await forced(
    me,
    `update course_users set erased_at = now() where provider_id = ${me.id}
      and id = (select id from course_users where provider_id = ${me.id} order by id offset 5 limit 1)`,
  );
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await allSent(testApp);
  const digest = server.received.find(({ subject }) => subject === '203 notices of bookings and course dates');
  expect(server.received).toEqual([digest]);
  expect(namesIn([digest!])).toEqual(
    names
      .slice(0, 200)
      .filter((_name, n) => n !== 5)
      .toSorted(),
  );
  expect(digest!.text).toContain('\n\nand 3 more\n\n');
  expect(log.join('\n')).not.toContain('school.example');
});

test('the file of a digest is among those of an erased person', async () => {
  const { testApp, me } = await openWithNotices(22);
  const dataDir = await mkdtemp(join(tmpdir(), 'digest-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  startWorker(testApp, { to: fileTransport(dataDir) });
  await allSent(testApp);
  const files = await readdir(join(dataDir, 'mail'));
  expect(files).toHaveLength(1);
  const { rows } = await testApp.database.pool.query<{ id: number }>('select max(id) as id from course_users');
  expect((await me.post(`/v2/course-users/${rows[0]!.id}/erase`, {})).status).toBe(200);
  const erasure = await testApp.database.pool.query<{ mails: string[] }>('select mails from erasures');
  expect(erasure.rows[0]!.mails).toContain(files[0]!.replace('.eml', ''));
  expect(await readOutbox(testApp)).toHaveLength(21);
});

test('a digest that is sent again has its message id, and one of other notices another', async () => {
  const { testApp, me, dateId } = await openWithNotices(22);
  const server = await startMailServer();
  const send = async () => {
    const { stop } = startWorker(testApp, { to: server.url });
    await allSent(testApp);
    await stop();
  };
  // As after a process that was killed before it marked them.
  const forget = () => testApp.database.pool.query('update outbox set sent_at = null, due_at = now()');
  await send();
  await forget();
  await send();
  await forget();
  await bookOrFail(me, dateId);
  await send();
  const ids = server.received.map(({ messageId }) => messageId);
  expect(ids).toHaveLength(3);
  expect([ids[1] === ids[0], ids[2] === ids[0]]).toEqual([true, false]);
});
