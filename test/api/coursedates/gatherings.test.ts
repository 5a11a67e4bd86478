import { expect, test } from 'vitest';
import { contentTypes, dialects, encodeBody, type Fields } from '../../support/dialects.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Gathering = { gathering_at: string; gathering_end_at: string };
async function movable(fields: object, gatherings: [string, string][]) {
  const me = await createProvider();
  const courseId = await me.course();
  const sent = gatherings.map(([gathering_at, gathering_end_at]) => ({ gathering_at, gathering_end_at }));
  const created = await me.post(`/v2/courses/${courseId}/coursedates`, { ...fields, gatherings: sent });
  expect(created.status, created.text).toBe(201);
  const url = `/v2/courses/${courseId}/coursedates/${created.json().coursedate_id}`;
  const read = async () =>
    (await me.get(`${url}?include=gatherings`))
      .json()
      .gatherings.map(({ gathering_at, gathering_end_at }: Gathering) => [gathering_at, gathering_end_at]);
  return { me, url, put: (change: object) => me.put(url, change), read };
}

const june = { start_at: '2027-06-10', end_at: '2027-06-10', start_time_at: '09:00', end_time_at: '12:00' };
const two = { ...june, end_at: '2027-06-11' };

test.each([
  [
    'new times',
    june,
    ['10 09:00', '10 12:00'],
    { start_time_at: '13:00', end_time_at: '16:00' },
    ['06-10 13:00', '06-10 16:00'],
  ],
  [
    'new days',
    june,
    ['10 09:00', '10 12:00'],
    { start_at: '2027-07-10', end_at: '2027-07-10' },
    ['07-10 09:00', '07-10 12:00'],
  ],
  ['a later end', june, ['10 09:00', '10 12:00'], { end_time_at: '12:30' }, ['06-10 09:00', '06-10 12:30']],
  [
    'the second day',
    two,
    ['11 09:00', '11 12:00'],
    { start_at: '2027-06-17', end_at: '2027-06-18' },
    ['06-18 09:00', '06-18 12:00'],
  ],
  [
    'both',
    two,
    ['11 09:00', '11 12:00'],
    { start_at: '2027-06-17', end_at: '2027-06-18', start_time_at: '10:00' },
    ['06-18 10:00', '06-18 12:00'],
  ],
  [
    'from first to last',
    two,
    ['10 09:00', '11 12:00'],
    { end_at: '2027-06-12', end_time_at: '13:00' },
    ['06-10 09:00', '06-12 13:00'],
  ],
  [
    'other times, new days',
    june,
    ['10 10:00', '10 11:00'],
    { start_at: '2027-07-10', end_at: '2027-07-10' },
    ['07-10 10:00', '07-10 11:00'],
  ],
  [
    'other times, new times',
    june,
    ['10 10:00', '10 11:00'],
    { start_time_at: '13:00', end_time_at: '16:00' },
    ['06-10 10:00', '06-10 11:00'],
  ],
  [
    'another day',
    june,
    ['17 09:00', '17 12:00'],
    { start_time_at: '13:00', end_time_at: '16:00' },
    ['06-17 09:00', '06-17 12:00'],
  ],
  ['no new time', june, ['10 09:00', '10 12:00'], { reference: 'x' }, ['06-10 09:00', '06-10 12:00']],
  ['one day more', june, ['10 09:00', '10 12:00'], { end_at: '2027-06-11' }, ['06-10 09:00', '06-10 12:00']],
])('gatherings move along with a date: %s', async (_, date, [from, to], change, expected) => {
  const { put, read } = await movable(date, [[`2027-06-${from}`, `2027-06-${to}`]]);
  const response = await put(change);
  expect(response.status, response.text).toBe(200);
  expect(await read()).toEqual([expected.map((moment) => `2027-${moment}`)]);
});

test.each(dialects)('days that move by different amounts require gatherings: %s', async (dialect) => {
  const gatherings = [
    { gathering_at: '2027-07-10 09:00', gathering_end_at: '2027-07-10 12:00' },
    { gathering_at: '2027-07-11 09:00', gathering_end_at: '2027-07-11 12:00' },
  ];
  const before: [string, string][] = [['2027-06-10 09:00', '2027-06-10 12:00']];
  const { me, url, read } = await movable(june, before);
  const put = (change: Fields) => me.put(url, encodeBody(dialect, change), { 'content-type': contentTypes[dialect] });
  const shown = (await me.get(url)).json();
  const days = { start_at: '2027-07-10', end_at: '2027-07-11' };
  for (const [change, error] of [
    [days, 'Missing field(s): gatherings'],
    [{ ...days, start_time_at: '10:00', reference: 'x' }, 'Missing field(s): gatherings'],
    [{ ...days, location_id: 999_999_999 }, 'Missing field(s): gatherings. Field(s) not valid: location_id'],
    [{ ...days, end_at: '2027-07-09' }, 'Field(s) not valid: end_at'],
  ] as const) {
    const response = await put(change);
    expect([response.status, response.json()], error).toEqual([400, { error }]);
  }
  expect([(await me.get(url)).json(), await read()]).toEqual([shown, before]);
  const sent = await put({ ...days, gatherings });
  expect(sent.status, sent.text).toBe(200);
  expect(await read()).toEqual(gatherings.map(Object.values));
  expect((await put({ start_at: '2027-08-10', end_at: '2027-08-10', gatherings: '' })).status).toBe(200);
  expect(await read()).toEqual([]);
});

test.each<[string, object, [string, string], object]>([
  ['one day only', two, ['2027-06-10 09:00', '2027-06-10 12:00'], { start_at: '2027-06-11' }],
  [
    'gatherings within the new days',
    two,
    ['2027-06-10 09:00', '2027-06-10 12:00'],
    { start_at: '2027-06-09', end_at: '2027-06-13' },
  ],
  [
    'gatherings outside the old days',
    june,
    ['2027-06-17 09:00', '2027-06-17 12:00'],
    { start_at: '2027-07-10', end_at: '2027-07-11' },
  ],
])('days may move by different amounts without gatherings: %s', async (_, date, gathering, change) => {
  const { put, read } = await movable(date, [gathering]);
  const response = await put(change);
  expect(response.status, response.text).toBe(200);
  expect(await read()).toEqual([gathering]);
});

test('a gathering from the first day to the last one follows days that move by different amounts', async () => {
  const { put, read } = await movable(two, [['2027-06-10 09:00', '2027-06-11 12:00']]);
  expect((await put({ start_at: '2027-07-10', end_at: '2027-07-13' })).status).toBe(200);
  expect(await read()).toEqual([['2027-07-10 09:00', '2027-07-13 12:00']]);
});

test('gatherings sent as they were read count as sent', async () => {
  const { me, url, put, read } = await movable(june, [['2027-06-10 09:00', '2027-06-10 12:00']]);
  const { gatherings } = (await me.get(`${url}?include=gatherings`)).json();
  const response = await put({ start_at: '2027-07-10', end_at: '2027-07-11', gatherings });
  expect(response.status, response.text).toBe(200);
  expect(await read()).toEqual([['2027-06-10 09:00', '2027-06-10 12:00']]);
});

test('gatherings that are sent with a new time stay as they are sent', async () => {
  const { put, read } = await movable(june, [['2027-06-10 09:00', '2027-06-10 12:00']]);
  const gatherings = [{ gathering_at: '2027-06-10 09:00', gathering_end_at: '2027-06-10 11:00' }];
  expect((await put({ start_time_at: '13:00', end_time_at: '16:00', gatherings })).status).toBe(200);
  expect(await read()).toEqual([['2027-06-10 09:00', '2027-06-10 11:00']]);
});

test('a gathering ends after it starts in the zone of its date', async () => {
  const me = await createProvider();
  const url = `/v2/courses/${await me.course()}/coursedates`;
  const date = { start_at: '2027-03-28', end_at: '2027-03-28' };
  const send = (from: string, to: string, more: object = {}) =>
    me.post(url, { ...date, ...more, gatherings: [{ date: '2027-03-28', time_start: from, time_end: to }] });
  for (const [from, to] of [
    ['02:30', '03:15'],
    ['02:00', '03:00'],
  ] as const) {
    const response = await send(from, to);
    expect([response.status, response.json().error]).toEqual([400, 'Field(s) not valid: gatherings']);
    expect((await send(from, to, { timezone: 'Asia/Tokyo' })).status).toBe(201);
  }
  expect((await send('01:30', '03:15')).status).toBe(201);
});

test('neither a new day nor a new zone swaps the ends of a gathering', async () => {
  const { put, read } = await movable({ ...june, start_time_at: '02:00', end_time_at: '04:00' }, [
    ['2027-06-10 02:30', '2027-06-10 03:15'],
  ]);
  expect((await put({ start_at: '2027-03-28', end_at: '2027-03-28' })).status).toBe(400);
  expect(await read()).toEqual([['2027-06-10 02:30', '2027-06-10 03:15']]);
  expect((await put({ start_at: '2027-03-28', end_at: '2027-03-28', timezone: 'Asia/Tokyo' })).status).toBe(200);
  expect((await put({ timezone: '' })).status).toBe(400);
});

test('an invalid member of a gathering is named', async () => {
  const me = await createProvider();
  const url = `/v2/courses/${await me.course()}/coursedates`;
  const good = { gathering_at: '2027-06-10 09:00', gathering_end_at: '2027-06-10 12:00' };
  const bad: [object, string][] = [
    [{ ...good, gathering_at: '2027-06-17 25:00' }, 'gatherings[1].gathering_at'],
    [{ ...good, event_url: 'x', theme: 'x'.repeat(5_001) }, 'gatherings[1].theme,gatherings[1].event_url'],
    [{ ...good, instructors: ['x'] }, 'gatherings[1].instructors'],
  ];
  for (const dialect of dialects) {
    for (const [gathering, names] of bad) {
      const body = { start_at: '2027-06-10', end_at: '2027-06-10', gatherings: [good, gathering] };
      const response = await me.post(url, encodeBody(dialect, body), { 'content-type': contentTypes[dialect] });
      expect(response.status).toBe(400);
      const found = response.json<{ error: string }>().error.replace('Field(s) not valid: ', '').split(',');
      expect(found.sort()).toEqual(names.split(',').sort());
    }
  }
  const response = await me.post('/v2/courses', {
    title: 'X',
    tags: [{ title: 'a' }, { title: 'x'.repeat(300) }, 'x'],
  });
  expect(response.json().error).toMatch(
    /^Field\(s\) not valid: tags\[1\]\.title,tags$|^Field\(s\) not valid: tags,tags\[1\]\.title$/,
  );
});

test('a trigger value is trimmed, has no case and belongs to one child', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const url = `/v2/courses/${courseId}/coursedates`;
  const add = (fields: object) => me.post(url, { start_at: '2031-06-10', end_at: '2031-06-10', ...fields });
  const parent_id: number = (await add({})).json().coursedate_id;
  const child: number = (await add({ parent_id, trigger_value: ' Økt 1 ' })).json().coursedate_id;
  expect((await me.get(`${url}/${child}`)).json().trigger_value).toBe('Økt 1');

  for (const trigger_value of ['Økt 1', 'økt 1', 'ØKT 1 ']) {
    const second = await add({ parent_id, trigger_value });
    expect([second.status, second.json().error]).toEqual([400, 'Field(s) not valid: trigger_value']);
    const participants = [{ firstname: 'A', lastname: 'B', email: 'a@x.example', trigger_value }];
    const booked = await me.post('/v2/booking', { coursedate_id: parent_id, payment_method: 'invoice', participants });
    expect(booked.status, booked.text).toBe(201);
  }
  expect((await me.get(`/v2/participants?coursedate_id=${child}`)).json()).toHaveLength(3);

  const other: number = (await add({ parent_id, trigger_value: 'Økt 2' })).json().coursedate_id;
  expect((await me.put(`${url}/${other}`, { trigger_value: 'økt 1' })).status).toBe(400);
  expect((await me.put(`${url}/${child}`, { trigger_value: 'ØKT 1' })).status).toBe(200);
  expect((await add({ trigger_value: 'Økt 1' })).status).toBe(201);

  const parent = await me.put(`${url}/${parent_id}`, { parent_id, trigger_value: 'Økt 1' });
  expect([parent.status, parent.json().error]).toEqual([400, 'Field(s) not valid: parent_id']);
});

test('the place of a text that several titles have is not set', async () => {
  const me = await createProvider();
  const url = `/v2/courses/${await me.course()}/coursedates`;
  const search = async (place_by_search: string) => {
    const created = await me.post(url, { start_at: '2031-06-10', end_at: '2031-06-10', place_by_search });
    const { place } = (await me.get(`${url}/${created.json().coursedate_id}?include=place`)).json();
    return [place.title ?? null, place.parent_title ?? null, place.title_additional_info ?? null];
  };
  expect(await search('Herøy')).toEqual([null, null, 'Herøy']);
  expect(await search('herø')).toEqual([null, null, 'herø']);
  for (const form of ['Herøy, Nordland', 'Herøy (Nordland)', 'herøy(nordland)', 'Herøy ,Nordland'])
    expect((await search(form)).slice(0, 2), form).toEqual(['Herøy', 'Nordland']);
  expect((await search('Herøy (Møre og Romsdal)')).slice(0, 2)).toEqual(['Herøy', 'Møre og Romsdal']);
  expect((await search('Oslo')).slice(0, 2)).toEqual(['Oslo', 'Oslo']);
  expect((await search('Bergen'))[0]).toBe('Bergen');
});
