import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { participants } from '../../../src/database/tables/participants.ts';
import {
  createAttendance,
  createCourseDate,
  createCustomer,
  createGathering,
  createLocation,
  createOrder,
  createPlace,
  createUser,
  write,
} from '../../support/orders.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;

const dateTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
const idsOf = (response: TestResponse) => response.json<{ id: number }[]>().map(({ id }) => id);

test('a participant has all its fields', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'First aid', reference: 'FA' });
  const place = await createPlace(testApp, 'Bergen sentrum');
  const locationId = await createLocation(me, {
    placeId: place,
    title: 'Harbour',
    customTitle: 'By the sea',
    address: 'Quay 1',
    zipcode: '5003',
    city: 'Bergen',
    county: 'Vestland',
    lat: 60.4,
    lng: 5.3,
    shortText2: 'two',
    cancellationDays: 14,
    isDefault: true,
  });
  const dateId = await createCourseDate(me, courseId, {
    locationId,
    placeId: place,
    startTimeAt: '09:00',
    endTimeAt: '15:30:00',
    timezone: 'Europe/Oslo',
    eventUrl: 'https://event.example',
    internalNote: 'Bring cake',
    isVirtual: true,
    statusId: 2,
  });
  const userId = await createUser(me, { firstname: 'Kari', lastname: 'Nordmann' });
  const { participantIds, bookingId, orderId } = await createOrder(me, {
    courseId,
    dateId,
    users: [userId],
    booking: { bookerName: 'Ola', bookerEmail: 'ola@b.example', bookerPhone: '+47 1', bookerLanguageId: 'no' },
    participant: {
      statusId: 7,
      paidId: 1,
      entrySource: 'School',
      completed: true,
      passed: true,
      certificateIssuedAt: '2026-07-03',
      userComment: 'Vegetarian',
      customProperties: { size: 'L' },
      archivedAt: '2026-08-01 12:00:00+02',
    },
  });

  const response = await me.get('/v2/participants');
  expect(response.status).toBe(200);
  expect(response.headers['etag']).toMatch(/^W\//);
  const [participant, ...others] = response.json();
  expect(others).toEqual([]);
  expect(participant).toEqual({
    id: participantIds[0],
    archived_at: '2026-08-01T12:00:00+02:00',
    booker_admin_user: null,
    booker_email: 'ola@b.example',
    booker_language_id: 'no',
    booker_name: 'Ola',
    booker_phone: '+47 1',
    certificate_issued_at: '2026-07-03',
    completed: true,
    no_show: false,
    passed: true,
    course: { id: courseId, title: 'First aid', reference: 'FA', created_at: dateTime, updated_at: dateTime },
    coursedate: {
      id: dateId,
      idCourse: courseId,
      idStatus: 2,
      week: 27,
      start_at: '2026-07-01',
      end_at: '2026-07-02',
      deadline_at: '2026-06-24',
      time_start: '09:00',
      time_end: '15:30',
      timezone: 'Europe/Oslo',
      gmt_offset: '+02:00',
      place: 'Bergen sentrum',
      is_virtual: true,
      event_url: 'https://event.example',
      internal_note: 'Bring cake',
      idLocation: String(locationId),
      teaching_language: 'Norwegian',
      idTeachingLanguage: 'no',
      location_cancellation_days: 14,
      is_deleted: false,
      guaranteed_to_run: true,
      location: {
        id: locationId,
        title: 'Harbour',
        custom_title: 'By the sea',
        address: 'Quay 1',
        address2: null,
        address3: null,
        zipcode: '5003',
        city: 'Bergen',
        state: '',
        county: 'Vestland',
        idCountry: '578',
        country: 'Norway',
        country_code: 'NO',
        idPlace: place,
        lat: 60.4,
        lng: 5.3,
        timezone: null,
        long_text: null,
        short_text: null,
        short_text_2: 'two',
        idInstructor: null,
        is_default: true,
        is_archived: false,
        is_virtual: false,
      },
    },
    created_at: dateTime,
    updated_at: dateTime,
    status_updated_at: dateTime,
    custom_properties: { size: 'L' },
    entry_source: 'School',
    idBooking: bookingId,
    idOrder: orderId,
    idPaid: 1,
    paid: { id: 1, title: 'Yes' },
    status: { id: 7, title: 'Unconfirmed', status_code: 'status_unconfirmed' },
    user: expect.objectContaining({ id: userId, firstname: 'Kari', lastname: 'Nordmann', customer: null }) as object,
    user_comment: 'Vegetarian',
  });
});

test('unset fields are null, empty or 0', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const dateId = await createCourseDate(me, courseId, { deletedAt: '2026-01-01 00:00:00+01' });
  await createOrder(me, { courseId, dateId });
  const [participant] = (await me.get('/v2/participants')).json();
  expect(participant).toMatchObject({
    archived_at: null,
    booker_email: null,
    booker_language_id: null,
    booker_name: null,
    booker_phone: null,
    certificate_issued_at: null,
    custom_properties: null,
    entry_source: 'User',
    paid: { id: 3, title: 'No' },
    user_comment: null,
    coursedate: {
      idStatus: 1,
      time_start: '',
      time_end: '',
      timezone: null,
      place: '',
      event_url: null,
      internal_note: null,
      idLocation: '',
      location_cancellation_days: 0,
      is_deleted: true,
      guaranteed_to_run: false,
      location: null,
    },
  });
});

test.each([
  [1, 'Confirmed', 'Bekreftet', 'status_confirmed'],
  [2, 'Overbooked', 'Overbooket', 'status_overbooked'],
  [3, 'Waiting list', 'Venteliste', 'status_waitinglist'],
  [4, 'Deregistered', 'Avmeldt', 'status_deregistered'],
  [7, 'Unconfirmed', 'Ubekreftet', 'status_unconfirmed'],
  [8, 'Deregistered with fee', 'Avmeldt med gebyr', 'status_deregistered_with_fee'],
])('status %i is listed as %s', async (id, english, norwegian, status_code) => {
  const me = await createProvider();
  await createOrder(me, { courseId: await me.course(), participant: { statusId: id } });
  const read = async (language: string) =>
    (await me.get('/v2/participants', { 'accept-language': language })).json()[0];
  expect((await read('en')).status).toEqual({ id, title: english, status_code });
  const inNorwegian = await read('nb');
  expect(inNorwegian.status).toEqual({ id, title: norwegian, status_code });
  expect([inNorwegian.paid.title, inNorwegian.coursedate.teaching_language]).toEqual(['Nei', 'Norsk']);
});

test.each([
  ['2026-07-01', undefined, 'Europe/Oslo', '+02:00', 27],
  ['2026-12-31', undefined, 'Europe/Oslo', '+01:00', 53],
  ['2027-01-01', undefined, 'Europe/Oslo', '+01:00', 53],
  ['2027-01-04', undefined, 'Europe/Oslo', '+01:00', 1],
  ['2024-12-30', undefined, 'Europe/Oslo', '+01:00', 1],
  ['2026-03-29', '01:59', 'Europe/Oslo', '+01:00', 13],
  ['2026-03-29', '03:00', 'Europe/Oslo', '+02:00', 13],
  ['2026-07-01', '10:00', 'America/St_Johns', '-02:30', 27],
  ['2026-07-01', '10:00', 'Asia/Kathmandu', '+05:45', 27],
  ['2026-07-01', '10:00', 'UTC', '+00:00', 27],
])('a date on %s at %s in %s has the offset and the ISO week', async (startAt, startTimeAt, zone, offset, week) => {
  const me = await createProvider();
  const courseId = await me.course();
  const days = { startAt, endAt: '2027-12-31', deadlineAt: startAt };
  const dateId = await createCourseDate(me, courseId, { ...days, startTimeAt, zone });
  await createOrder(me, { courseId, dateId });
  expect((await me.get('/v2/participants')).json()[0].coursedate).toMatchObject({ gmt_offset: offset, week });
});

/** Three participants: two of one course on two dates, one of another; two of one customer, two of one user. */
async function three(me: Provider) {
  const [course, otherCourse] = [await me.course(), await me.course()];
  const [date, otherDate] = [await createCourseDate(me, course), await createCourseDate(me, course)];
  const customer = await createCustomer(me);
  const [user, otherUser] = [await createUser(me, { customerId: customer }), await createUser(me)];
  const a = await createOrder(me, { courseId: course, dateId: date, users: [user] });
  const b = await createOrder(me, { courseId: course, dateId: otherDate, users: [otherUser] });
  const c = await createOrder(me, { courseId: otherCourse, users: [user] });
  const ids = [a, b, c].map(({ participantIds }) => participantIds[0]!);
  return { course, otherCourse, date, otherDate, customer, user, otherUser, ids, thirdDate: c.dateId };
}

test('every filter works alone and combined', async () => {
  const me = await createProvider();
  const { course, otherCourse, date, otherDate, customer, user, otherUser, ids, thirdDate } = await three(me);
  const [a, b, c] = ids as [number, number, number];
  const query = async (query: string) => idsOf(await me.get(`/v2/participants?${query}`));

  expect(await query('')).toEqual([a, b, c]);
  expect(await query(`course_id=${course}`)).toEqual([a, b]);
  expect(await query(`coursedate_id=${otherDate}`)).toEqual([b]);
  expect(await query(`customer_id=${customer}`)).toEqual([a, c]);
  expect(await query(`user_id=${user}`)).toEqual([a, c]);
  expect(await query(`user_id=${otherUser}`)).toEqual([b]);
  expect(await query(`course_id=${course}&customer_id=${customer}`)).toEqual([a]);
  expect(await query(`course_id=${course}&user_id=${otherUser}`)).toEqual([b]);
  expect(await query(`coursedate_id=${thirdDate}&course_id=${course}`)).toEqual([]);
  expect(await query(`coursedate_id=${date}&customer_id=${customer}&user_id=${user}&course_id=${course}`)).toEqual([a]);
  expect(await query(`course_id=${otherCourse}&limit=1`)).toEqual([c]);
  expect(await query(`customer_id=${customer}&since_id=${a}`)).toEqual([c]);
  expect(await query('limit=2&page=2')).toEqual([c]);

  await write(me, async (tx) => {
    const set = (id: number, day: string) =>
      tx
        .update(participants)
        .set({ createdAt: `2026-03-0${day} 00:00:00+01`, updatedAt: `2026-04-0${day} 00:00:00+02` })
        .where(eq(participants.id, id));
    await set(a, '1');
    await set(b, '2');
    await set(c, '3');
  });
  expect(await query('created_at_min=2026-03-02')).toEqual([b, c]);
  expect(await query('created_at_max=2026-03-02')).toEqual([a]);
  expect(await query('updated_at_min=2026-04-02&updated_at_max=2026-04-03')).toEqual([b]);
  expect(await query(`created_at_min=2026-03-02&customer_id=${customer}`)).toEqual([c]);
  const synced = await me.get('/v2/participants?updated_at_min=2026-04-03');
  expect([idsOf(synced), typeof synced.headers['x-updated-through']]).toEqual([[c], 'string']);
});

test('ids of another provider match nothing, and its participants are never listed', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const theirs = await three(other);
  await three(me);
  for (const query of [
    `course_id=${theirs.course}`,
    `coursedate_id=${theirs.date}`,
    `customer_id=${theirs.customer}`,
    `user_id=${theirs.user}`,
    'course_id=999999999',
  ]) {
    const response = await me.get(`/v2/participants?${query}`);
    expect([response.status, response.json()]).toEqual([200, []]);
  }
  expect(idsOf(await me.get('/v2/participants')).filter((id) => theirs.ids.includes(id))).toEqual([]);
});

test('include=attendance embeds the attended gatherings', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const dateId = await createCourseDate(me, courseId);
  const gatherings = [await createGathering(me, dateId), await createGathering(me, dateId, '2026-07-02')];
  const { participantIds } = await createOrder(me, {
    courseId,
    dateId,
    users: [await createUser(me), await createUser(me)],
  });
  const registeredAt = '2026-07-01 15:00:00.5+02';
  await createAttendance(me, participantIds[0]!, gatherings[1]!);
  await createAttendance(me, participantIds[0]!, gatherings[0]!, { attended: false, registeredAt });

  const [plain] = (await me.get('/v2/participants')).json();
  expect(plain).not.toHaveProperty('attendance');
  const [first, second] = (await me.get('/v2/participants?include[]=attendance')).json();
  expect(first).toEqual({
    ...plain,
    attendance: [
      { gathering_id: gatherings[0], attended: false, registered_at: '2026-07-01T15:00:00+02:00' },
      { gathering_id: gatherings[1], attended: null, registered_at: null },
    ],
  });
  expect(second.attendance).toEqual([]);
  const refused = await me.get('/v2/participants?include=user');
  expect([refused.status, refused.json().error]).toEqual([
    400,
    'Field(s) not valid: include. Supported values of include: attendance, attendance_summary, hold',
  ]);
});

test('the number of statements per page is constant plus one per include', async () => {
  const me = await createProvider();
  const statements = async (query = '') => (await recordStatements(() => me.get(`/v2/participants?${query}`))).length;
  await me.get('/v2/participants'); // The first use of a key is noted.
  const customerId = await createCustomer(me);
  const order = async () =>
    createOrder(me, { courseId: await me.course(), users: [await createUser(me, { customerId })] });
  await order();
  const one = await statements();
  for (let n = 0; n < 3; n += 1) await order();
  // Key look-up; rows of the page; bookings, courses, dates (with location and place), users and their customers.
  expect([one, await statements()]).toEqual([7, 7]);
  expect(await statements('include=attendance')).toBe(8);
});
