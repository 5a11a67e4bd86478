import { resolve } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { openDatabase } from '../../../src/database/client.ts';
import { queueInterestMails } from '../../../src/domains/courses/interests/service.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { addInterests, askFor, interestMails, listInterests } from '../../support/interests.ts';
import { switchMails } from '../../support/mail.ts';
import { connectionTo, openTestApp, openTestDatabase, ownDatabase, sharedTestApp } from '../../support/test-app.ts';
import { bundleWithoutGuards, loadUnguarded } from '../../support/unguarded.ts';

const { createProvider, database } = await sharedTestApp();
const tell = () => queueInterestMails(database);

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const on = (startAt: string) => ({ startAt, endAt: startAt, deadlineAt: startAt });

async function interested(count = 1) {
  const me = await createProvider();
  const courseId = await me.course();
  await addInterests(me, courseId, count);
  return { me, courseId };
}

test('those who have confirmed are told once of the first date of their course', async () => {
  const { me, courseId } = await interested(2);
  await askFor(me, courseId, { email: 'unconfirmed@interest.example' });
  const other = await me.course();
  await addInterests(me, other);
  await tell();
  expect(await interestMails(me)).toHaveLength(1);
  await addDate(me, courseId, on('2040-02-01'));
  const first = await addDate(me, courseId, on('2040-01-01'));
  await tell();
  await tell();
  expect((await interestMails(me)).slice(1)).toEqual([
    'date_published ola-1@interest.example',
    'date_published ola-2@interest.example',
  ]);
  expect(await listInterests(me, courseId, '?notified=true')).toMatchObject([
    { email: 'ola-1@interest.example', notified_at: expect.any(String), coursedate_id: first },
    { email: 'ola-2@interest.example', notified_at: expect.any(String), coursedate_id: first },
  ]);
  expect(await listInterests(me, other)).toMatchObject([{ notified_at: null, coursedate_id: null }]);
});

test.each([
  ['is hidden', { isVisible: false }],
  ['is canceled', { statusId: 3 }],
  ['is postponed', { statusId: 4 }],
  ['is deleted', { deletedAt: '2020-01-01' }],
  ['is over', on('2020-01-01')],
  ['is past its deadline', { deadlineAt: '2020-01-01' }],
  ['is full', { capacityMax: 1, capacityWait: 5, numConfirmed: 1 }],
])('nobody is told of a date that %s', async (_, values) => {
  const { me, courseId } = await interested();
  const dateId = await addDate(me, courseId, on(inDays(30)));
  await changeDate(me, dateId, values);
  await tell();
  expect(await interestMails(me)).toEqual([]);
});

test.each([
  ['is not active', { active: false }],
  ['is not public', { type: 'internal' }],
  ['is for own pages alone', { publishing_platform: 'own' }],
])('nobody is told of a course that %s', async (_, fields) => {
  const { me, courseId } = await interested();
  expect((await me.put(`/v2/courses/${courseId}`, fields)).status).toBe(200);
  await addDate(me, courseId, on('2040-01-01'));
  await tell();
  expect(await interestMails(me)).toEqual([]);
});

test('nobody is told by a school without the switch, until it is on again', async () => {
  const { me, courseId } = await interested();
  await switchMails(me, { date_published: false });
  await addDate(me, courseId, on('2040-01-01'));
  await tell();
  expect(await interestMails(me)).toEqual([]);
  await switchMails(me, { date_published: null });
  await tell();
  expect(await interestMails(me)).toHaveLength(1);
});

test('a person who was told may ask again, and is told of the next date', async () => {
  const { me, courseId } = await interested();
  const dateId = await addDate(me, courseId, on('2040-01-01'));
  await tell();
  await changeDate(me, dateId, { statusId: 3 });
  await addInterests(me, courseId);
  await tell();
  expect(await interestMails(me)).toHaveLength(1);
  await addDate(me, courseId, on('2040-03-01'));
  await tell();
  expect(await interestMails(me)).toHaveLength(2);
});

test('many are told in batches, each once, also after an interruption and by several servers', async () => {
  const { me, courseId } = await interested(2_500);
  await addDate(me, courseId, on('2040-01-01'));
  let writes = 0;
  const interrupted = (...args: Parameters<typeof database.write>) => {
    writes += 1;
    return writes > 2 ? Promise.reject(new Error('interrupted')) : database.write(...args);
  };
  await expect(queueInterestMails({ ...database, write: interrupted as never })).rejects.toThrow('interrupted');
  expect((await interestMails(me)).length).toBe(2_000);
  await Promise.all([tell(), tell(), tell()]);
  const mails = await interestMails(me);
  expect([mails.length, new Set(mails).size]).toEqual([2_500, 2_500]);
});

test('a school that cannot be written delays no other one', async () => {
  const [first, second] = [await interested(), await interested()];
  for (const { me, courseId } of [first, second]) await addDate(me, courseId, on('2040-01-01'));
  const write = (...args: Parameters<typeof database.write>) =>
    args[0].includes(first.me.id) ? Promise.reject(new Error('no mails today')) : database.write(...args);
  await expect(queueInterestMails({ ...database, write: write as never })).rejects.toThrow('no mails today');
  expect([await interestMails(first.me), (await interestMails(second.me)).length]).toEqual([[], 1]);
  await tell();
});

type TellOfDates = typeof queueInterestMails;

/** The mails of two servers, each of which waits for the same interest at one moment. */
async function tellByTwoServers(tellEach: TellOfDates, open?: typeof openDatabase) {
  const name = await ownDatabase();
  const servers = [1, 2].map(() => openTestDatabase(name, {}, open));
  const testApp = await openTestApp(openTestDatabase(name));
  onTestFinished(async () => {
    await Promise.all([...servers.map((server) => server.close()), testApp.close()]);
  });
  const me = await testApp.createProvider();
  const courseId = await me.course();
  await addInterests(me, courseId);
  await addDate(me, courseId, on('2040-01-01'));
  if (open) await testApp.database.pool.query('drop function refuse_unlocked cascade');
  const blocker = new Client(connectionTo(name));
  await blocker.connect();
  onTestFinished(() => blocker.end());
  await blocker.query('begin');
  await blocker.query('select from provider_state for update');
  await blocker.query('select from course_interests for update');
  const telling = Promise.all(servers.map((server) => tellEach(server)));
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await testApp.database.pool.query(waiting)).rowCount).toBe(2);
  await blocker.query('commit');
  await telling;
  return interestMails(me);
}

test('two servers that tell of a date at the same time queue one mail', async () => {
  expect(await tellByTwoServers(queueInterestMails)).toEqual(['date_published ola-1@interest.example']);
});

test('negative control: without the lock and the check of the row there are two mails', async () => {
  const file = await bundleWithoutGuards('src/domains/courses/interests/service.ts', ['notifiedOnce']);
  const { queueInterestMails: unguarded } = (await import(resolve(file))) as { queueInterestMails: TellOfDates };
  const { openDatabase: withoutLock } = await loadUnguarded(['lock', 'queue']);
  expect(await tellByTwoServers(unguarded, withoutLock)).toHaveLength(2);
});
