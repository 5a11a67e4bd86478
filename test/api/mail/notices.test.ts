import { expect, test } from 'vitest';
import { endDueHoldsOfSchool } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { acceptOffer, declineOffer } from '../../../src/domains/bookings/seat-assignment/service.ts';
import { warnOfMinimum } from '../../../src/domains/messages/notices/service.ts';
import { mailKindNames } from '../../../src/core/reference/mail-kinds.ts';
import { addDate, addLocation, changeDate } from '../../support/dates.ts';
import {
  bookOrFail,
  book,
  createBookableDate,
  deregister,
  endOffers,
  persons,
  seatCounters,
} from '../../support/booking.ts';
import { importObjects } from '../../support/all-responses.ts';
import {
  createNotifiedDate,
  createNotifyingLocation,
  noticeSwitches,
  readNotices,
  setSchoolEmails,
  switchNotices,
} from '../../support/notices.ts';
import { forced } from '../../support/mail.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider, database } = testApp;

const notices = (me: Provider) => readNotices(testApp, me);
const purposes = async (me: Provider) => (await notices(me)).map(({ purpose }) => purpose);
const addresses = async (me: Provider) => (await notices(me)).map(({ address }) => address);
const wait = { config: { waiting_list_when_full: 1 } };

const setStatus = async (me: Provider, id: number, idStatus: number) => {
  const response = await me.put(`/v2/participants/${id}`, { idStatus });
  expect(response.status).toBe(200);
};
const move = async (me: Provider, id: number, coursedate_id: number) =>
  expect((await me.post(`/v2/participants/${id}/move`, { coursedate_id })).status).toBe(200);
const update = async (me: Provider, { courseId, dateId }: { courseId: number; dateId: number }, body: object) =>
  expect((await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, body)).status).toBe(200);

/** A date within the days of warning, whose deadline is `days` from now in its zone. */
const withDeadlineIn = (days: number, zone = 'Europe/Oslo') => {
  const at = new Date(Date.now() + days * 86_400_000);
  const deadlineAt = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(at);
  return { startAt: '2099-01-01', endAt: '2099-01-01', deadlineAt, zone };
};

test('each participant who books or leaves is told to the address of the location', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me);
  const { booking_id, participants } = await bookOrFail(me, dateId, { participants: persons(2) });
  await deregister(me, booking_id, { participants: [participants[1]!.id] });
  await setStatus(me, participants[0]!.id, 8);
  await setStatus(me, participants[0]!.id, 1);
  const of = (purpose: string, n: number) => ({
    ...{ purpose, address: 'hall@school.example', adminUserId: null },
    ...{ participantId: participants[n]!.id, courseDateId: null },
  });
  expect(await notices(me)).toEqual([
    ...[of('notice_booked', 0), of('notice_booked', 1), of('notice_canceled', 1), of('notice_canceled', 0)],
    of('notice_booked', 0),
  ]);
});

test('no notice is sent by default', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(
    me,
    { capacity_budget: 1, notification_days: 7 },
    { capacityMax: 1, capacityMin: 2, ...withDeadlineIn(1) },
  );
  await switchNotices(me, Object.fromEntries(mailKindNames.map((kind) => [kind, null])));
  await deregister(me, (await bookOrFail(me, dateId)).booking_id);
  await warnOfMinimum(database);
  expect(await notices(me)).toEqual([]);
});

test.each(Object.keys(noticeSwitches))('%s is switched off alone', async (kind) => {
  const me = await createProvider();
  const location = { capacity_budget: 1, notification_days: 7 };
  const { dateId } = await createNotifiedDate(me, location, { capacityMax: 1, capacityMin: 2, ...withDeadlineIn(1) });
  await switchNotices(me, { [kind]: false });
  const { booking_id } = await bookOrFail(me, dateId);
  await deregister(me, booking_id);
  const others = Object.keys(noticeSwitches).filter((one) => one !== kind);
  expect((await purposes(me)).toSorted()).toEqual(others.toSorted());
});

test('once a location has is_notification_enabled, no notice is sent of dates at others, nor of those without one', async () => {
  const me = await createProvider();
  const silent = { capacityMax: 1, capacityMin: 2, ...withDeadlineIn(1) };
  const location = { is_notification_enabled: false, capacity_budget: 1, notification_days: 7 };
  const { dateId } = await createNotifiedDate(me, location, silent);
  await createNotifyingLocation(me);
  const { dateId: without } = await createBookableDate(me, silent);
  for (const id of [dateId, without]) await deregister(me, (await bookOrFail(me, id)).booking_id);
  await warnOfMinimum(database);
  expect(await notices(me)).toEqual([]);
});

test('while no location has it, the switches alone decide, also on dates without a location', async () => {
  const me = await createProvider();
  await setSchoolEmails(me, { email: 'post@school.example', emailBooking: '' });
  const location = { is_notification_enabled: false, capacity_budget: 1, notification_days: 7 };
  const { dateId } = await createNotifiedDate(me, location, { capacityMax: 1, capacityMin: 2, ...withDeadlineIn(1) });
  const { dateId: without } = await createBookableDate(me, { capacityMax: 1 });
  for (const id of [dateId, without]) await deregister(me, (await bookOrFail(me, id)).booking_id);
  await warnOfMinimum(database);
  const told = ['notice_booked', 'notice_full', 'notice_canceled'];
  const sent = (await notices(me)).map(({ purpose, address }) => [address, purpose]);
  expect(
    sent
      .filter(([address]) => address === 'post@school.example')
      .map(([, purpose]) => purpose)
      .sort(),
  ).toEqual(told.sort());
  const atLocation = sent.filter(([address]) => address === 'hall@school.example').map(([, purpose]) => purpose);
  expect(new Set(atLocation)).toEqual(new Set([...told, 'notice_budget', 'notice_under_minimum']));
  await switchNotices(me, { notice_booked: false });
  await bookOrFail(me, without);
  expect((await purposes(me)).filter((purpose) => purpose === 'notice_booked')).toHaveLength(2);
});

test.each([
  [
    'the location',
    { email_booking: 'hall@school.example' },
    { email_booking: 'knots@school.example' },
    'hall@school.example',
  ],
  ['the course', { email_booking: '' }, { email_booking: 'knots@school.example' }, 'knots@school.example'],
  ['the school', { email_booking: '' }, {}, 'booking@school.example'],
])('a notice goes to email_booking of %s', async (_level, location, course, expected) => {
  const me = await createProvider();
  await setSchoolEmails(me, { email: 'post@school.example', emailBooking: 'booking@school.example' });
  const { dateId } = await createNotifiedDate(me, location, { course, capacityMax: 1 });
  await deregister(me, (await bookOrFail(me, dateId)).booking_id);
  expect(await addresses(me)).toEqual([expected, expected, expected]);
});

test('without an email_booking a notice goes to the e-mail address of the school, and without that to nobody', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me, { email_booking: '' });
  await setSchoolEmails(me, { email: 'post@school.example', emailBooking: '' });
  await bookOrFail(me, dateId);
  await setSchoolEmails(me, { email: '', emailBooking: '' });
  await bookOrFail(me, dateId);
  expect(await addresses(me)).toEqual(['post@school.example']);
});

test('full is told once, and again after a seat was free', async () => {
  const me = await createProvider();
  const date = await createNotifiedDate(me, {}, { capacityMax: 2, capacityOverbook: 1, capacityWait: 5 });
  const { dateId } = date;
  await switchNotices(me, { notice_booked: false, notice_canceled: false });
  await bookOrFail(me, dateId);
  expect(await notices(me)).toEqual([]);
  const { booking_id } = await bookOrFail(me, dateId);
  const full = {
    ...{ purpose: 'notice_full', address: 'hall@school.example', adminUserId: null },
    ...{ participantId: null, courseDateId: dateId },
  };
  expect(await notices(me)).toEqual([full]);
  const waiting = await bookOrFail(me, dateId, { participants: persons(2), ...wait });
  expect(await seatCounters(me, dateId)).toEqual([2, 1, 0, 1]);
  // The waiting list takes the seats, so the date stays full.
  await deregister(me, booking_id);
  expect(await notices(me)).toEqual([full]);
  await deregister(me, waiting.booking_id);
  await bookOrFail(me, dateId);
  expect(await notices(me)).toEqual([full, full]);
  await update(me, date, { capacity_max: 3 });
  await update(me, date, { capacity_max: 1 });
  expect(await notices(me)).toEqual([full, full, full]);
});

test('an accepted and a declined offer tell what they change', async () => {
  const me = await createProvider();
  const location = { capacity_budget: 1 };
  const { dateId } = await createNotifiedDate(me, location, { capacityMax: 1, capacityWait: 3, waitingMode: 'offer' });
  await switchNotices(me, { notice_booked: false, notice_budget: false });
  const { booking_id } = await bookOrFail(me, dateId);
  const ids: number[] = [];
  for (let n = 0; n < 2; n += 1) ids.push((await bookOrFail(me, dateId, wait)).participants[0]!.id);
  await deregister(me, booking_id);
  expect(await purposes(me)).toEqual(['notice_full', 'notice_canceled']);
  const areas = ['dates', 'people', 'money'] as const;
  const ctx = await me.ctx();
  const decline = (id: number) => ctx.write(areas, (w) => declineOffer(w, id));
  // The first of two refusals leads back to the waiting list.
  for (const [id, state] of [
    [ids[0]!, 'waiting'],
    [ids[1]!, 'waiting'],
    [ids[0]!, 'deregistered'],
  ] as const)
    expect(await decline(id)).toBe(state);
  expect((await notices(me)).slice(2)).toMatchObject([{ purpose: 'notice_canceled', participantId: ids[0] }]);
  await switchNotices(me, { notice_budget: true });
  expect(await ctx.write(areas, (w) => acceptOffer(w, ids[1]!))).toBe('confirmed');
  expect((await purposes(me)).slice(3)).toEqual(['notice_budget']);
});

test('an offer that ends a second time without an answer tells that its participant has left', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me, {}, { capacityMax: 1, capacityWait: 3, waitingMode: 'offer' });
  await switchNotices(me, { notice_booked: false });
  const { booking_id } = await bookOrFail(me, dateId);
  const { participants } = await bookOrFail(me, dateId, wait);
  await bookOrFail(me, dateId, wait);
  await deregister(me, booking_id);
  for (let n = 0; n < 3; n += 1) {
    await endOffers(me);
    await endDueHoldsOfSchool(database, me.id);
  }
  expect((await notices(me)).slice(2)).toMatchObject([
    { purpose: 'notice_canceled', participantId: participants[0]!.id },
  ]);
});

test('two bookings that fill a date at once tell it once', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me, {}, { capacityMax: 2, capacityOverbook: 8 });
  await switchNotices(me, { notice_booked: false });
  const responses = await Promise.all(Array.from({ length: 6 }, () => book(me, dateId)));
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201]);
  expect(await purposes(me)).toEqual(['notice_full']);
});

test('the budget of the location is told once', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me, { capacity_budget: 2 });
  await switchNotices(me, { notice_booked: false, notice_canceled: false });
  await bookOrFail(me, dateId);
  expect(await notices(me)).toEqual([]);
  const { booking_id } = await bookOrFail(me, dateId);
  await deregister(me, booking_id);
  await bookOrFail(me, dateId);
  expect(await notices(me)).toMatchObject([{ purpose: 'notice_budget', courseDateId: dateId }]);
});

test('naming a place of a group counts for the budget', async () => {
  const me = await createProvider();
  const { dateId } = await createNotifiedDate(me, { capacity_budget: 1 });
  const { participants } = await bookOrFail(me, dateId, { participants: undefined, places: 3 });
  // Places without names are told once.
  expect(await notices(me)).toMatchObject([{ purpose: 'notice_booked', participantId: participants[0]!.id }]);
  const user = persons(1)[0]!;
  expect((await me.put(`/v2/participants/${participants[1]!.id}`, { user })).status).toBe(200);
  expect((await purposes(me)).slice(1)).toEqual(['notice_budget']);
});

test('a date is told once to be under its minimum, from notification_days before the deadline', async () => {
  const me = await createProvider();
  const at = async (days: number, notification_days: number, capacityMin = 2, zone?: string) =>
    (await createNotifiedDate(me, { notification_days }, { capacityMin, ...withDeadlineIn(days, zone) })).dateId;
  const due = [
    await at(3, 3),
    await at(0, 3),
    await at(3, 3, 2, 'Pacific/Kiritimati'),
    await at(3, 3, 2, 'Pacific/Pago_Pago'),
  ];
  const early = await at(4, 3);
  await at(4, 3, 2, 'Pacific/Kiritimati');
  await at(-1, 3);
  await at(3, 0);
  await at(3, 3, 0);
  await changeDate(me, await at(3, 3), { statusId: 3 });
  await changeDate(me, await at(3, 3), { deletedAt: '2026-01-01' });
  const filled = await at(3, 3, 1);
  await switchNotices(me, { notice_booked: false });
  await bookOrFail(me, filled);
  for (let n = 0; n < 2; n += 1) await warnOfMinimum(database);
  expect(await notices(me)).toMatchObject(
    due.map((courseDateId) => ({ purpose: 'notice_under_minimum', address: 'hall@school.example', courseDateId })),
  );
  await changeDate(me, early, withDeadlineIn(3));
  await Promise.all([warnOfMinimum(database), warnOfMinimum(database)]);
  expect((await notices(me)).slice(due.length)).toMatchObject([{ courseDateId: early }]);
});

test('the largest notification_days of one school stop no booking, and no notice of another one', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const date = { capacityMin: 2, ...withDeadlineIn(3) };
  const { dateId } = await createNotifiedDate(me, { notification_days: 2_147_483_647 }, date);
  await createNotifiedDate(other, { notification_days: 7 }, date);
  await warnOfMinimum(database);
  for (const one of [me, other]) expect(await purposes(one)).toEqual(['notice_under_minimum']);
  await bookOrFail(me, dateId);
  expect(await purposes(me)).toEqual(['notice_under_minimum', 'notice_booked']);
});

test('a closed school is not told of its dates under their minimum', async () => {
  const me = await createProvider();
  await createNotifiedDate(me, { notification_days: 7 }, { capacityMin: 2, ...withDeadlineIn(3) });
  await forced(me, `update providers set closed_at = now() where id = ${me.id}`);
  await warnOfMinimum(database);
  expect(await notices(me)).toEqual([]);
});

test('a move tells the former date and the new one', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createNotifiedDate(me);
  const toId = await addDate(me, courseId, {
    capacityMax: 1,
    locationId: await addLocation(me, { emailBooking: 'annex@school.example', isNotificationEnabled: true }),
  });
  await switchNotices(me, { notice_booked: true });
  const { participants } = await bookOrFail(me, dateId);
  const participantId = participants[0]!.id;
  await move(me, participantId, toId);
  const none = { adminUserId: null, participantId: null, courseDateId: null };
  expect((await notices(me)).slice(1)).toEqual(
    [
      { ...none, purpose: 'moved_away', address: 'hall@school.example', participantId, courseDateId: dateId },
      { ...none, purpose: 'notice_booked', address: 'annex@school.example', participantId },
      { ...none, purpose: 'notice_full', address: 'annex@school.example', courseDateId: toId },
    ].toSorted((a, b) => a.purpose.localeCompare(b.purpose)),
  );
});

test('a canceled date sends no notices of its participants', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createNotifiedDate(me);
  const moved = await createNotifiedDate(me);
  const { locationId } = moved;
  const toId = await addDate(me, moved.courseId, { capacityMax: 1, locationId });
  await switchNotices(me, { notice_booked: false });
  for (const id of [dateId, moved.dateId]) await bookOrFail(me, id);
  const cancel = async (course: number, id: number, body: object) =>
    expect((await me.post(`/v2/courses/${course}/coursedates/${id}/cancel`, body)).status).toBe(200);
  await switchNotices(me, { notice_booked: true });
  await cancel(courseId, dateId, { credit: true });
  await cancel(moved.courseId, moved.dateId, { move_to: toId });
  expect(await notices(me)).toMatchObject([{ purpose: 'notice_full', courseDateId: toId }]);
});

test('a role that is imported with the location restricts its notices to the admin users of the role', async () => {
  const me = await createProvider();
  await switchNotices(me, noticeSwitches);
  const n = me.id;
  const admin = (ref: string, role: string, fields = {}) => ({
    ...{
      kind: 'admin_user',
      ref,
      email: `${ref}-${n}@school.example`,
      firstname: ref,
      lastname: 'Berg',
      role_ids: [role],
    },
    ...fields,
  });
  const location = { kind: 'location', ref: 'hall', title: 'Hall', email_booking: 'hall@school.example' };
  const lines = [
    { kind: 'role', ref: 'seller', title: 'Seller' },
    { kind: 'role', ref: 'cook', title: 'Cook' },
    { kind: 'role', ref: 'empty', title: 'Empty' },
    ...[admin('ase', 'seller'), admin('ole', 'seller'), admin('per', 'cook')],
    admin('siv', 'seller', { detached: true }),
    { ...location, is_notification_enabled: true, notification_role: 'seller' },
    { ...location, ref: 'attic', is_notification_enabled: true, notification_role: 'empty' },
  ];
  expect((await importObjects(me, lines)).reasons).toEqual([]);
  const unknown = { ...location, ref: 'annex', notification_role: 'nobody' };
  expect((await importObjects(me, [unknown])).reasons).toEqual(['1: No role has the ref nobody before this line']);

  const roles = (await me.get('/v2/admin-roles')).json<{ id: number; title: string }[]>();
  const roleId = (title: string) => roles.find((role) => role.title === title)!.id;
  const locations = (await me.get('/v2/locations')).json<{ id: number; notification_role: number | null }[]>();
  expect(locations).toMatchObject([{ notification_role: roleId('Seller') }, { notification_role: roleId('Empty') }]);
  const [hall, attic] = locations.map(({ id }) => id);
  // The interface does not set it.
  expect((await me.put(`/v2/locations/${hall}`, { notification_role: roleId('Cook'), city: 'Voss' })).status).toBe(200);

  await bookOrFail(me, (await createBookableDate(me, { locationId: attic! })).dateId);
  expect(await notices(me)).toEqual([]);
  await bookOrFail(me, (await createBookableDate(me, { locationId: hall! })).dateId);
  const users = (await me.get('/v2/admin-users')).json<{ id: number; firstname: string }[]>();
  const sellers = users.filter(({ firstname }) => ['ase', 'ole'].includes(firstname)).map(({ id }) => id);
  expect(await notices(me)).toMatchObject(
    sellers.map((adminUserId) => ({ purpose: 'notice_booked', address: null, adminUserId })),
  );
});
