import { expect, test } from 'vitest';
import { send, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();
const days = { start_at: '2030-06-10', end_at: '2030-06-12' };
const datesOf = async (me: Provider) => `/v2/courses/${await me.course()}/coursedates`;
const whole = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 10:00' };
const zone = 'Europe/Nowhere';

test.each([
  [{ end_at: '2030-06-12', timezone: zone }, 'Missing field(s): start_at. Field(s) not valid: timezone'],
  [{ ...days, status_id: 99, timezone: zone }, 'Field(s) not valid: timezone,status_id'],
  [{ ...days, place_id: 999_999_999, timezone: zone }, 'Field(s) not valid: timezone,place_id'],
  [{ ...days, end_at: '2030-06-09', timezone: zone }, 'Field(s) not valid: end_at,timezone'],
  [
    { ...days, timezone: zone, parent_id: 999_999_999, instructors: [9] },
    'Field(s) not valid: timezone,instructors,parent_id',
  ],
  [{ ...days, timezone: 'Europe/Oslo', status_id: 99 }, 'Field(s) not valid: status_id'],
])('a course date %j: %s', async (fields, error) => {
  const me = await createProvider();
  const response = await me.post(await datesOf(me), fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test('an update of a course date names an unknown time zone with the rest', async () => {
  const me = await createProvider();
  const url = await datesOf(me);
  const { coursedate_id } = (await me.post(url, days)).json<{ coursedate_id: number }>();
  const change = (fields: object) => me.put(`${url}/${coursedate_id}`, fields);
  expect((await change({ start_at: 'x', timezone: zone })).json()).toEqual({
    error: 'Field(s) not valid: start_at,timezone',
  });
  expect((await change({ location_id: 999_999_999, timezone: zone })).json()).toEqual({
    error: 'Field(s) not valid: timezone,location_id',
  });
});

test.each([
  [{ lat: 91, timezone: zone }, 'Missing field(s): title. Field(s) not valid: lat,timezone'],
  [{ title: 'A', country: 'XX', timezone: zone }, 'Field(s) not valid: country,timezone'],
  [{ title: 'A', place_id: 999_999_999, timezone: zone }, 'Field(s) not valid: place_id,timezone'],
])('a location %j: %s', async (fields, error) => {
  const me = await createProvider();
  const response = await me.post('/v2/locations', fields);
  expect([response.status, response.json()]).toEqual([400, { error }]);
});

test.each([
  [[whole, whole, { gathering_end_at: '2030-06-10 10:00' }], 'gatherings[2].gathering_at'],
  [[{ gathering_at: '2030-06-10 09:00' }], 'gatherings[0].gathering_end_at'],
  [
    [{}, whole, {}],
    'gatherings[0].gathering_at,gatherings[0].gathering_end_at,gatherings[2].gathering_at,gatherings[2].gathering_end_at',
  ],
  [[{ date: '2030-06-10' }], 'gatherings[0].time_start,gatherings[0].time_end'],
  [[{ date: '2030-06-10', time_start: '09:00' }], 'gatherings[0].time_end'],
  [[{ gathering_at: '2030-06-10', gathering_end_at: '2030-06-10 10:00' }], 'gatherings[0].time_start'],
])('gatherings %j are missing %s', async (gatherings, names) => {
  const me = await createProvider();
  const url = await datesOf(me);
  expect((await me.post(url, { ...days, gatherings })).json()).toEqual({ error: `Missing field(s): ${names}` });
  expect((await me.post(url, { end_at: '2030-06-12', gatherings, timezone: zone, status_id: 99 })).json()).toEqual({
    error: `Missing field(s): start_at,${names}. Field(s) not valid: timezone,status_id`,
  });
});

test('a form reports the same path', async () => {
  const me = await createProvider();
  const { status, text } = await send(app, {
    method: 'POST',
    url: await datesOf(me),
    headers: { 'x-api-key': me.apiKey, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'start_at=2030-06-10&end_at=2030-06-12&gatherings[0][date]=2030-06-10&gatherings[0][time_start]=09:00',
  });
  expect([status, text]).toEqual([400, '{"error":"Missing field(s): gatherings[0].time_end"}']);
});

test('a tag without a title is reported by its path', async () => {
  const me = await createProvider();
  const tags = [{ title: 'A' }, {}];
  expect((await me.post('/v2/courses', { title: 'A', tags })).json()).toEqual({
    error: 'Missing field(s): tags[1].title',
  });
  expect((await me.post('/v2/courses', { title: 'A', labels: [{}], tags: [{ id: 'x' }] })).json()).toEqual({
    error: 'Missing field(s): labels[0].title. Field(s) not valid: tags[0].id',
  });
});
