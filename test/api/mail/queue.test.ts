import { expect, test } from 'vitest';
import { findTransition, states, type State } from '../../../src/core/reference/participant-states.ts';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { bookingBody, bookOrFail, createBookableDate, deregister, endOffers, persons } from '../../support/booking.ts';
import { addGathering, addInstructor, addLocation, changeDate } from '../../support/dates.ts';
import { forced, openMailTestApp, queuedMails, readOutbox, switchMails } from '../../support/mail.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';
import { queueDateChanges } from '../../../src/domains/messages/mails/queue-service.ts';
import { acceptOffer, declineOffer } from '../../../src/domains/bookings/seat-assignment/service.ts';

const { createProvider, database } = await sharedTestApp();

const wait = { config: { waiting_list_when_full: 1 } };
const setStatus = (me: Provider, id: number, idStatus: number) => me.put(`/v2/participants/${id}`, { idStatus });

/** A full date with people who wait. */
async function fullDate(waiting: number, date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  await switchMails(me, { promotion: true });
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 3, ...date });
  const { booking_id, participants } = await bookOrFail(me, dateId);
  const ids: number[] = [];
  for (let n = 0; n < waiting; n += 1) ids.push((await bookOrFail(me, dateId, wait)).participants[0]!.id);
  return { me, dateId, bookingId: booking_id, seatedId: participants[0]!.id, ids };
}

test('a person from the waiting list is told of the place, where the school has switched that on', async () => {
  const { me, bookingId, dateId, ids } = await fullDate(2);
  await deregister(me, bookingId);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`]);
  await switchMails(me, { promotion: false });
  await setStatus(me, ids[0]!, 4);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`]);
  await switchMails(me, { promotion: true });
  const [waiting] = (await bookOrFail(me, dateId, wait)).participants;
  await changeDate(me, dateId, { capacityMax: 2 });
  expect((await setStatus(me, waiting!.id, 1)).status).toBe(200);
  expect((await setStatus(me, waiting!.id, 1)).status).toBe(200);
  expect(await queuedMails(me)).toEqual([`promotion ${ids[0]}`, `promotion ${waiting!.id}`]);
});

test('an overbooked participant is told of the seat, a place without a name is not', async () => {
  const { me, bookingId, dateId } = await fullDate(0, { capacityOverbook: 2 });
  const [overbooked] = (await bookOrFail(me, dateId)).participants;
  expect((await setStatus(me, overbooked!.id, 1)).status).toBe(200);
  expect(await queuedMails(me)).toEqual([]);
  await bookOrFail(me, dateId, { participants: undefined, places: 1 });
  await deregister(me, bookingId);
  await setStatus(me, overbooked!.id, 4);
  expect(await queuedMails(me)).toEqual([`promotion ${overbooked!.id}`]);
});

test.each(['by the person', 'by staff'])('an offer that is accepted %s is followed by a mail', async (by) => {
  const { me, bookingId, ids } = await fullDate(1, { waitingMode: 'offer' });
  const [id] = ids as [number];
  await deregister(me, bookingId);
  expect(await queuedMails(me)).toEqual([`offer ${id}`]);
  const ctx = await me.ctx();
  if (by === 'by staff') await setStatus(me, id, 1);
  else await ctx.write(['dates', 'people'], (w) => acceptOffer(w, id));
  expect(await queuedMails(me)).toEqual([`offer ${id}`, `promotion ${id}`]);
});

test('another person gets the mail of the swap alone, whatever the status', async () => {
  const { me, dateId, ids } = await fullDate(2);
  await changeDate(me, dateId, { capacityMax: 9 });
  const [user] = persons(1);
  expect((await me.put(`/v2/participants/${ids[0]!}`, { idStatus: 1, user })).status).toBe(200);
  expect(await queuedMails(me)).toEqual([`swap ${ids[0]}`, `swap ${ids[0]}`]);
});

const statusMails = { receipt: true, promotion: true, deregistration: true };
type Booked = State & ('confirmed' | 'overbooked' | 'unconfirmed' | 'waiting' | 'offered' | `deregistered${string}`);

/** A participant in a state, on a date with room for two, of a school whose receipt is sent or not. */
async function participantIn(state: Booked, mails: Record<string, boolean>, isTold: boolean) {
  const me = await createProvider();
  const date = { capacityMax: 1, capacityOverbook: 1, capacityWait: 9, waitingMode: 'offer' as const };
  const { dateId } = await createBookableDate(me, date);
  const config = { send_receipt_email_to_participant: isTold };
  if (state === 'overbooked') await bookOrFail(me, dateId);
  const status_id = { waiting: 3, offered: 3, unconfirmed: 7 }[state as string];
  const participants = persons(1, { status_id });
  const { booking_id, participants: booked } = await bookOrFail(me, dateId, { participants, config });
  const { id } = booked[0]!;
  if (state === 'offered') await me.put(`/v2/booking/${(await bookOrFail(me, dateId)).booking_id}/deregister`, {});
  if (state.startsWith('deregistered')) await deregister(me, booking_id, { config: { with_fee: /Fee/.test(state) } });
  const found = (await me.get(`/v2/participants/${id}?include[]=hold`)).json<{ status: { id: number } }>();
  expect(found.status.id).toBe(states[state].statusId);
  await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  await switchMails(me, { offer: false, ...mails });
  await changeDate(me, dateId, { capacityMax: 2 });
  const before = (await queuedMails(me)).length;
  return { me, id, told: async () => (await queuedMails(me)).slice(before) };
}

const requested = { confirm: 1, unconfirm: 7, wait: 3, deregister: 4, deregisterWithFee: 8 } as const;
const walked = (Object.keys(states) as State[])
  .filter((state): state is Booked => !state.startsWith('reserved'))
  .flatMap((from) => (Object.keys(requested) as (keyof typeof requested)[]).map((cause) => ({ from, cause })));

test.each(walked)(
  '$from, $cause: the mail of the table by its switch, or who was told before',
  async ({ from, cause }) => {
    const accepts = from === 'offered' && cause === 'confirm';
    const transition = findTransition(from, accepts ? 'accept' : cause);
    const isSame = states[from].statusId === requested[cause];
    const to = transition && (transition.to.own ?? transition.to.seat ?? transition.to.waiting);
    const change = async (mails: Record<string, boolean>, isTold: boolean) => {
      const { me, id, told } = await participantIn(from, mails, isTold);
      expect((await setStatus(me, id, requested[cause])).status).toBe(transition || isSame ? 200 : 400);
      return (await told()).filter((mail) => mail.endsWith(` ${id}`)).map((mail) => mail.split(' ')[0]);
    };
    const expected = to === undefined || isSame ? [] : [transition!.mail];
    expect(await change(statusMails, false)).toEqual(expected);
    const off = { receipt: false, promotion: false, deregistration: false };
    expect(await change(off, true)).toEqual(expected);
    // Who was offered a place was told of that.
    expect(await change(off, false)).toEqual(from === 'offered' ? expected : []);
  },
);

test.each(['deregister', 'deregisterWithFee'] as const)(
  'a receipt that waits is no reason to mail %s',
  async (cause) => {
    const { me, dateId } = await fullDate(0, { capacityMax: 9 });
    const config = { send_receipt_email_to_participant: true };
    const ids: number[] = [];
    for (const state of ['attempts = 0', `attempts = 1, last_error = '451'`, 'attempts = 1, last_error = null']) {
      const [booked] = (await bookOrFail(me, dateId, { config })).participants;
      await forced(me, `update outbox set ${state} where provider_id = ${me.id}`);
      expect((await setStatus(me, booked!.id, requested[cause])).status).toBe(200);
      ids.push(booked!.id);
    }
    const receipts = ids.map((id) => `receipt ${id}`);
    expect(await queuedMails(me)).toEqual([...receipts, `deregistration ${ids[2]}`]);
  },
);

test('an offer that waits is a reason to mail its end, and a receipt that waits one to mail another place', async () => {
  const { me, bookingId, ids } = await fullDate(1, { waitingMode: 'offer' });
  await deregister(me, bookingId);
  await setStatus(me, ids[0]!, 4);
  expect(await queuedMails(me)).toEqual([`offer ${ids[0]}`, `deregistration ${ids[0]}`]);
  await switchMails(me, { promotion: false });
  const { dateId } = await createBookableDate(me);
  const participants = persons(1, { status_id: 7 });
  const [booked] = (await bookOrFail(me, dateId, { participants, config: { send_receipt_email_to_participant: true } }))
    .participants;
  await setStatus(me, booked!.id, 1);
  expect((await queuedMails(me)).slice(2)).toEqual([`receipt ${booked!.id}`, `promotion ${booked!.id}`]);
});

test('an offer that lapses for the second time is told, also by default', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 1, waitingMode: 'offer' });
  const { booking_id } = await bookOrFail(me, dateId);
  const [waiting] = (await bookOrFail(me, dateId, wait)).participants;
  await deregister(me, booking_id);
  for (const mails of [
    ['offer', 'offer'],
    ['offer', 'offer', 'deregistration'],
  ]) {
    await endOffers(me);
    await endDueHoldsOfSchool(database, me.id);
    expect(await queuedMails(me)).toEqual(mails.map((purpose) => `${purpose} ${waiting!.id}`));
  }
});

test('a school that has switched offers off sends none, also to who was told of the waiting list', async () => {
  const { told } = await participantIn('waiting', { receipt: true }, true);
  expect(await told()).toEqual([]);
});

test('who declines an offer is told by the page, and by a mail only where the school has switched that on', async () => {
  const { me, bookingId, ids } = await fullDate(1, { waitingMode: 'offer' });
  const [id] = ids as [number];
  await deregister(me, bookingId);
  const ctx = await me.ctx();
  const decline = () => ctx.write(['dates', 'people', 'money'], (w) => declineOffer(w, id));
  await decline();
  await decline();
  expect(await queuedMails(me)).toEqual([`offer ${id}`]);
});

/** A date with a place, a waiting person, an open offer and two places without names. */
async function bookedDate() {
  const me = await createProvider();
  await switchMails(me, { date_changed: true, offer: false });
  const location = await addLocation(me);
  const { courseId, dateId } = await createBookableDate(me, { capacityWait: 5, waitingMode: 'offer' });
  const [seated] = (await bookOrFail(me, dateId)).participants;
  await bookOrFail(me, dateId, { participants: persons(1, { status_id: 3 }) });
  const group = await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 2 });
  await bookOrFail(me, dateId, { participants: undefined, places: 1 });
  await addGathering(me, dateId, {}, [await addInstructor(me)]);
  const change = (fields: Record<string, unknown>) => me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, fields);
  const told = [`date_changed ${seated!.id}`, `date_changed b ${group.participants[0]!.id}`];
  return { me, courseId, dateId, location, change, told, seatedId: seated!.id, group };
}
const booker = { booker_name: 'Ola Nordmann', booker_email: 'ola@people.example' };

test('another time or place of a date is told to those with a seat and to the booker of others, nothing else is', async () => {
  const { me, change, location, told } = await bookedDate();
  const { gathering_at, gathering_end_at } = first;
  const silent = { title: 'Knots', capacity_max: 9, deadline_at: '2030-06-01', reference: 'A', internal_note: 'x' };
  for (const fields of [silent, { status_id: 2 }, { status_id: 4 }, { instructors: [] }, { start_at: '2030-06-10' }])
    expect((await change(fields)).status).toBe(200);
  const gatherings = [{ gathering_at, gathering_end_at, theme: 'Bowlines', description: 'x', instructors: [] }];
  expect((await change({ gatherings })).status).toBe(200);
  expect(await queuedMails(me)).toEqual([]);
  for (const fields of [
    { start_time_at: '10:00', end_time_at: '12:00' },
    { end_at: '2030-06-12' },
    { start_at: '2030-06-11' },
    { timezone: 'Europe/London' },
    { location_id: location },
    { place_by_search: 'Bergen' },
    { place_additional_info: 'Second floor' },
    { is_virtual: true },
    { event_url: 'https://meet.example/knots' },
    { gatherings: [{ ...first, gathering_end_at: '2030-06-10 12:00' }] },
    { gatherings: [{ ...first, gathering_end_at: '2030-06-10 12:00', idLocation: location }] },
    { gatherings: null },
  ]) {
    expect([fields, (await change(fields)).status]).toEqual([fields, 200]);
    expect([fields, await queuedMails(me)]).toEqual([fields, told]);
    await removeMails(me);
  }
});
const first = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' };
const removeMails = (me: Provider, which = 'true') =>
  forced(me, `delete from outbox where provider_id = ${me.id} and ${which}`);

test('a change is not told again while its mail waits, but while one is being sent, and after it', async () => {
  const { me, change, told } = await bookedDate();
  const set = (columns: string) => forced(me, `update outbox set ${columns} where provider_id = ${me.id}`);
  await change({ end_time_at: '12:00' });
  await change({ end_time_at: '12:30' });
  await set(`attempts = 1, last_error = '451', due_at = now() + interval '1 minute'`);
  await change({ end_time_at: '12:45' });
  expect(await queuedMails(me)).toEqual(told);
  for (const state of ['attempts = 2, last_error = null', 'sent_at = now()', `failed_at = now(), last_error = '550'`]) {
    await removeMails(me);
    await change({ end_time_at: '13:00' });
    await set(state);
    await change({ end_time_at: '13:30' });
    expect([state, await queuedMails(me)]).toEqual([state, [...told, ...told]]);
  }
});

test('another person on the place is told, too', async () => {
  const { me, change, seatedId, group, told } = await bookedDate();
  await change({ end_time_at: '12:00' });
  for (const id of [seatedId, group.participants[0]!.id])
    expect((await me.put(`/v2/participants/${id}`, { user: persons(1)[0] })).status).toBe(200);
  await forced(me, `delete from outbox where provider_id = ${me.id} and purpose = 'swap'`);
  await change({ end_time_at: '12:30' });
  const ids = [seatedId, ...group.participants.map(({ id }) => id)];
  expect(await queuedMails(me)).toEqual([
    ...told,
    ...[`date_changed ${ids[0]}`, `date_changed ${ids[1]}`, `date_changed b ${ids[2]}`],
  ]);
});

test('a date that is over or canceled tells nobody of its changes, a reopened one does', async () => {
  const { me, dateId, change, told } = await bookedDate();
  await change({ status_id: 3 });
  await change({ end_time_at: '12:00' });
  expect(await queuedMails(me)).toEqual([]);
  await change({ status_id: 2 });
  expect(await queuedMails(me)).toEqual(told);
  await removeMails(me);
  await changeDate(me, dateId, { startAt: '2020-01-01', endAt: '2020-01-01', deadlineAt: '2020-01-01' });
  await change({ end_time_at: '13:00' });
  expect(await queuedMails(me)).toEqual([]);
});

test('without its switch nobody is told of another time', async () => {
  const { me, change } = await bookedDate();
  await switchMails(me, { date_changed: null });
  expect((await change({ end_time_at: '12:00' })).status).toBe(200);
  expect(await queuedMails(me)).toEqual([]);
});

test('whatever the switch, those are told of another time who had a receipt or a reminder', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const change = async (start_at: string) => {
    await forced(
      me,
      `update outbox set sent_at = coalesce(sent_at, now()) where provider_id = ${me.id} and failed_at is null`,
    );
    const response = await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { start_at, end_at: start_at });
    expect(response.status).toBe(200);
    const mails = await queuedMails(me);
    return mails.filter((mail) => mail.startsWith('date_changed'));
  };
  const [told] = (await bookOrFail(me, dateId, { config: { send_receipt_email_to_participant: true } })).participants;
  const [silent] = (await bookOrFail(me, dateId)).participants;
  const group = await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 2 });
  expect(await change('2030-06-11')).toEqual([`date_changed ${told!.id}`]);
  const remind = (recipient: string, id: number) =>
    forced(
      me,
      `insert into outbox (provider_id, purpose, participant_id, ${recipient}_id, created_at, due_at)
        select provider_id, 'reminder', id, ${recipient}_id, now(), now() from participants where id = ${id}`,
    );
  await remind('user', silent!.id);
  await remind('booking', group.participants[0]!.id);
  const all = [`date_changed ${told!.id}`, `date_changed ${silent!.id}`, `date_changed b ${group.participants[0]!.id}`];
  expect(await change('2030-06-12')).toEqual([all[0], ...all]);
  // A mail that has failed has told nobody, and another person on the place was told nothing.
  await forced(me, `update outbox set failed_at = now(), sent_at = null where provider_id = ${me.id}`);
  expect(await change('2030-06-13')).toEqual([all[0], ...all]);
  // A reminder that waits is sent with the new time.
  const [late] = (await bookOrFail(me, dateId)).participants;
  await remind('user', late!.id);
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { start_time_at: '10:00' });
  expect(await queuedMails(me)).not.toContain(`date_changed ${late!.id}`);
});

test('a booker who had a receipt with the calendar entry is told of another time, unless they take part', async () => {
  const me = await createProvider();
  await switchMails(me, { booking_receipt: true });
  const { courseId, dateId } = await createBookableDate(me);
  const [self] = persons(1);
  await bookOrFail(me, dateId, { ...booker, booker_email: self!.email.toUpperCase(), participants: [self] });
  const [other] = (await bookOrFail(me, dateId, booker)).participants;
  await removeMails(me, `purpose <> 'booking_receipt'`);
  await forced(me, `update outbox set sent_at = now() where provider_id = ${me.id}`);
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { start_time_at: '10:00' });
  expect((await queuedMails(me)).slice(2)).toEqual([`date_changed b ${other!.id}`]);
});

test('a mail that waits cannot be claimed until the change that it will tell of is committed', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await switchMails(me, { date_changed: true });
  const { dateId } = await createBookableDate(me);
  await bookOrFail(me, dateId);
  const ctx = await me.ctx();
  const claim = async () =>
    (await testApp.database.pool.query(`select * from claim_mails(5, '{}', '{}', '{}', '{date_changed}')`)).rows;
  await ctx.write(['people'], (w) => queueDateChanges(w, dateId, ''));
  await ctx.write(['people'], async (w) => {
    await queueDateChanges(w, dateId, '');
    expect(await claim()).toEqual([]);
  });
  expect(await claim()).toHaveLength(1);
  await ctx.write(['people'], (w) => queueDateChanges(w, dateId, ''));
  expect(await readOutbox(testApp)).toHaveLength(2);
});

test('the booker of each booking gets a receipt, where the school has switched that on', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  const { dateId } = await createBookableDate(me);
  const purposes = async () => (await readOutbox(testApp)).map(({ purpose }) => purpose);
  await bookOrFail(me, dateId, booker);
  expect(await purposes()).toEqual([]);
  await switchMails(me, { booking_receipt: true });
  await bookOrFail(me, dateId);
  await bookOrFail(me, dateId, { ...booker, booker_email: '' });
  expect(await purposes()).toEqual([]);
  await bookOrFail(me, dateId, { ...booker, participants: persons(2) });
  await bookOrFail(me, dateId, { ...booker, participants: undefined, places: 2 });
  expect(await purposes()).toEqual(['booking_receipt', 'booking_receipt']);
  const bookings = [{}, booker, booker].map((fields) => bookingBody(dateId, fields));
  expect((await me.post('/v2/batch/booking', { bookings, dry_run: true })).status).toBe(200);
  expect(await purposes()).toHaveLength(2);
  expect((await me.post('/v2/batch/booking', { bookings })).status).toBe(200);
  expect(await purposes()).toEqual(Array(4).fill('booking_receipt'));
});
