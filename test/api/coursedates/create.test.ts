import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { describe, expect, test } from 'vitest';
import { courseDates, gatherings } from '../../../src/database/tables/coursedates.ts';
import { CourseDateBody } from '../../../src/domains/courses/coursedates/fields.ts';
import { GatheringField } from '../../../src/domains/courses/gatherings/fields.ts';
import { addInstructor, addLocation, changeDate, findMunicipality } from '../../support/dates.ts';
import { dialects, encodeBody, contentTypeHeader } from '../../support/request-bodies.ts';
import { createPlace, write } from '../../support/orders.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const include = ['place', 'gatherings', 'instructors', 'location', 'waiting'].join(',');

const reported = (response: TestResponse) => [response.status, response.json().error];
const notValidResponse = (...names: string[]) => [400, `Field(s) not valid: ${names.join(',')}`];
const days = { start_at: '2030-06-10', end_at: '2030-06-12' };
const create = (me: Provider, courseId: number, fields: object = {}) =>
  me.post(`/v2/courses/${courseId}/coursedates`, { ...days, ...fields });

/** Creates a date by the API and reads it back. */
async function created(me: Provider, courseId: number, fields: object = {}) {
  const response = await create(me, courseId, fields);
  expect(response.status, response.text).toBe(201);
  const { coursedate_id, ...rest } = response.json();
  expect(rest).toEqual({ course_id: courseId });
  return (await me.get(`/v2/courses/${courseId}/coursedates/${coursedate_id}?include=${include}`)).json();
}

const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/) as string;

test('a date needs only its days; the other fields have defaults', async () => {
  const me = await createProvider();
  const courseId = await me.course({ title: 'Turk head', teaching_language: 'sv-SE' });
  expect(await created(me, courseId)).toEqual({
    coursedate_id: expect.any(Number) as number,
    title: 'Turk head',
    start_at: '2030-06-10',
    end_at: '2030-06-12',
    deadline_at: '2030-06-10',
    start_time_at: null,
    end_time_at: null,
    timezone: null,
    event_url: null,
    external_booking_url: null,
    is_virtual: false,
    is_visible: true,
    catalog_url: 'https://catalog.example/turk-head',
    waiting: { mode: 'promote', offer_hours: 24, open_offers: 0 },
    visible_when_passed_deadline: true,
    reference: null,
    parent_id: null,
    trigger_value: null,
    seats_status: 'open',
    seats: {
      allocated_capacity: { num: 0, num_overbooked: 0, num_waiting: 0 },
      free: { num: 0, num_waiting: 0 },
      booking_status: { num: 0, num_confirmed: 0, num_unconfirmed: 0, num_waiting: 0 },
    },
    custom_properties: null,
    created_at: moment,
    updated_at: moment,
    deleted_at: null,
    contacts: [],
    course_id: courseId,
    location_id: null,
    place_id: null,
    teaching_language_id: 'sv-SE',
    status_id: 1,
    place: { title_additional_info: null },
    gatherings: [],
    instructors: [],
    location: null,
  });
});

test.each(dialects)('every field is stored and returned: %s', async (dialect) => {
  const me = await createProvider();
  const courseId = await me.course();
  const parent = await created(me, courseId);
  const { id: place_id } = await findMunicipality(me, 'Bergen');
  const location_id = await addLocation(me);
  const [first, second] = [await addInstructor(me), await addInstructor(me)];
  const sent = {
    ...{ start_at: '2030-06-10', end_at: '2030-06-12', deadline_at: '2030-06-01' },
    ...{ start_time_at: '09:00', end_time_at: '15:30:10', timezone: 'Europe/London' },
    ...{ visible_when_passed_deadline: false, teaching_language: 'en', place_id, place_additional_info: 'Door 2' },
    ...{ location_id, status_id: 2, reference: 'R+1 %41', instructors: [second, first, second] },
    ...{ is_visible: false, is_virtual: true, event_url: 'https://e.example/?a=1&b=2' },
    ...{ external_booking_url: 'https://b.example', parent_id: parent.coursedate_id, trigger_value: 'june' },
    ...{ title: ' Knots, June ', capacity_max: 5, capacity_min: 1, capacity_overbook: 2, capacity_wait: 4 },
    ...{ waiting_mode: 'offer', offer_hours: 168 },
    custom_properties: { room: 'A', empty: '' },
    gatherings: [
      {
        ...{ gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30', idLocation: location_id },
        ...{ description: 'D', theme: 'T', event_url: 'https://g.example', instructors: [first] },
      },
    ],
  };
  const response = await me.post(
    `/v2/courses/${courseId}/coursedates`,
    encodeBody(dialect, sent),
    contentTypeHeader(dialect),
  );
  expect(response.status, response.text).toBe(201);
  const { coursedate_id } = response.json();
  const read = (await me.get(`/v2/courses/${courseId}/coursedates/${coursedate_id}?include=${include}`)).json();
  expect(read).toMatchObject({
    ...{ start_at: '2030-06-10', end_at: '2030-06-12', deadline_at: '2030-06-01' },
    ...{ start_time_at: '09:00:00', end_time_at: '15:30:10', timezone: 'Europe/London' },
    ...{ visible_when_passed_deadline: false, teaching_language_id: 'en', place_id, location_id, status_id: 2 },
    ...{ reference: 'R+1 %41', is_visible: false, is_virtual: true, event_url: 'https://e.example/?a=1&b=2' },
    ...{ external_booking_url: 'https://b.example', parent_id: parent.coursedate_id, trigger_value: 'june' },
    ...{ title: 'Knots, June', custom_properties: { room: 'A' } },
    place: { id: place_id, title: 'Bergen', title_additional_info: 'Door 2' },
    seats: { allocated_capacity: { num: 5, num_overbooked: 2, num_waiting: 4 } },
    waiting: { mode: 'offer', offer_hours: 168, open_offers: 0 },
  });
  expect(read.instructors.map(({ id }: { id: number }) => id)).toEqual([first, second]);
  expect(read.gatherings).toMatchObject([
    {
      ...{ idInstance: coursedate_id, gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' },
      ...{ idLocation: location_id, description: 'D', theme: 'T', event_url: 'https://g.example', is_future: true },
      instructors: [{ id: first }],
      location: { id: location_id },
    },
  ]);
  const stored = 'select zone, starts_at::text, ends_at::text, capacity_min from course_dates where id = $1';
  expect((await testApp.database.pool.query(stored, [coursedate_id])).rows).toEqual([
    {
      ...{ zone: 'Europe/London', capacity_min: 1 },
      ...{ starts_at: '2030-06-10 10:00:00+02', ends_at: '2030-06-12 16:30:10+02' },
    },
  ]);
});

test('empty fields get their default', async () => {
  const me = await createProvider();
  const courseId = await me.course({ teaching_language: 'da' });
  const names = [
    'deadline_at',
    'start_time_at',
    'end_time_at',
    'timezone',
    'visible_when_passed_deadline',
    'gatherings',
  ];
  names.push('teaching_language', 'place_id', 'place_by_search', 'place_additional_info', 'location_id', 'status_id');
  names.push('reference', 'instructors', 'is_visible', 'is_virtual', 'event_url', 'external_booking_url', 'parent_id');
  names.push('trigger_value', 'title', 'capacity_max', 'capacity_min', 'capacity_overbook', 'capacity_wait');
  names.push('waiting_mode', 'offer_hours');
  const volatile = { coursedate_id: 0, created_at: '', updated_at: '' };
  const plain = { ...(await created(me, courseId)), ...volatile };
  const empty = Object.fromEntries([...names, 'custom_properties'].map((name) => [name, '']));
  expect({ ...(await created(me, courseId, empty)), ...volatile }).toEqual(plain);
  const nothing = Object.fromEntries([...names, 'custom_properties'].map((name) => [name, null]));
  expect({ ...(await created(me, courseId, nothing)), ...volatile }).toEqual(plain);
});

test.each([
  ['start_at', { start_at: '' }, 'Missing field(s): start_at'],
  ['both days', { start_at: '', end_at: null }, 'Missing field(s): start_at,end_at'],
  ['a day and a code', { end_at: '', status_id: 5 }, 'Missing field(s): end_at. Field(s) not valid: status_id'],
])('%s is required', async (_name, fields, error) => {
  const me = await createProvider();
  expect(reported(await create(me, await me.course(), fields))).toEqual([400, error]);
});

test.each([
  [
    'start_at',
    ['2030-02-30', '2030-6-10', '10.06.2030', '2030-06-10 09:00', '0000-01-01', 'now', '20300610', '-1', ' 2030-06-10'],
  ],
  ['end_at', ['2031-02-29', '2030-06-12T00:00:00', '12030-06-12', 'infinity']],
  ['deadline_at', ['2030-13-01', 'tomorrow', '1']],
  ['start_time_at', ['24:00', '9:00', '09', '09:60', '09:00:60', '09:00:00.5', '09.00', '0900', ' 09:00', '09:00+02']],
  ['end_time_at', ['-1:00', '25:00', 'noon']],
  [
    'timezone',
    [
      'Europe/Nowhere',
      'europe/oslo',
      'Europe/oslo',
      'CEST',
      '+02:00',
      'FOO5',
      'Mars',
      '<+02>-02',
      'localtime',
      ' UTC',
      "'",
    ],
  ],
  ['teaching_language', ['xx', 'NO', 'constructor']],
  ['place_id', ['999999999', '0', '-1', 'Bergen', '1.5']],
  ['location_id', ['999999999', '0', 'x']],
  ['status_id', ['0', '5', '9', 'x']],
  ['instructors', ['999999999', 'x', '0', '[1', '1,2']],
  ['is_visible', ['2', 'maybe']],
  ['event_url', ['e.example', 'javascript:alert(1)', 'ftp://e.example']],
  ['external_booking_url', ['b.example']],
  ['parent_id', ['999999999', '0', 'x']],
  ['capacity_max', ['-1', '1.5', '2147483648', 'many']],
  ['capacity_min', ['-1']],
  ['capacity_overbook', ['1e3']],
  ['capacity_wait', ['0x10']],
  ['waiting_mode', ['ask', 'Offer', '1']],
  ['offer_hours', ['0', '169', '1.5', 'x']],
  ['custom_properties', ['x', '[1]']],
  ['title', ['x'.repeat(256)]],
  ['reference', ['x'.repeat(256)]],
  ['trigger_value', ['x'.repeat(5_001), 'a\0']],
  ['place_additional_info', ['x'.repeat(5_001)]],
] as const)('%s rejects %j', async (name, values) => {
  const me = await createProvider();
  const courseId = await me.course();
  for (const value of values) {
    const response = await create(me, courseId, { [name]: value });
    expect(reported(response), value).toEqual(notValidResponse(name));
  }
  expect((await me.get('/v2/coursedates')).json().items).toEqual([]);
});

test('IANA time zones are accepted, in winter and summer', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const zones = ['Asia/Kathmandu', 'America/Argentina/Ushuaia', 'UTC', 'Etc/GMT+5', 'Asia/Calcutta', 'Pacific/Apia'];
  for (const timezone of zones) expect(await created(me, courseId, { timezone })).toMatchObject({ timezone });
});

describe('a date ends after it starts', () => {
  test.each([
    ['an earlier day', { end_at: '2030-06-09' }, 'end_at'],
    ['an earlier day, whatever the deadline', { end_at: '2030-06-09', deadline_at: '2030-07-01' }, 'end_at'],
    ['an earlier time', { end_at: '2030-06-10', start_time_at: '10:00', end_time_at: '09:59:59' }, 'end_time_at'],
    ['an equal time', { end_at: '2030-06-10', start_time_at: '10:00', end_time_at: '10:00' }, 'end_time_at'],
    ['midnight of the day itself', { end_at: '2030-06-10', end_time_at: '00:00' }, 'end_time_at'],
    ['the last second', { end_at: '2030-06-10', start_time_at: '23:59:59' }, 'end_time_at'],
  ])('%s is rejected', async (_name, fields, name) => {
    const me = await createProvider();
    expect(reported(await create(me, await me.course(), fields))).toEqual(notValidResponse(name));
  });

  const gap = { start_at: '2030-03-31', end_at: '2030-03-31', start_time_at: '02:30', end_time_at: '03:15' };
  const fold = { start_at: '2030-10-27', end_at: '2030-10-27', start_time_at: '02:30', end_time_at: '02:45' };
  test.each([
    ['one day without times', { end_at: '2030-06-10' }, 201],
    ['an hour the clocks leave out, which is later than what follows', gap, 400],
    ['the same in a zone that has it', { ...gap, timezone: 'UTC' }, 201],
    ['the same where the date is', { ...gap, timezone: 'Europe/Helsinki' }, 201],
    ['past that hour', { ...gap, end_time_at: '03:31' }, 201],
    ['in the hour that comes twice', fold, 201],
  ])('%s', async (_name, fields, status) => {
    const me = await createProvider();
    const response = await create(me, await me.course(), fields);
    expect(response.status, response.text).toBe(status);
    if (status === 400) expect(reported(response)).toEqual(notValidResponse('end_time_at'));
  });

  test.each([
    ['before the start', '2030-06-01', 201],
    ['between start and end', '2030-06-11', 201],
    ['on the last day', '2030-06-12', 201],
    ['after the end', '2030-06-13', 400],
  ])('a deadline %s', async (_name, deadline_at, status) => {
    const me = await createProvider();
    const response = await create(me, await me.course(), { deadline_at });
    expect(response.status).toBe(status);
    if (status === 400) expect(reported(response)).toEqual(notValidResponse('deadline_at'));
  });
});

describe('capacities', () => {
  const own = { capacityMax: 10, capacityMin: 3, capacityOverbook: 2, capacityWait: 5 };
  const stored = async (id: number) => {
    const text = 'select capacity_max, capacity_min, capacity_overbook, capacity_wait from course_dates where id = $1';
    return Object.values((await testApp.database.pool.query<object>(text, [id])).rows[0]!);
  };

  test('are copied from the location unless sent, 0 included', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const location_id = await addLocation(me, own);
    const copied = await created(me, courseId, { location_id });
    expect(await stored(copied.coursedate_id)).toEqual([10, 3, 2, 5]);
    const some = await created(me, courseId, { location_id, capacity_max: 7, capacity_wait: 0 });
    expect(await stored(some.coursedate_id)).toEqual([7, 3, 2, 0]);
    const unlimited = await created(me, courseId, { location_id, capacity_max: 0 });
    expect(await stored(unlimited.coursedate_id)).toEqual([0, 3, 2, 5]);
    const empty = await created(me, courseId, { location_id, capacity_max: '' });
    expect(await stored(empty.coursedate_id)).toEqual([10, 3, 2, 5]);
  });

  test('stay when the location changes, or the date moves to another', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const { coursedate_id } = await created(me, courseId, { location_id: await addLocation(me, own) });
    const other = await addLocation(me, { ...own, capacityMax: 99 });
    const response = await me.put(`/v2/courses/${courseId}/coursedates/${coursedate_id}`, { location_id: other });
    expect(response.status).toBe(200);
    expect(await stored(coursedate_id)).toEqual([10, 3, 2, 5]);
  });
});

describe('place_by_search', () => {
  const places = new Map<string, number>();
  const titled = async (title: string) => {
    if (!places.has(title)) places.set(title, await createPlace(testApp, title));
    return places.get(title)!;
  };
  const mark = `Zz${process.pid}`;

  test('finds a municipality by its title, ignoring case', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const { id: bergen } = await findMunicipality(me, 'Bergen');
    const { id: oslo } = await findMunicipality(me, 'Oslo');
    const { id: alesund } = await findMunicipality(me, 'Ålesund');
    for (const text of ['Bergen', ' bERGEN ', 'bergen, vestland', 'Berge'])
      expect(await created(me, courseId, { place_by_search: text }), text).toMatchObject({
        place_id: bergen,
        place: { title: 'Bergen', title_additional_info: null },
      });
    expect((await created(me, courseId, { place_by_search: 'Oslo' })).place_id).toBe(oslo);
    expect((await created(me, courseId, { place_by_search: 'A\u030alesund' })).place_id).toBe(alesund);
  });

  test('prefers an equal title, then the shortest with that prefix', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const found = async (text: string) => (await created(me, courseId, { place_by_search: text })).place_id;
    const [longest, longer] = [await titled(`${mark} berg sentrum`), await titled(`${mark} bergen`)];
    expect(await found(`${mark} berg`)).toBe(longer);
    expect(await found(`${mark} BERG S`)).toBe(longest);
    const equal = await titled(`${mark} Berg`);
    expect(await found(`${mark} berg`)).toBe(equal);
  });

  test('without a match stores the text without a place and without an error', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    for (const text of ['The old boathouse', 'Os%', '%', '_____', "'", 'Be', 'x'.repeat(5_000)]) {
      const date = await created(me, courseId, { place_by_search: ` ${text} `.trim() });
      expect([date.place_id, date.place], text).toEqual([null, { title_additional_info: text }]);
    }
    for (const text of ['   ', '', null])
      expect((await created(me, courseId, { place_by_search: text })).place).toEqual({ title_additional_info: null });
  });

  test('place_additional_info is kept, and place_id overrides a search', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const { id: bergen } = await findMunicipality(me, 'Bergen');
    const { id: voss } = await findMunicipality(me, 'Voss');
    const more = { place_additional_info: 'Door 2' };
    const place = async (fields: object) => {
      const date = await created(me, courseId, fields);
      return [date.place_id, date.place.title_additional_info];
    };
    expect(await place({ place_by_search: 'Bergen', ...more })).toEqual([bergen, 'Door 2']);
    expect(await place({ place_by_search: 'Nowhere', ...more })).toEqual([null, 'Door 2']);
    expect(await place({ place_by_search: 'Nowhere', place_additional_info: '' })).toEqual([null, 'Nowhere']);
    expect(await place({ place_by_search: 'Nowhere', place_id: voss })).toEqual([voss, null]);
    expect(await place({ place_by_search: 'Bergen', place_id: voss })).toEqual([voss, null]);
    expect(await place({ place_by_search: 'Bergen', place_id: '' })).toEqual([bergen, null]);
  });
});

describe('parent_id', () => {
  test('must be a date of the same course that is not a child and not deleted', async () => {
    const me = await createProvider();
    const [courseId, otherCourse] = [await me.course(), await me.course()];
    const { coursedate_id: parent } = await created(me, courseId);
    const child = await created(me, courseId, { parent_id: parent, trigger_value: 'a' });
    expect(child).toMatchObject({ parent_id: parent, trigger_value: 'a' });
    const { coursedate_id: elsewhere } = await created(me, otherCourse);
    const { coursedate_id: gone } = await created(me, courseId);
    await changeDate(me, gone, { deletedAt: '2026-01-01 00:00+00' });
    for (const parent_id of [child.coursedate_id, elsewhere, gone])
      expect(reported(await create(me, courseId, { parent_id }))).toEqual(notValidResponse('parent_id'));
    const listed = (await me.get(`/v2/coursedates?coursedate_id=${parent}&include=subinstances`)).json().items[0];
    expect(listed.subinstances.map((one: { coursedate_id: number }) => one.coursedate_id)).toEqual([
      child.coursedate_id,
    ]);
  });
});

describe('gatherings', () => {
  const end = (hour: string) => ({ gathering_end_at: `2030-06-10 ${hour}` });
  test.each([
    ['two moments', { gathering_at: '2030-06-10 09:00', ...end('11:30') }],
    ['with seconds', { gathering_at: '2030-06-10 09:00:00', ...end('11:30:59') }],
    ['with a T', { gathering_at: '2030-06-10T09:00', gathering_end_at: '2030-06-10T11:30' }],
    ['a date with times', { date: '2030-06-10', time_start: '09:00', time_end: '11:30' }],
    ['the same under gathering_at', { gathering_at: '2030-06-10', time_start: '09:00', time_end: '11:30:00' }],
    [
      'two dates with times',
      { gathering_at: '2030-06-10', gathering_end_at: '2030-06-10', time_start: '09:00', time_end: '11:30' },
    ],
    ['a moment and a time', { gathering_at: '2030-06-10 09:00', time_end: '11:30' }],
  ])('are %s', async (_name, sent) => {
    const me = await createProvider();
    for (const dialect of dialects) {
      const courseId = await me.course();
      const fields = { ...days, gatherings: [sent] };
      const response = await me.post(
        `/v2/courses/${courseId}/coursedates`,
        encodeBody(dialect, fields),
        contentTypeHeader(dialect),
      );
      expect(response.status, response.text).toBe(201);
      const [date] = (await me.get(`/v2/courses/${courseId}/coursedates`)).json();
      expect(date.gatherings).toMatchObject([
        { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' },
      ]);
    }
  });

  test.each<[string, object, string?]>([
    ['an end at the start', { gathering_at: '2030-06-10 09:00', ...end('09:00') }],
    ['an end before the start', { gathering_at: '2030-06-10 09:00', ...end('08:00') }],
    [
      'an hour that is none',
      { gathering_at: '2030-06-10 24:00', gathering_end_at: '2030-06-11 11:30' },
      'gathering_at',
    ],
    ['a day that is none', { gathering_at: '2030-02-30 09:00', gathering_end_at: '2030-03-02 11:30' }, 'gathering_at'],
    ['an offset', { gathering_at: '2030-06-10 09:00+02:00', ...end('11:30') }, 'gathering_at'],
    ['an unknown location', { gathering_at: '2030-06-10 09:00', ...end('11:30'), idLocation: 999999999 }],
    ['an unknown instructor', { gathering_at: '2030-06-10 09:00', ...end('11:30'), instructors: [999999999] }],
    ['a join link that is none', { gathering_at: '2030-06-10 09:00', ...end('11:30'), event_url: 'x' }, 'event_url'],
  ])('with %s are not valid', async (_name, sent, member) => {
    const me = await createProvider();
    const courseId = await me.course();
    const good = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' };
    expect(reported(await create(me, courseId, { gatherings: [good, sent] }))).toEqual(
      notValidResponse(member === undefined ? 'gatherings' : `gatherings[1].${member}`),
    );
    expect((await me.get(`/v2/courses/${courseId}/coursedates`)).json()).toEqual([]);
  });

  test.each<[string, object | null, ...string[]]>([
    ['nothing in its place', null, 'gathering_at', 'gathering_end_at'],
    ['no start', end('11:30'), 'gathering_at'],
    ['no end', { gathering_at: '2030-06-10 09:00' }, 'gathering_end_at'],
    ['days without times', { gathering_at: '2030-06-10', gathering_end_at: '2030-06-11' }, 'time_start', 'time_end'],
    ['times without a date', { time_start: '09:00', time_end: '11:30' }, 'gathering_at'],
    ['no end time', { date: '2030-06-10', time_start: '09:00' }, 'time_end'],
  ])('with %s have a missing member', async (_name, sent, ...members) => {
    const me = await createProvider();
    const courseId = await me.course();
    const good = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' };
    const names = members.map((member) => `gatherings[1].${member}`).join(',');
    expect(reported(await create(me, courseId, { gatherings: [good, sent] }))).toEqual([
      400,
      `Missing field(s): ${names}`,
    ]);
    expect((await me.get(`/v2/courses/${courseId}/coursedates`)).json()).toEqual([]);
  });

  test.each(['x', '[', [1], ['2030-06-10']])('%j means no gatherings', async (gatherings) => {
    const me = await createProvider();
    expect(reported(await create(me, await me.course(), { gatherings }))).toEqual(notValidResponse('gatherings'));
  });

  test('are accepted as JSON in a form, sorted by time, each with its instructors', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const [a, b] = [await addInstructor(me), await addInstructor(me)];
    const sent = [
      { date: '2030-06-12', time_start: '09:00', time_end: '10:00', instructors: [a, b, a] },
      { date: '2030-06-11', time_start: '09:00', time_end: '10:00' },
      { date: '2030-06-10', time_start: '09:00', time_end: '10:00', instructors: [b] },
    ];
    const date = await created(me, courseId, { gatherings: JSON.stringify(sent) });
    const read = date.gatherings.map((one: { gathering_at: string; instructors: { id: number }[] }) => [
      one.gathering_at.slice(0, 10),
      one.instructors.map(({ id }) => id),
    ]);
    expect(read).toEqual([
      ['2030-06-10', [b]],
      ['2030-06-11', []],
      ['2030-06-12', [a, b]],
    ]);
  });

  test('200 gatherings with 50 instructors each are created at once', async () => {
    const me = await createProvider();
    const taught = await Promise.all(Array.from({ length: 50 }, () => addInstructor(me)));
    const one = { date: '2030-06-10', time_start: '09:00', time_end: '10:00', instructors: taught };
    const date = await created(me, await me.course(), { gatherings: Array.from({ length: 200 }, () => one) });
    expect(date.gatherings).toHaveLength(200);
    expect(date.gatherings.every(({ instructors }: { instructors: object[] }) => instructors.length === 50)).toBe(true);
  });

  test('use the time zone of their date', async () => {
    const me = await createProvider();
    const gatherings = [{ gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' }];
    const { coursedate_id } = await created(me, await me.course(), { timezone: 'America/New_York', gatherings });
    const text = 'select zone, starts_at::text from gatherings where course_date_id = $1';
    expect((await testApp.database.pool.query(text, [coursedate_id])).rows).toEqual([
      { zone: 'America/New_York', starts_at: '2030-06-10 15:00:00+02' },
    ]);
  });
});

test('ids of another provider are rejected like unknown ids', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [courseId, theirCourse] = [await me.course(), await other.course()];
  const [location, instructor] = [await addLocation(other), await addInstructor(other)];
  const { coursedate_id: date } = await created(other, theirCourse);
  const when = { date: '2030-06-10', time_start: '09:00', time_end: '10:00' };
  const fields: [string, object][] = [
    ['location_id', { location_id: location }],
    ['instructors', { instructors: [await addInstructor(me), instructor] }],
    ['parent_id', { parent_id: date }],
    ['gatherings', { gatherings: [{ ...when, idLocation: location }] }],
    ['gatherings', { gatherings: [{ ...when, instructors: [instructor] }] }],
  ];
  for (const [name, sent] of fields) expect(reported(await create(me, courseId, sent))).toEqual(notValidResponse(name));
  const many = { location_id: location, instructors: [instructor], parent_id: date, place_id: 999999999 };
  expect(reported(await create(me, courseId, many))).toEqual(
    notValidResponse('place_id', 'location_id', 'instructors', 'parent_id'),
  );
  for (const id of [theirCourse, 999999999]) expect(reported(await create(me, id))).toEqual([404, 'Course not found']);
  expect((await me.get('/v2/coursedates')).json().items).toEqual([]);
});

test('a date cannot be added to a deleted course but to an inactive one', async () => {
  const me = await createProvider();
  const [gone, inactive] = [await me.course(), await me.course({ active: 0 })];
  await write(me, (tx, now) => tx.execute(`update courses set deleted_at = '${now}' where id = ${gone}`));
  expect((await create(me, gone)).status).toBe(404);
  expect((await create(me, inactive)).status).toBe(201);
});

test('columns without a field cannot be written', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const odd = (table: PgTable, fields: object) => {
    const names = Object.keys(getTableColumns(table)).flatMap((name) => [name, snake(name)]);
    return Object.fromEntries(names.filter((name) => !(name in fields)).map((name) => [name, 7]));
  };
  const meeting = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' };
  const sent = {
    ...odd(courseDates, CourseDateBody.properties),
    gatherings: [{ ...odd(gatherings, GatheringField.properties), ...meeting }],
  };
  await created(me, courseId, { gatherings: [meeting] });
  const { coursedate_id } = await created(me, courseId, sent);
  // A PUT takes it as the teaching language.
  const update = { ...sent, teaching_language_id: undefined };
  const updated = await me.put(`/v2/courses/${courseId}/coursedates/${coursedate_id}`, update);
  expect(updated.status, updated.text).toBe(200);
  const same = { id: 0, course_date_id: 0, created_at: 0, updated_at: 0 };
  for (const table of ['course_dates', 'gatherings']) {
    const text = `select * from ${table} where provider_id = $1 order by id`;
    const [plain, written] = (await testApp.database.pool.query<object>(text, [me.id])).rows;
    expect({ ...written, ...same }).toEqual({ ...plain, ...same });
  }
});
