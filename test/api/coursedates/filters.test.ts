import { expect, test } from 'vitest';
import {
  addDate,
  addGathering,
  addInstructor,
  addLocation,
  addParticipants,
  assignInstructor,
} from '../../support/dates.ts';
import { sharedTestApp, type TestResponse, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const idsOf = (response: TestResponse) =>
  response.json<{ items: { coursedate_id: number }[] }>().items.map(({ coursedate_id }) => coursedate_id);
const listIds = (me: Provider) => async (query: string) => idsOf(await me.get(`/v2/coursedates?${query}`));

test('filters by one or several courses and by id; ids of others match nothing', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [a, b, c] = [await me.course(), await me.course(), await me.course()];
  const dates = [await addDate(me, a), await addDate(me, b), await addDate(me, c)];
  const theirs = await other.course();
  const foreign = await addDate(other, theirs);
  const getIds = listIds(me);
  expect(await getIds('')).toEqual(dates);
  expect(await getIds(`course_id=${b}`)).toEqual([dates[1]]);
  expect(await getIds(`course_id[]=${a}&course_id[]=${c}`)).toEqual([dates[0], dates[2]]);
  expect(await getIds(`course_id[]=${a}&course_id[]=${theirs}`)).toEqual([dates[0]]);
  expect(await getIds(`coursedate_id=${dates[2]}`)).toEqual([dates[2]]);
  expect(await getIds(`coursedate_id=${dates[2]}&course_id=${a}`)).toEqual([]);
  for (const query of [`course_id=${theirs}`, `coursedate_id=${foreign}`, 'coursedate_id=999999999']) {
    expect(await getIds(query)).toEqual([]);
  }
});

test('filters by created_at and updated_at', async () => {
  const me = await createProvider();
  const course = await me.course();
  const a = await addDate(me, course, { createdAt: '2026-03-01 00:00+01', updatedAt: '2026-05-01 00:00+02' });
  const b = await addDate(me, course, { createdAt: '2026-03-02 00:00+01', updatedAt: '2026-04-01 00:00+02' });
  const query = listIds(me);
  expect(await query('created_at_min=2026-03-02')).toEqual([b]);
  expect(await query('created_at_max=2026-03-02')).toEqual([a]);
  expect(await query('updated_at_min=2026-04-02')).toEqual([a]);
  expect(await query('updated_at_max=2026-05-01')).toEqual([b]);
  expect(await query('updated_at_min=2026-04-02&created_at_min=2026-03-02')).toEqual([]);
  expect((await me.get('/v2/coursedates?updated_at_min=2026-01-01')).headers).toHaveProperty('x-updated-through');
});

test("filters by start and end in the date's own time zone and offset", async () => {
  const me = await createProvider();
  const course = await me.course();
  const at = (day: string, time?: string, timezone?: string) =>
    addDate(me, course, { startAt: day, endAt: day, deadlineAt: day, startTimeAt: time, timezone });
  const summer = await at('2030-07-01', '09:00');
  const winter = await at('2030-01-15', '09:00');
  const tokyo = await at('2030-07-01', '09:00', 'Asia/Tokyo');
  const whole = await at('2030-07-02');
  const query = listIds(me);
  expect(await query('start_date_at_min=2030-07-01T07:00:00Z')).toEqual([summer, whole]);
  expect(await query('start_date_at_min=2030-07-01T07:00:01Z')).toEqual([whole]);
  expect(await query('start_date_at_max=2030-07-01T00:00:01Z')).toEqual([winter, tokyo]);
  expect(await query('start_date_at_max=2030-01-15T08:00:00Z')).toEqual([]);
  expect(await query('start_date_at_max=2030-01-15T08:00:01Z')).toEqual([winter]);
  expect(await query('start_date_at_min=2030-07-02&start_date_at_max=2030-07-02 00:00:01')).toEqual([whole]);
  expect(await query('end_date_at_min=2030-07-02 23:59:59')).toEqual([whole]);
  expect(await query('end_date_at_max=2030-07-01T15:00:00+02:00')).toEqual([winter]);
  expect(await query('end_date_at_max=2030-07-01T17:00:00+02:00')).toEqual([winter, tokyo]);
});

test('"now" is the request time, for these four bounds only', async () => {
  const me = await createProvider();
  const course = await me.course();
  const gone = await addDate(me, course, { startAt: '2020-01-01' });
  const running = await addDate(me, course, { startAt: '2020-01-01', endAt: '2090-01-01' });
  const coming = await addDate(me, course, { startAt: '2089-01-01' });
  const query = listIds(me);
  expect(await query('start_date_at_min=now')).toEqual([coming]);
  expect(await query('start_date_at_max=now')).toEqual([gone, running]);
  expect(await query('end_date_at_min=now')).toEqual([running, coming]);
  expect(await query('end_date_at_max=now')).toEqual([gone]);
  expect(await query('start_date_at_max=now&end_date_at_min=now')).toEqual([running]);
  expect((await me.get('/v2/coursedates?created_at_min=now')).status).toBe(400);
  const tagged = (query: string) => me.get(`/v2/coursedates?${query}`).then(({ headers }) => headers['etag']);
  expect(await tagged('start_date_at_min=2020-01-01')).toMatch(/^W\//);
  for (const query of ['start_date_at_min=now', 'end_date_at_max=now', 'include=gatherings', 'include_partners=1']) {
    expect(await tagged(query)).toBeUndefined();
  }
});

test.each([
  'start_date_at_min=2026-02-30',
  'end_date_at_max=tomorrow',
  'start_date_at_max=Now',
  'end_date_at_min=2026-01-01 25:00',
])('%s is rejected by name', async (query) => {
  const response = await (await createProvider()).get(`/v2/coursedates?${query}`);
  expect([response.status, response.json()]).toEqual([400, { error: `Field(s) not valid: ${query.split('=')[0]}` }]);
});

test('filters by status', async () => {
  const me = await createProvider();
  const course = await me.course();
  const dates = [1, 2, 3, 4].map((statusId) => () => addDate(me, course, { statusId }));
  const ids: number[] = [];
  for (const make of dates) ids.push(await make());
  for (const status of [1, 2, 3, 4]) expect(await listIds(me)(`status_id=${status}`)).toEqual([ids[status - 1]]);
  for (const wrong of ['0', '5', 'x', '1,2']) {
    const response = await me.get(`/v2/coursedates?status_id=${wrong}`);
    expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: status_id']);
  }
});

test('filters by has_participants, ignoring deregistered ones', async () => {
  const me = await createProvider();
  const course = await me.course();
  const statuses = [[1], [2], [3], [7], [4, 8]];
  const ids: number[] = [];
  for (const some of statuses) {
    ids.push(await addDate(me, course));
    await addParticipants(me, course, ids.at(-1)!, some);
  }
  const empty = await addDate(me, course, { statusId: 2 });
  const query = listIds(me);
  expect(await query('has_participants=true')).toEqual(ids.slice(0, 4));
  expect(await query('has_participants=0')).toEqual([ids[4], empty]);
  expect(await query('has_participants=no&status_id=2')).toEqual([empty]);
  expect(await query('has_participants=')).toHaveLength(6);
});

test('orders by id or start, ascending or descending, equal starts by id', async () => {
  const me = await createProvider();
  const course = await me.course();
  const late = await addDate(me, course, { startAt: '2030-03-01' });
  const early = await addDate(me, course, { startAt: '2030-01-01' });
  const same = await addDate(me, course, { startAt: '2030-01-01' });
  const query = listIds(me);
  expect(await query('order_by=id')).toEqual([late, early, same]);
  expect(await query('order_direction=desc')).toEqual([same, early, late]);
  expect(await query('order_by=startdate')).toEqual([early, same, late]);
  expect(await query('order_by=startdate&order_direction=desc')).toEqual([late, same, early]);
  expect(await query('order_by=startdate&limit=2&page=2')).toEqual([late]);
  for (const query of ['order_by=title', 'order_direction=up']) {
    expect((await me.get(`/v2/coursedates?${query}`)).status).toBe(400);
  }
});

test('filters by the tags of the course', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const a = await me.course({ tags: [{ title: 'red' }] });
  const b = await me.course({ tags: [{ title: 'red' }, { title: 'blue' }] });
  const dates = [await addDate(me, a), await addDate(me, b), await addDate(me, await me.course())];
  await other.course({ tags: [{ title: 'red' }] });
  const tags = async (one: Provider) => (await one.get('/v2/course-tags')).json<{ id: number }[]>().map(({ id }) => id);
  const [red, blue] = await tags(me);
  const [theirs] = await tags(other);
  const query = listIds(me);
  expect(await query(`tag_ids=${red},${blue}`)).toEqual(dates.slice(0, 2));
  expect(await query(`tag_ids[]=${red}&tag_ids[]=${blue}&tag_match=all`)).toEqual([dates[1]]);
  // With courses or a date, the tags are joined per row.
  expect(await query(`tag_ids=${blue}&course_id=${a}`)).toEqual([]);
  expect(await query(`tag_ids=${red}&course_id=${a}`)).toEqual([dates[0]]);
  expect(await query(`tag_ids=${red},${blue}&course_id=${a},${b}`)).toEqual(dates.slice(0, 2));
  expect(await query(`tag_ids=${red},${blue},${red}&tag_match=all&course_id=${a},${b}`)).toEqual([dates[1]]);
  expect(await query(`tag_ids=${red}&coursedate_id=${dates[2]}`)).toEqual([]);
  for (const path of ['coursedates', 'nextcoursedates']) {
    for (const query of [`tag_ids=${theirs}`, `tag_ids=${red},${theirs}&include_partners=1`]) {
      const response = await me.get(`/v2/${path}?${query}`);
      expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: tag_ids']);
    }
  }
});

test('filters by visibility, location and instructor', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const course = await me.course();
  const [locationId, otherLocation] = [await addLocation(me), await addLocation(other)];
  const [instructor, foreign] = [await addInstructor(me), await addInstructor(other)];
  const a = await addDate(me, course, { locationId });
  const b = await addDate(me, course, { isVisible: false });
  const c = await addDate(me, course, { locationId, isVisible: false });
  await assignInstructor(me, a, instructor);
  await addGathering(me, a, {}, [instructor]);
  await addGathering(me, c, {}, [instructor]);
  await addGathering(me, b, { deletedAt: '2026-01-01' }, [instructor]);
  const query = listIds(me);
  expect(await query('is_visible=1')).toEqual([a]);
  expect(await query('is_visible=0')).toEqual([b, c]);
  expect(await query(`location_id=${locationId}`)).toEqual([a, c]);
  expect(await query(`location_id=${locationId}&is_visible=0`)).toEqual([c]);
  expect(await query(`instructor_id=${instructor}`)).toEqual([a, c]);
  expect(await query(`location_id=${otherLocation}`)).toEqual([]);
  expect(await query(`instructor_id=${foreign}`)).toEqual([]);
});

test('filters by seats_status as it is shown', async () => {
  const me = await createProvider();
  const course = await me.course();
  const statusOf = new Map<number, string>();
  for (const [values, statuses] of [
    [{}, [1, 1]],
    [{ capacityMax: 2 }, [1, 4]],
    [{ capacityMax: 2, capacityWait: 1 }, [1, 7]],
    [{ capacityMax: 2, capacityWait: 1 }, [1, 7, 3]],
    [{ capacityMax: 1, capacityOverbook: 1 }, [2]],
  ] as const) {
    const id = await addDate(me, course, values);
    await addParticipants(me, course, id, [...statuses]);
    const { seats_status } = (await me.get(`/v2/courses/${course}/coursedates/${id}`)).json<{ seats_status: string }>();
    statusOf.set(id, seats_status);
  }
  expect([...new Set(statusOf.values())].sort()).toEqual(['fully_booked', 'open', 'waiting_list']);
  const withStatus = (...statuses: string[]) =>
    [...statusOf].flatMap(([id, status]) => (statuses.includes(status) ? [id] : []));
  const query = listIds(me);
  for (const status of ['open', 'waiting_list', 'fully_booked'])
    expect(await query(`seats_status=${status}`)).toEqual(withStatus(status));
  expect(await query('seats_status[]=open&seats_status[]=fully_booked')).toEqual(withStatus('open', 'fully_booked'));
  expect((await me.get('/v2/coursedates?seats_status=full')).status).toBe(400);
});

test('filters by dates under their minimum', async () => {
  const me = await createProvider();
  const course = await me.course();
  const under = await addDate(me, course, { capacityMin: 2 });
  await addParticipants(me, course, under, [1, 7, 3, 4]);
  const reached = await addDate(me, course, { capacityMin: 2 });
  await addParticipants(me, course, reached, [1, 2]);
  const without = await addDate(me, course);
  const canceled = await addDate(me, course, { capacityMin: 2, statusId: 3 });
  const query = listIds(me);
  expect(await query('under_minimum=1')).toEqual([under]);
  expect(await query('under_minimum=0')).toEqual([reached, without, canceled]);
  expect(await query('under_minimum=0&order_by=startdate')).toEqual([reached, without, canceled]);
  expect(await query('')).toContain(without);
});

test('q finds words of the title of a date or its course', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [truck, cooking] = [
    await me.course({ title: 'Truckfører' }),
    await me.course({ title: 'Matlaging', reference: 'TR-1' }),
  ];
  const a = await addDate(me, truck);
  const b = await addDate(me, cooking, { title: 'Sommerkurs med truck' });
  const c = await addDate(me, cooking);
  await addDate(other, await other.course({ title: 'Truckfører' }));
  const query = listIds(me);
  expect(await query('q=truck')).toEqual([a, b]);
  expect(await query('q=matlaging')).toEqual([b, c]);
  expect(await query('q=sommerkurs truck')).toEqual([b]);
  expect(await query('q=tr-1')).toEqual([b, c]);
  expect(await query('q=fører')).toEqual([]);
  expect(await query(`q=truck&course_id=${cooking}`)).toEqual([b]);
  const envelope = (await me.get('/v2/coursedates?q=truck&limit=1')).json<{ pagination: object }>();
  expect(envelope.pagination).toMatchObject({ total_items: 2, next_page: 2 });
});
