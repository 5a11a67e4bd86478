import { expect, test } from 'vitest';
import { bookOrFail, createBookableDate, person, persons } from '../../support/booking.ts';
import { addLocation } from '../../support/dates.ts';
import { faultyServer, stages, type Fault } from '../../support/faulty-mail-server.ts';
import { eventually, invite, openMailTestApp, readOutbox, startWorker, switchMails } from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';

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
  expect(new Set(server.accepted.map(({ messageId }) => messageId)).size).toBe(after.length);
  expect(server.accepted).toHaveLength(after.length + repeats);
});
