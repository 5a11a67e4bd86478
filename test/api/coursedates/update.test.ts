import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addsSeats } from '../../../src/domains/bookings/seat-assignment/promotion-service.ts';
import { statusesOnDate } from '../../support/booking.ts';
import { eventsSince, newestEvent } from '../../support/changes.ts';
import {
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  addParticipants,
  changeDate,
  findMunicipality,
} from '../../support/dates.ts';
import { dialects, encodeBody, hostileValue, contentTypeHeader } from '../../support/request-bodies.ts';
import { createAttendance, createOrder, createUser, write } from '../../support/orders.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const include = ['place', 'gatherings', 'instructors', 'waiting'].join(',');

const reported = (response: TestResponse) => [response.status, response.json().error];
const notValidResponse = (name: string) => [400, `Field(s) not valid: ${name}`];
const at = (courseId: number, id: number) => `/v2/courses/${courseId}/coursedates/${id}`;

/** A course with one date, and functions that change it. */
async function ownDate(fields: object = {}, me?: Provider) {
  const owner = me ?? (await createProvider());
  const courseId = await owner.course();
  const sent = { start_at: '2030-06-10', end_at: '2030-06-12', ...fields };
  const created = await owner.post(`/v2/courses/${courseId}/coursedates`, sent);
  expect(created.status, created.text).toBe(201);
  const id: number = created.json().coursedate_id;
  const url = at(courseId, id);
  const put = (change: object) => owner.put(url, change);
  const read = async () => (await owner.get(`${url}?include=${include}`)).json();
  /** A successful update, and the date read back. */
  const changed = async (change: object) => {
    const response = await put(change);
    expect([response.status, response.json()], response.text).toEqual([
      200,
      { coursedate_id: id, course_id: courseId },
    ]);
    return read();
  };
  return { me: owner, courseId, id, url, put, read, changed };
}

const everything = {
  ...{ deadline_at: '2030-06-01', start_time_at: '09:00', end_time_at: '15:30', timezone: 'Europe/London' },
  ...{ visible_when_passed_deadline: false, teaching_language: 'en', place_additional_info: 'Door 2', status_id: 2 },
  ...{ reference: 'R', is_visible: false, is_virtual: true, event_url: 'https://e.example', trigger_value: 'june' },
  ...{ external_booking_url: 'https://b.example', title: 'Own', custom_properties: { room: 'A', floor: '2' } },
  ...{ capacity_max: 5, capacity_min: 1, capacity_overbook: 2, capacity_wait: 4 },
  ...{ waiting_mode: 'offer', offer_hours: 48 },
  gatherings: [{ gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 11:30' }],
};

/** A date with every field set. */
async function fullDate() {
  const me = await createProvider();
  const { id: place_id } = await findMunicipality(me, 'Bergen');
  const [location_id, instructor] = [await addLocation(me), await addInstructor(me)];
  const one = await ownDate({ ...everything, place_id, location_id, instructors: [instructor] }, me);
  const parent_id = await addDate(me, one.courseId);
  await one.changed({ parent_id });
  return { ...one, place_id, location_id, instructor, parent_id };
}

describe('PUT /v2/courses/:id/coursedates/:id', () => {
  test('without fields keeps every value', async () => {
    const { read, changed } = await fullDate();
    const before = await read();
    expect({ ...(await changed({})), updated_at: '' }).toEqual({ ...before, updated_at: '' });
  });

  test('each field with its stored value changes nothing', async () => {
    const { me, url, read, changed, ...ids } = await fullDate();
    const { place_id, location_id, parent_id, instructor } = ids;
    const [before, cursor] = [await read(), await newestEvent(me)];
    const fields = {
      start_at: '2030-06-10',
      ...everything,
      place_id,
      location_id,
      parent_id,
      instructors: [instructor],
    };
    for (const [name, value] of Object.entries(fields)) {
      for (const dialect of dialects) {
        const response = await me.put(url, encodeBody(dialect, { [name]: value }), contentTypeHeader(dialect));
        expect([name, response.status, await read()], response.text).toEqual([name, 200, before]);
      }
    }
    expect(await eventsSince(me, cursor)).toEqual([]);
    expect((await changed({ capacity_max: 6 })).updated_at).not.toBe(before.updated_at);
  });

  test('changes each field alone', async () => {
    const { me, courseId, read, changed, place_id } = await fullDate();
    const { id: voss } = await findMunicipality(me, 'Voss');
    expect(voss).not.toBe(place_id);
    const [location, instructor, parent] = [
      await addLocation(me),
      await addInstructor(me),
      await addDate(me, courseId),
    ];
    const changes: [object, object?][] = [
      [{ start_at: '2030-06-11' }],
      [{ end_at: '2030-06-13' }],
      [{ deadline_at: '2030-06-02' }],
      [{ start_time_at: '10:00' }, { start_time_at: '10:00:00' }],
      [{ end_time_at: '16:00:01' }],
      [{ timezone: 'Asia/Tokyo' }],
      [{ visible_when_passed_deadline: true }],
      [{ teaching_language: 'sv-SE' }, { teaching_language_id: 'sv-SE' }],
      [{ place_id: voss }, { place_id: voss, place: { title: 'Voss' } }],
      [{ place_additional_info: 'Door 3' }, { place: { title_additional_info: 'Door 3' } }],
      [{ location_id: location }],
      [{ status_id: 4 }],
      [{ reference: 'S' }],
      [{ instructors: [instructor] }, { instructors: [{ id: instructor }] }],
      [{ is_visible: true }],
      [{ is_virtual: false }],
      [{ event_url: 'https://f.example' }],
      [{ external_booking_url: 'https://c.example' }],
      [{ parent_id: parent }],
      [{ trigger_value: 'july' }],
      [{ title: 'Other' }],
      [{ capacity_max: 6 }, { seats: { allocated_capacity: { num: 6 } } }],
      [{ capacity_overbook: 3 }, { seats: { allocated_capacity: { num_overbooked: 3 } } }],
      [{ capacity_wait: 5 }, { seats: { allocated_capacity: { num_waiting: 5 } } }],
      [{ waiting_mode: 'promote' }, { waiting: { mode: 'promote', offer_hours: 48, open_offers: 0 } }],
      [{ offer_hours: 1 }, { waiting: { mode: 'promote', offer_hours: 1, open_offers: 0 } }],
      [{ custom_properties: { room: 'B' } }, { custom_properties: { room: 'B', floor: '2' } }],
    ];
    for (const [sent, shown = sent] of changes) {
      const before = await read();
      const after = await changed(sent);
      expect(after, JSON.stringify(sent)).toMatchObject(shown);
      const names = ['updated_at', ...Object.keys(shown)];
      if ('timezone' in sent) names.push('gatherings');
      const rest = (date: object) => Object.fromEntries(Object.entries(date).filter(([name]) => !names.includes(name)));
      expect(rest(after), JSON.stringify(sent)).toEqual(rest(before));
    }
  });

  test.each(dialects)('clears fields sent empty: %s', async (dialect) => {
    const { me, courseId, url } = await fullDate();
    const cleared = ['deadline_at', 'start_time_at', 'end_time_at', 'timezone', 'teaching_language', 'place_id'];
    cleared.push('place_additional_info', 'location_id', 'status_id', 'reference', 'instructors', 'event_url');
    cleared.push('external_booking_url', 'parent_id', 'trigger_value', 'title', 'capacity_max', 'capacity_min');
    cleared.push('waiting_mode', 'offer_hours');
    cleared.push('capacity_overbook', 'capacity_wait', 'custom_properties', 'gatherings', 'place_by_search');
    const flags = ['visible_when_passed_deadline', 'is_visible', 'is_virtual'];
    const change = Object.fromEntries([...cleared, ...flags].map((name) => [name, '']));
    const response = await me.put(url, encodeBody(dialect, change), contentTypeHeader(dialect));
    expect(response.status, response.text).toBe(200);
    const date = (await me.get(`${url}?include=${include},course`)).json();
    expect(date).toMatchObject({
      ...{ deadline_at: '2030-06-10', start_time_at: null, end_time_at: null, timezone: null, place_id: null },
      ...{ teaching_language_id: 'no', location_id: null, status_id: 1, reference: null, instructors: [] },
      ...{
        event_url: null,
        external_booking_url: null,
        parent_id: null,
        trigger_value: null,
        title: date.course.title,
      },
      waiting: { mode: 'promote', offer_hours: 24, open_offers: 0 },
      ...{ custom_properties: null, gatherings: [], place: { title_additional_info: null }, course_id: courseId },
      ...{ visible_when_passed_deadline: false, is_visible: false, is_virtual: true },
    });
    expect(date.seats.allocated_capacity).toEqual({ num: 0, num_overbooked: 0, num_waiting: 0 });
  });

  test('cannot clear the days', async () => {
    const { put } = await ownDate();
    expect(reported(await put({ start_at: '' }))).toEqual([400, 'Missing field(s): start_at']);
    expect(reported(await put({ start_at: null, end_at: '' }))).toEqual([400, 'Missing field(s): start_at,end_at']);
  });

  test('checks the order of days against the stored ones', async () => {
    const { put, changed } = await ownDate({ deadline_at: '2030-06-11', start_time_at: '10:00', end_time_at: '09:00' });
    for (const [sent, name] of [
      [{ start_at: '2030-06-13' }, 'end_at'],
      [{ end_at: '2030-06-09' }, 'end_at'],
      [{ end_at: '2030-06-10' }, 'deadline_at'],
      [{ deadline_at: '2030-06-13' }, 'deadline_at'],
      [{ end_at: '2030-06-10', deadline_at: '' }, 'end_time_at'],
      [{ start_at: '2030-06-12' }, 'end_time_at'],
    ] as const)
      expect(reported(await put(sent)), JSON.stringify(sent)).toEqual(notValidResponse(name));
    expect(await changed({ start_at: '2031-01-01', end_at: '2031-01-01', end_time_at: '' })).toMatchObject({
      deadline_at: '2030-06-11',
    });
    expect(await changed({ start_at: '2030-12-31', deadline_at: '' })).toMatchObject({ deadline_at: '2030-12-31' });
  });

  test('moves a deadline equal to the start day together with the start', async () => {
    const { put, changed } = await ownDate();
    const days = async (change: object) => {
      const { start_at, end_at, deadline_at } = await changed(change);
      return [start_at, end_at, deadline_at].map((day: string) => day.slice(5));
    };
    expect(await days({ start_at: '2030-06-08', end_at: '2030-06-08' })).toEqual(['06-08', '06-08', '06-08']);
    expect(await days({ start_at: '2030-06-20', end_at: '2030-06-21' })).toEqual(['06-20', '06-21', '06-20']);
    expect(await days({ end_at: '2030-06-22' })).toEqual(['06-20', '06-22', '06-20']);
    expect(await days({ start_at: '2030-06-19', deadline_at: '2030-06-20' })).toEqual(['06-19', '06-22', '06-20']);
    expect(await days({ start_at: '2030-06-18' })).toEqual(['06-18', '06-22', '06-20']);
    expect(reported(await put({ start_at: '2030-06-01', end_at: '2030-06-02' }))).toEqual(
      notValidResponse('deadline_at'),
    );
  });

  test('uses the time zone to check that a date ends after it starts', async () => {
    const times = { start_time_at: '02:30', end_time_at: '03:15', timezone: 'UTC' };
    const { put, changed } = await ownDate({ start_at: '2030-03-31', end_at: '2030-03-31', ...times });
    expect(reported(await put({ timezone: 'Europe/Oslo' }))).toEqual(notValidResponse('end_time_at'));
    expect(reported(await put({ timezone: '' }))).toEqual(notValidResponse('end_time_at'));
    expect(reported(await put({ timezone: 'Europe/Nowhere' }))).toEqual(notValidResponse('timezone'));
    expect(await changed({ timezone: 'Europe/Helsinki' })).toMatchObject({ timezone: 'Europe/Helsinki' });
  });

  test('merges custom properties and removes empty keys', async () => {
    const { put, changed } = await ownDate({ custom_properties: { a: '1', b: '2' } });
    expect(await changed({ custom_properties: { b: '3', c: '4' } })).toMatchObject({
      custom_properties: { a: '1', b: '3', c: '4' },
    });
    expect(await changed({ custom_properties: { a: '', b: null, x: '' } })).toMatchObject({
      custom_properties: { c: '4' },
    });
    for (const nothing of [{}, [], '[]'])
      expect(await changed({ custom_properties: nothing })).toMatchObject({ custom_properties: { c: '4' } });
    expect(await changed({ custom_properties: { c: '' } })).toMatchObject({ custom_properties: null });
    const many = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 'x']));
    await changed({ custom_properties: many('a', 200) });
    expect(reported(await put({ custom_properties: { more: 'x' } }))).toEqual(notValidResponse('custom_properties'));
    expect(await changed({ custom_properties: '' })).toMatchObject({ custom_properties: null });
  });

  test('merges concurrent updates', async () => {
    const { put, read } = await ownDate();
    const keys = Array.from({ length: 12 }, (_, n) => `key${n}`);
    const responses = await Promise.all(keys.map((key) => put({ custom_properties: { [key]: 'x' } })));
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect((await read()).custom_properties).toEqual(Object.fromEntries(keys.map((key) => [key, 'x'])));
  });

  test('searches the place again only when a search is sent', async () => {
    const { me, changed } = await ownDate({ place_by_search: 'Nowhere' });
    const { id: bergen } = await findMunicipality(me, 'Bergen');
    const place = (date: { place_id: number | null; place: { title_additional_info: string | null } }) => [
      date.place_id,
      date.place.title_additional_info,
    ];
    expect(place(await changed({}))).toEqual([null, 'Nowhere']);
    expect(place(await changed({ place_by_search: 'bergen', place_additional_info: 'Door 2' }))).toEqual([
      bergen,
      'Door 2',
    ]);
    expect(place(await changed({ place_by_search: 'Bergen' }))).toEqual([bergen, 'Door 2']);
    expect(place(await changed({ place_by_search: '' }))).toEqual([bergen, 'Door 2']);
    expect(place(await changed({ place_by_search: 'The boathouse' }))).toEqual([null, 'The boathouse']);
    expect(place(await changed({ place_by_search: 'Bergen', place_id: '', place_additional_info: '' }))).toEqual([
      bergen,
      null,
    ]);
    expect(place(await changed({ place_id: '' }))).toEqual([null, null]);
  });

  test('drops the search text once a place is set, but not a sent text', async () => {
    const { me, changed } = await ownDate({ place_by_search: 'Nowhereville' });
    const { id: bergen } = await findMunicipality(me, 'Bergen');
    const place = async (change: object) => {
      const { place_id, place: shown } = await changed(change);
      return [place_id, shown.title_additional_info];
    };
    expect(await place({ title: 'Other' })).toEqual([null, 'Nowhereville']);
    expect(await place({ place_by_search: 'Bergen' })).toEqual([bergen, null]);
    expect(await place({ place_by_search: 'Nowhereville' })).toEqual([null, 'Nowhereville']);
    expect(await place({ place_id: bergen })).toEqual([bergen, null]);
    expect(await place({ place_by_search: 'Nowhereville', place_additional_info: '' })).toEqual([null, 'Nowhereville']);
    expect(await place({ place_additional_info: 'Door 2' })).toEqual([null, 'Door 2']);
    expect(await place({ place_by_search: 'Bergen' })).toEqual([bergen, 'Door 2']);
    expect(await place({ place_by_search: 'Nowhereville', place_additional_info: 'Door 3' })).toEqual([null, 'Door 3']);
    expect(await place({ place_by_search: 'Bergen' })).toEqual([bergen, 'Door 3']);
  });

  test('rejects a parent that is a child, a parent for a date with children, and itself', async () => {
    const { me, courseId, id, put, changed } = await ownDate();
    expect(reported(await put({ parent_id: id }))).toEqual(notValidResponse('parent_id'));
    const [parent, child] = [await addDate(me, courseId), await addDate(me, courseId, { parentId: id })];
    expect(reported(await put({ parent_id: child }))).toEqual(notValidResponse('parent_id'));
    // It has a child, so a parent would make a chain.
    expect(reported(await put({ parent_id: parent }))).toEqual(notValidResponse('parent_id'));
    await changeDate(me, child, { deletedAt: '2026-01-01 00:00+00' });
    expect(await changed({ parent_id: parent })).toMatchObject({ parent_id: parent });
    const grandchild = await me.put(at(courseId, await addDate(me, courseId)), { parent_id: id });
    expect(reported(grandchild)).toEqual(notValidResponse('parent_id'));
    expect(await changed({ parent_id: '' })).toMatchObject({ parent_id: null });
  });

  test('rejects references of other providers', async () => {
    const { me, put, read } = await fullDate();
    const other = await createProvider();
    const [location, instructor, course] = [await addLocation(other), await addInstructor(other), await other.course()];
    const before = await read();
    const when = { date: '2030-06-10', time_start: '09:00', time_end: '10:00' };
    for (const [name, change] of [
      ['location_id', { location_id: location }],
      ['instructors', { instructors: [await addInstructor(me), instructor] }],
      ['parent_id', { parent_id: await addDate(other, course) }],
      ['place_id', { place_id: 999999999 }],
      ['gatherings', { gatherings: [{ ...when, idLocation: location }] }],
      ['gatherings', { gatherings: [{ ...when, instructors: [instructor] }] }],
    ] as const)
      expect(reported(await put({ title: 'Changed', ...change }))).toEqual(notValidResponse(name));
    expect(await read()).toEqual(before);
  });

  test('returns 404 unless the date belongs to the course and is not deleted', async () => {
    const [me, other] = [await createProvider(), await createProvider()];
    const [courseId, otherCourse, theirs] = [await me.course(), await me.course(), await other.course()];
    const [date, elsewhere, foreign] = [
      await addDate(me, courseId),
      await addDate(me, otherCourse),
      await addDate(other, theirs),
    ];
    for (const request of [me.put, me.request('DELETE')]) {
      for (const id of [elsewhere, foreign, 999999999])
        expect(reported(await request(at(courseId, id), {}))).toEqual([404, 'Course date not found']);
      for (const id of [theirs, 999999999])
        expect(reported(await request(at(id, foreign), {}))).toEqual([404, 'Course not found']);
    }
    await changeDate(me, date, { deletedAt: '2026-01-01 00:00+00' });
    expect((await me.put(at(courseId, date), {})).status).toBe(404);
    await write(me, (tx, now) => tx.execute(`update courses set deleted_at = '${now}' where id = ${otherCourse}`));
    expect((await me.put(at(otherCourse, elsewhere), {})).status).toBe(404);
    expect((await me.request('DELETE')(at(otherCourse, elsewhere))).status).toBe(404);
  });

  test('changes updated_at of the date and its course', async () => {
    const { me, courseId, id, url, changed } = await ownDate();
    const readTimestamps = async () => {
      const text = `select d.updated_at::text as date, c.updated_at::text as course, c.related_items_updated_at::text as related
        from course_dates d join courses c on c.id = d.course_id where d.id = $1`;
      return (await testApp.database.pool.query<Record<string, string>>(text, [id])).rows[0]!;
    };
    const all = (version: string) => ({ date: version, course: version, related: version });
    expect(await readTimestamps()).toEqual(all((await me.ctx()).version));
    await changed({ title: 'Changed' });
    expect(await readTimestamps()).toEqual(all((await me.ctx()).version));
    await changed({ gatherings: '' });
    expect(await readTimestamps()).toEqual(all((await me.ctx()).version));
    const before = await readTimestamps();
    expect((await me.put(url, { title: 'x'.repeat(256) })).status).toBe(400);
    expect((await me.put(url, { location_id: 999999999 })).status).toBe(400);
    expect(await readTimestamps()).toEqual(before);
    expect((await me.request('DELETE')(url)).status).toBe(200);
    expect(await readTimestamps()).toEqual(all((await me.ctx()).version));
    const [course] = (await me.get('/v2/courses')).json();
    expect([course.id, course.related_items_updated_at]).toEqual([courseId, course.updated_at]);
  });
});

describe('gatherings in an update', () => {
  const one = (day: string) => ({ gathering_at: `${day} 09:00`, gathering_end_at: `${day} 11:30` });
  const rows = async (id: number) => {
    const text = `select id, left(gathering_at::text, 10) as day, deleted_at is not null as deleted,
      (select count(*)::int from gathering_instructors i where i.gathering_id = g.id) as taught
      from gatherings g where course_date_id = $1 order by id`;
    return (await testApp.database.pool.query<{ id: number }>(text, [id])).rows;
  };

  test('replace the existing ones, and those of participants stay deleted', async () => {
    const { me, courseId, id, url, changed } = await ownDate({ gatherings: [one('2030-06-10')] });
    const instructor = await addInstructor(me);
    const times = { gatheringAt: '2030-06-11 09:00', gatheringEndAt: '2030-06-11 10:00' };
    const attended = await addGathering(me, id, times, [instructor]);
    const last = { gatheringAt: '2030-06-12 09:00', gatheringEndAt: '2030-06-12 10:00' };
    const leftOut = await addGathering(me, id, last, [instructor]);
    const users = [await createUser(me)];
    const { participantIds } = await createOrder(me, { courseId, dateId: id, users });
    await createAttendance(me, participantIds[0]!, attended, { attended: true });
    const elsewhere = await addDate(me, courseId);
    const remaining = await addGathering(me, elsewhere, {}, [instructor]);

    const first = { ...one('2030-06-10'), instructors: [instructor] };
    const stored = await rows(id);
    const begun = stored[0]!.id;
    for (const gatherings of [[first], '']) {
      const refused = await me.put(url, { gatherings, title: 'Changed' }, { accept: 'application/problem+json' });
      expect([refused.status, refused.json()]).toMatchObject([400, { code: 'attendance_registered' }]);
    }
    expect(await rows(id)).toEqual(stored);
    const second = { gathering_at: '2030-06-11 09:00', gathering_end_at: '2030-06-11 10:00' };
    const date = await changed({ gatherings: [first, second] });
    expect(date.gatherings.map((gathering: { id: number }) => gathering.id)).toEqual([begun, attended]);
    const [kept, other, dropped] = [
      { id: begun, day: '2030-06-10', deleted: false, taught: 1 },
      { id: attended, day: '2030-06-11', deleted: false, taught: 0 },
      { id: leftOut, day: '2030-06-12', deleted: true, taught: 1 },
    ];
    expect(await rows(id)).toEqual([kept, other, dropped]);
    expect(await rows(elsewhere)).toEqual([{ id: remaining, day: '2030-06-10', deleted: false, taught: 1 }]);
    expect((await me.get('/v2/participants?include=attendance')).json()[0].attendance).toMatchObject([
      { gathering_id: attended, attended: true },
    ]);

    const mark = { participant_id: participantIds[0]!, gathering_id: attended, nonce: 'back' };
    expect((await me.put(`/v2/coursedates/${id}/attendance`, { marks: [mark] })).status).toBe(200);
    expect((await changed({ gatherings: '' })).gatherings).toEqual([]);
    expect(await rows(id)).toEqual([{ ...kept, deleted: true }, { ...other, deleted: true }, dropped]);
  });

  test.each(dialects)(
    'keep their ids by id, by both times, by their begin, or by their position: %s',
    async (dialect) => {
      const days = ['2030-06-10', '2030-06-11', '2030-06-12', '2030-06-13'];
      const { me, url, read } = await ownDate({ gatherings: days.map(one) });
      const ids = async () => (await read()).gatherings.map((gathering: { id: number }) => gathering.id);
      const stored = (await ids()) as number[];
      const put = async (gatherings: object[]) => {
        const response = await me.put(url, encodeBody(dialect, { gatherings }), contentTypeHeader(dialect));
        expect(response.status, response.text).toBe(200);
        return (await read()).gatherings as Record<string, unknown>[];
      };
      const at = (day: string, from: string, to: string) => ({
        gathering_at: `${day} ${from}`,
        gathering_end_at: `${day} ${to}`,
      });
      const [first, second, third, fourth] = stored as [number, number, number, number];
      // The last by its id with another time, the first by both times, the third by its begin, the second by its position.
      const mixed = [
        { ...at('2030-07-01', '09:00', '10:00'), id: fourth },
        at('2030-06-20', '09:00', '10:00'),
        at('2030-06-12', '09:00', '12:45'),
        { ...one('2030-06-10'), theme: 'Knots' },
      ];
      const found = await put(mixed);
      expect(found).toMatchObject([
        { id: first, gathering_at: '2030-06-10 09:00', theme: 'Knots' },
        { id: third, gathering_end_at: '2030-06-12 12:45' },
        { id: second, gathering_at: '2030-06-20 09:00' },
        { id: fourth, gathering_at: '2030-07-01 09:00' },
      ]);
      // Members that are not sent are empty; more are new; ids of others count as none.
      const more = await put([
        ...mixed.map((one) => ({ ...one, theme: undefined })),
        { ...one('2030-08-01'), id: 999_999_999 },
      ]);
      expect(more.slice(0, 4).map(({ id, theme }) => [id, theme])).toEqual(
        [first, third, second, fourth].map((id) => [id, null]),
      );
      expect(more).toHaveLength(5);
      expect(stored).not.toContain(more[4]!['id']);
      const fewer = await put([
        { ...one('2030-06-10'), id: '' },
        { ...one('2030-06-21'), id: 0 },
      ]);
      expect(fewer.map(({ id }) => id)).toEqual([first, third]);
    },
  );

  test('keep attendance and completion when one gets a theme', async () => {
    const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10);
    const gatherings = [one(day(-3)), one(day(-2))];
    const dates = { start_at: day(-3), end_at: day(-2), deadline_at: day(-3) };
    const { me, courseId, id, changed } = await ownDate({ ...dates, gatherings });
    await me.put(`/v2/courses/${courseId}`, { completion_min_share: 1 });
    const { participantIds } = await createOrder(me, { courseId, dateId: id, users: [await createUser(me)] });
    const participant_id = participantIds[0]!;
    const sheet = async () => (await me.get(`/v2/coursedates/${id}/attendance`)).json();
    const mark = (gathering_id: number, nonce: string) => ({
      participant_id,
      gathering_id,
      attended: true,
      minutes: 90,
      nonce,
    });
    const ids: number[] = (await sheet()).gatherings.map((gathering: { id: number }) => gathering.id);
    const put = (marks: object[]) => me.put(`/v2/coursedates/${id}/attendance`, { marks });
    expect((await put(ids.map((one) => mark(one, 'a')))).status).toBe(200);
    const before = await sheet();
    expect(before.participants).toMatchObject([{ completed: true, attended_share: 1, minutes: 180 }]);
    await changed({ gatherings: [gatherings[0], { ...gatherings[1], theme: 'Knots' }] });
    expect(await sheet()).toEqual(before);
    expect((await put([mark(ids[0]!, 'late')])).json().results).toMatchObject([{ result: 'stored' }]);
    expect((await sheet()).participants).toMatchObject([{ completed: true }]);
  });

  const at = (day: string, from: string, to: string) => ({
    gathering_at: `${day} ${from}`,
    gathering_end_at: `${day} ${to}`,
  });
  const [monday, tuesday, wednesday] = ['2030-06-10', '2030-06-11', '2030-06-12'] as const;
  test.each<[string, object[], marked: number, sent: object[], number | null]>([
    ['its begin', [one(monday), one(tuesday)], 0, [one(tuesday), at(monday, '09:00', '14:00')], 0],
    ['its day', [one(monday), one(tuesday)], 0, [at(monday, '10:00', '12:00'), one(tuesday)], 0],
    [
      'its day, as all do',
      [one(monday), one(tuesday)],
      1,
      [monday, tuesday].map((day) => at(day, '08:00', '10:00')),
      1,
    ],
    ['nothing, since the first was left out', [one(monday), one(tuesday)], 0, [one(tuesday)], null],
    ['nothing, since another follows', [one(monday), one(tuesday)], 0, [one(tuesday), one(wednesday)], null],
    ['nothing, since another takes its position', [one(monday), one(tuesday)], 0, [one(wednesday), one(tuesday)], null],
    [
      'nothing, since its day has another position',
      [one(monday), at(monday, '13:00', '15:00')],
      0,
      [at(monday, '13:00', '15:00'), at(monday, '18:00', '20:00')],
      null,
    ],
    [
      'nothing, since two of its day change',
      [one(monday), at(monday, '13:00', '15:00')],
      0,
      [at(monday, '10:00', '12:00'), at(monday, '14:00', '15:00')],
      null,
    ],
  ])('with attendance keep their ids by %s', async (_, before, marked, gatherings, expected) => {
    const { me, courseId, id, url, read } = await ownDate({ gatherings: before });
    const stored = (await read()).gatherings.map((gathering: { id: number }) => gathering.id) as number[];
    const { participantIds } = await createOrder(me, { courseId, dateId: id, users: [await createUser(me)] });
    await createAttendance(me, participantIds[0]!, stored[marked]!, { attended: true });
    const response = await me.put(url, { gatherings });
    const after = (await read()).gatherings as { id: number; gathering_at: string }[];
    if (expected === null) {
      expect([response.status, response.headers['x-error-code']]).toEqual([400, 'attendance_registered']);
      expect(after.map((gathering) => gathering.id)).toEqual(stored);
      // By its id it may move anywhere.
      const named = [{ ...one('2030-06-14'), id: stored[marked] }];
      expect((await me.put(url, { gatherings: named })).status).toBe(200);
      expect((await read()).gatherings).toMatchObject([{ id: stored[marked], gathering_at: '2030-06-14 09:00' }]);
    } else {
      expect(response.status, response.text).toBe(200);
      expect(after.map((gathering) => gathering.id)).toEqual(stored);
    }
  });

  test('are unchanged when omitted', async () => {
    const { id, changed } = await ownDate({ gatherings: [one('2030-06-10'), one('2030-06-11')] });
    const before = await rows(id);
    await changed({ title: 'Changed' });
    expect(await rows(id)).toEqual(before);
  });

  test('change nothing when invalid', async () => {
    const { id, put, read } = await ownDate({ gatherings: [one('2030-06-10')] });
    const [before, stored] = [await read(), await rows(id)];
    const faulty = { ...one('2030-06-11'), idLocation: 999999999 };
    expect(reported(await put({ title: 'Changed', gatherings: [one('2030-06-12'), faulty] }))).toEqual(
      notValidResponse('gatherings'),
    );
    for (const gatherings of [[{}], [null, one('2030-06-12')]])
      expect(reported(await put({ title: 'Changed', gatherings }))).toEqual([
        400,
        'Missing field(s): gatherings[0].gathering_at,gatherings[0].gathering_end_at',
      ]);
    expect([await read(), await rows(id)]).toEqual([before, stored]);
  });

  test('move with their date into another time zone', async () => {
    const { id, changed } = await ownDate({ gatherings: [one('2030-06-10')], timezone: 'Europe/London' });
    const zones = async () => {
      const text =
        'select zone, starts_at::text, deleted_at is null as there from gatherings where course_date_id = $1 order by id';
      return (await testApp.database.pool.query<object>(text, [id])).rows.map((row) => Object.values(row));
    };
    expect(await zones()).toEqual([['Europe/London', '2030-06-10 10:00:00+02', true]]);
    const { gatherings } = await changed({ timezone: 'Asia/Tokyo' });
    expect(gatherings).toMatchObject([one('2030-06-10')]);
    expect(await zones()).toEqual([['Asia/Tokyo', '2030-06-10 02:00:00+02', true]]);
    await changed({ timezone: '', gatherings: [one('2030-06-11')] });
    expect(await zones()).toEqual([['Europe/Oslo', '2030-06-11 09:00:00+02', true]]);
    const stored = 'select zone, timezone from course_dates where id = $1';
    expect((await testApp.database.pool.query(stored, [id])).rows).toEqual([{ zone: 'Europe/Oslo', timezone: null }]);
  });
});

describe('seats', () => {
  test('a capacity below the booked seats is accepted and leaves none free', async () => {
    const { me, courseId, id, changed } = await ownDate({ capacity_max: 5, capacity_wait: 3 });
    await addParticipants(me, courseId, id, [1, 1, 1, 3]);
    const { seats, seats_status } = await changed({ capacity_max: 2, capacity_wait: 0 });
    expect([seats.free, seats_status]).toEqual([{ num: 0, num_waiting: 0 }, 'fully_booked']);
    expect(seats.booking_status).toMatchObject({ num: 3, num_waiting: 1 });
  });

  test('canceling keeps the participants', async () => {
    const { me, courseId, id, changed } = await ownDate({ capacity_max: 5 });
    await addParticipants(me, courseId, id, [1, 7, 3]);
    const { seats } = await changed({ status_id: 3 });
    expect(seats.booking_status).toEqual({ num: 2, num_confirmed: 1, num_unconfirmed: 1, num_waiting: 1 });
    const participants = (await me.get(`/v2/participants?coursedate_id=${id}`)).json();
    expect(participants.map((one: { status: { id: number } }) => one.status.id)).toEqual([1, 7, 3]);
  });

  const full = { statusId: 1, capacityMax: 5, capacityOverbook: 1 };
  test.each([
    ['nothing', {}, {}, false],
    ['more seats', {}, { capacityMax: 6 }, true],
    ['fewer seats', {}, { capacityMax: 4 }, false],
    ['no limit', {}, { capacityMax: 0 }, true],
    ['a limit', { capacityMax: 0 }, {}, false],
    ['no limit as before', { capacityMax: 0 }, { capacityMax: 0 }, false],
    ['more overbooking', {}, { capacityOverbook: 2 }, true],
    ['no overbooking', {}, { capacityOverbook: 0 }, false],
    ['fewer seats, but more overbooking', {}, { capacityMax: 4, capacityOverbook: 2 }, true],
    ['being canceled', {}, { statusId: 3 }, false],
    ['being un-canceled', { statusId: 3 }, { statusId: 2 }, true],
    ['staying canceled', { statusId: 3 }, { statusId: 3 }, false],
    ['running for sure', { statusId: 1 }, { statusId: 2 }, false],
  ])('increase by %s: %j, %j gives %j', (_name, before, after, more) => {
    expect(addsSeats({ ...full, ...before }, { ...full, ...after })).toBe(more);
  });
});

describe('waiting list', () => {
  const days = { start_at: '2031-06-10', end_at: '2031-06-10', deadline_at: '2031-06-10' };
  test.each([
    ['was over', { startAt: '2020-06-10' }, days, [1, 1, 3]],
    ['was over and stays so', { startAt: '2020-06-10' }, { start_at: '2020-06-09' }, [1, 3, 3]],
    ['was over, and is canceled', { startAt: '2020-06-10', statusId: 3 }, days, [1, 3, 3]],
    ['was over and canceled', { startAt: '2020-06-10', statusId: 3 }, { ...days, status_id: 4 }, [1, 1, 3]],
    ['was canceled', { statusId: 3 }, { status_id: 1 }, [1, 1, 3]],
    ['was still to come', {}, days, [1, 3, 3]],
  ])('is promoted on a date that %s: %j, %j gives %j', async (_name, before, change, after) => {
    const me = await createProvider();
    const courseId = await me.course();
    const id = await addDate(me, courseId, { capacityMax: 2, capacityWait: 2, ...before });
    await addParticipants(me, courseId, id, [1, 3, 3]);
    const response = await me.put(at(courseId, id), change);
    expect(response.status, response.text).toBe(200);
    expect(await statusesOnDate(me, id)).toEqual(after);
  });
});

describe('DELETE /v2/courses/:id/coursedates/:id', () => {
  test('marks the date as deleted only once', async () => {
    const { me, courseId, id, url } = await ownDate();
    const other = await addDate(me, courseId);
    const response = await me.request('DELETE')(url);
    expect([response.status, response.json()]).toEqual([200, { coursedate_id: id, course_id: courseId }]);
    expect((await me.get(url)).status).toBe(404);
    const [gone, remaining] = (await me.get(`/v2/courses/${courseId}/coursedates?include_deleted=1`)).json();
    expect([gone.coursedate_id, gone.deleted_at]).toEqual([id, gone.updated_at]);
    expect([remaining.coursedate_id, remaining.deleted_at]).toEqual([other, null]);
    expect((await me.request('DELETE')(url)).status).toBe(404);
  });

  test.each([
    ['confirmed', 1, 400],
    ['overbooked', 2, 400],
    ['unconfirmed', 7, 400],
    ['waiting', 3, 200],
    ['deregistered', 4, 200],
    ['deregistered with fee', 8, 200],
  ])('with a participant who is %s', async (_name, status, expected) => {
    const { me, courseId, id, url } = await ownDate();
    await addParticipants(me, courseId, id, [status]);
    const response = await me.request('DELETE')(url);
    expect(response.status).toBe(expected);
    if (expected === 400) expect(reported(response)).toEqual([400, 'Participants hold seats on this course date']);
    expect((await me.get(url)).status).toBe(expected === 400 ? 200 : 404);
  });

  test('deletes child dates unless a participant has a seat there', async () => {
    const { me, courseId, id, url } = await ownDate();
    const [child, booked] = [
      await addDate(me, courseId, { parentId: id }),
      await addDate(me, courseId, { parentId: id }),
    ];
    await addParticipants(me, courseId, booked, [1]);
    expect(reported(await me.request('DELETE')(url))).toEqual([400, 'Participants hold seats on this course date']);
    const there = async () =>
      (await me.get(`/v2/courses/${courseId}/coursedates`))
        .json()
        .map((one: { coursedate_id: number }) => one.coursedate_id);
    expect(await there()).toEqual([id, child, booked]);
    expect((await me.request('DELETE')(at(courseId, child))).status).toBe(200);
    await write(me, (tx) => tx.execute(`update participants set status_id = 4 where course_date_id = ${booked}`));
    expect((await me.request('DELETE')(url)).status).toBe(200);
    expect(await there()).toEqual([]);
  });
});

test('no field in any body format causes a 5xx', async () => {
  const { me, courseId, url } = await ownDate();
  const names = ['start_at', 'end_at', 'gatherings', 'instructors', 'custom_properties', ...Object.keys(everything)];
  names.push('place_id', 'place_by_search', 'location_id', 'parent_id', 'gatherings[0]', '__proto__', 'constructor');
  const nested = fc.dictionary(
    fc.constantFrom('gathering_at', 'gathering_end_at', 'date', 'time_start', 'time_end', 'instructors', 'idLocation'),
    fc.oneof(hostileValue, fc.constantFrom('2030-06-10 09:00', '2030-06-10', '10:00')),
  );
  const value = fc.oneof(hostileValue, nested, fc.array(nested, { maxLength: 2 }));
  const fields = fc.array(fc.tuple(fc.constantFrom(...names), value), { minLength: 1, maxLength: 3 });
  const send = async (sent: [string, unknown][], dialect: (typeof dialects)[number], create: boolean) => {
    const days = create ? { start_at: '2030-06-10', end_at: '2030-06-12' } : {};
    const body = encodeBody(dialect, { ...days, ...Object.fromEntries(sent) });
    const response = await (create ? me.post : me.put)(
      create ? `/v2/courses/${courseId}/coursedates` : url,
      body,
      contentTypeHeader(dialect),
    );
    expect(response.status, response.text).toBeLessThan(500);
    if (response.status >= 400) expect(response.json()).toEqual({ error: expect.any(String) as string });
  };
  await fc.assert(fc.asyncProperty(fields, fc.constantFrom(...dialects), fc.boolean(), send), { numRuns: runs(2) });
});
