import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, deregister, person, persons } from '../../support/booking.ts';
import { addDate, addLocation, addParticipants, changeDate } from '../../support/dates.ts';
import { forced, queuedMails, switchMails } from '../../support/mail.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { queueDueReminders } from '../../../src/domains/messages/mails/queue-service.ts';
import { dueAt } from '../../../src/domains/messages/mails/sql.ts';

const { createProvider, database } = await sharedTestApp();
const remind = () => queueDueReminders(database);

/** A day, counted from the last one of which 09:00 is over, in Oslo or in another zone. */
const inDays = (days: number, timeZone = 'Europe/Oslo') => {
  const today = new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now() - 9 * 3_600_000);
  return new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10);
};
const on = (startAt: string) => ({ startAt, endAt: startAt, deadlineAt: startAt, createdAt: '2020-01-01' });

/** A school that reminds, with a date of a location. */
async function dateIn(days: number, location: Parameters<typeof addLocation>[1] = { notificationDays: 3 }) {
  const me = await createProvider();
  await switchMails(me, { reminder: true });
  const locationId = await addLocation(me, location);
  // Before 09:00 the first day is today.
  const start = days === 1 ? { startTimeAt: '23:59' } : {};
  const date = { locationId, capacityWait: 3, ...on(inDays(days)), ...start };
  const { courseId, dateId } = await createBookableDate(me, date);
  return { me, locationId, courseId, dateId };
}
const deleteMails = (me: Provider) => forced(me, `delete from outbox where provider_id = ${me.id}`);

test('participants are reminded once, on the day that notification_days of the location is before the start', async () => {
  const { me, dateId } = await dateIn(4);
  const [booked] = (await bookOrFail(me, dateId)).participants;
  await remind();
  expect(await queuedMails(me)).toEqual([]);
  await changeDate(me, dateId, on(inDays(3)));
  await remind();
  expect(await queuedMails(me)).toEqual([`reminder ${booked!.id}`]);
  await remind();
  await bookOrFail(me, dateId);
  await remind();
  expect(await queuedMails(me)).toEqual([`reminder ${booked!.id}`]);
});

test.each([
  [7, 6],
  [1, 1],
])('%i days before the start, a date in %i days', async (notificationDays, days) => {
  const { me, dateId } = await dateIn(days, { notificationDays });
  await bookOrFail(me, dateId);
  await remind();
  expect(await queuedMails(me)).toHaveLength(1);
});

test('nobody is reminded with 0 days, without a location, or without the switch', async () => {
  const { me, dateId, locationId } = await dateIn(2, { notificationDays: 0 });
  await bookOrFail(me, dateId);
  await remind();
  expect(await queuedMails(me)).toEqual([]);
  await changeDate(me, dateId, { locationId: null });
  await remind();
  expect(await queuedMails(me)).toEqual([]);
  await changeDate(me, dateId, { locationId });
  await me.put(`/v2/locations/${locationId}`, { notification_days: 2 });
  await switchMails(me, { reminder: null });
  await remind();
  expect(await queuedMails(me)).toEqual([]);
  await switchMails(me, { reminder: true });
  await remind();
  expect(await queuedMails(me)).toHaveLength(1);
});

test.each([
  ['has begun', on(inDays(0))],
  ['is canceled', { statusId: 3 }],
  ['is postponed', { statusId: 4 }],
  ['is deleted', { deletedAt: '2020-01-01' }],
  ['was created within a day before its start', { ...on(inDays(1)), createdAt: new Date().toISOString() }],
])('nobody is reminded of a date that %s', async (_, values) => {
  const { me, dateId } = await dateIn(2);
  await bookOrFail(me, dateId);
  await changeDate(me, dateId, values);
  await remind();
  expect(await queuedMails(me)).toEqual([]);
});

test('a date that was created on a day after that of its reminder is reminded at once', async () => {
  const { me, dateId } = await dateIn(2);
  await bookOrFail(me, dateId);
  await changeDate(me, dateId, { createdAt: inDays(0) });
  await remind();
  expect(await queuedMails(me)).toHaveLength(1);
});

test('those who wait, are not confirmed or have an open offer are not reminded, and a person with two places once', async () => {
  const { me, dateId } = await dateIn(2);
  await changeDate(me, dateId, { capacityMax: 6, waitingMode: 'offer' });
  const twice = person();
  const { participants } = await bookOrFail(me, dateId, { participants: [twice, person(), twice] });
  await bookOrFail(me, dateId, { participants: persons(1, { status_id: 7 }) });
  await bookOrFail(me, dateId, { participants: undefined, places: 1 });
  const { booking_id } = await bookOrFail(me, dateId);
  await bookOrFail(me, dateId, { participants: persons(2, { status_id: 3 }) });
  await deregister(me, booking_id);
  await deleteMails(me);
  await remind();
  expect(await queuedMails(me)).toEqual(participants.slice(0, 2).map(({ id }) => `reminder ${id}`));
});

test('the booker of places without names is reminded once of all of them', async () => {
  const { me, dateId } = await dateIn(2);
  const booker = { booker_email: 'ola@people.example', booker_name: 'Ola' };
  const group = await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 2 });
  const single = await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 1 });
  const named = (await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 1 })).participants[0]!;
  expect((await me.put(`/v2/participants/${named.id}`, { user: person() })).status).toBe(200);
  await deleteMails(me);
  await remind();
  await remind();
  const [first] = group.participants;
  expect(await queuedMails(me)).toEqual([
    ...[`reminder b ${first!.id}`, `reminder b ${single.participants[0]!.id}`, `reminder ${named.id}`],
  ]);
});

test('a reminder is due at 09:00 of its day in the zone of the date', async () => {
  const { me, dateId } = await dateIn(3);
  await bookOrFail(me, dateId);
  for (const zone of ['Europe/Oslo', 'America/New_York']) {
    await changeDate(me, dateId, { zone });
    const { rows } = await database.pool.query(
      `select d.start_at - (${dueAt} at time zone d.zone)::date as days, to_char(${dueAt} at time zone d.zone, 'HH24:MI') as time
       from course_dates d join locations l on l.id = d.location_id where d.id = $1`,
      [dateId],
    );
    expect(rows).toEqual([{ days: 3, time: '09:00' }]);
  }
});

test('the day is one of the zone of the date', async () => {
  // At any moment the day of one of these differs from that in UTC.
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const { me, courseId, locationId } = await dateIn(9);
    const [early, late] = [3, 4].map((days) => ({ ...on(inDays(days, zone)), timezone: zone, zone, locationId }));
    const dateId = await addDate(me, courseId, early);
    const [booked] = (await bookOrFail(me, dateId)).participants;
    await bookOrFail(me, await addDate(me, courseId, late));
    await remind();
    expect(await queuedMails(me)).toEqual([`reminder ${booked!.id}`]);
  }
});

test('a date that is moved to after the day of its reminder is reminded again, one that is moved within is not', async () => {
  const { me, courseId, dateId } = await dateIn(2);
  const [booked] = (await bookOrFail(me, dateId)).participants;
  const told = `reminder ${booked!.id}`;
  const move = (days: number) =>
    me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, {
      ...{ start_at: inDays(days), end_at: inDays(days), deadline_at: inDays(days) },
    });
  await remind();
  expect((await move(3)).status).toBe(200);
  await remind();
  expect(await queuedMails(me)).toEqual([told]);
  expect((await move(9)).status).toBe(200);
  await forced(me, `update outbox set created_at = created_at - interval '6 days' where provider_id = ${me.id}`);
  await remind();
  expect(await queuedMails(me)).toEqual([told]);
  await changeDate(me, dateId, on(inDays(3)));
  await remind();
  expect(await queuedMails(me)).toEqual([told, told]);
});

test('many participants are reminded in batches, each once, also after an interruption and by several servers', async () => {
  const { me, courseId, dateId } = await dateIn(2);
  await addParticipants(me, courseId, dateId, Array<number>(2_500).fill(1));
  const marks = async () =>
    (await database.pool.query(`select kind from date_notices where provider_id = ${me.id}`)).rows;
  let writes = 0;
  const interrupted = (...args: Parameters<typeof database.write>) => {
    writes += 1;
    return writes > 2 ? Promise.reject(new Error('interrupted')) : database.write(...args);
  };
  await expect(queueDueReminders({ ...database, write: interrupted as never })).rejects.toThrow('interrupted');
  expect([(await queuedMails(me)).length, await marks()]).toEqual([2_000, []]);
  await Promise.all([remind(), remind(), remind()]);
  const queued = await queuedMails(me);
  expect([queued.length, new Set(queued).size, await marks()]).toEqual([2_500, 2_500, [{ kind: 'reminder' }]]);
});

test('a date that cannot be reminded delays no other one', async () => {
  const first = await dateIn(1);
  const second = await dateIn(2);
  for (const { me, dateId } of [first, second]) await bookOrFail(me, dateId);
  const write = (...args: Parameters<typeof database.write>) =>
    args[0].includes(first.me.id) ? Promise.reject(new Error('no reminders today')) : database.write(...args);
  await expect(queueDueReminders({ ...database, write: write as never })).rejects.toThrow('no reminders today');
  expect([await queuedMails(first.me), await queuedMails(second.me)]).toEqual([[], [expect.any(String)]]);
  await remind();
});
