import { expect, test } from 'vitest';
import { completeCourses } from '../../../src/domains/participants/attendance/service.ts';
import { newestEvent, eventsSince } from '../../support/changes.ts';
import { addDate, addGathering } from '../../support/dates.ts';
import { createAttendance, createOrder, createUser } from '../../support/orders.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider, database } = await sharedTestApp();

type Item = Record<string, any>;
type Mark = { participant_id: number; gathering_id: number; nonce: string } & Item;

const at = (day: string, time: string) => `${day} ${time}`;
const meeting = (day: string) => ({ gatheringAt: at(day, '09:00'), gatheringEndAt: at(day, '15:00') });

/** A date with gatherings on these days, and participants with names. */
async function stage(count = 2, days = ['2026-03-02', '2026-03-09'], course: Item = {}, school?: Provider) {
  const me = school ?? (await createProvider());
  const courseId = await me.course(course);
  const dateId = await addDate(me, courseId, { startAt: days[0]!, endAt: days.at(-1)!, deadlineAt: days[0]! });
  const gatheringIds: number[] = [];
  for (const day of days) gatheringIds.push(await addGathering(me, dateId, meeting(day)));
  const users: number[] = [];
  for (let n = 0; n < count; n += 1) users.push(await createUser(me, { firstname: 'Kari', lastname: `Nordmann ${n}` }));
  const { participantIds } = await createOrder(me, { courseId, dateId, users });
  const put = (marks: Mark[]) => me.put(`/v2/coursedates/${dateId}/attendance`, { marks });
  return { me, courseId, dateId, gatheringIds, participantIds, put };
}

const results = async (response: Promise<{ json(): Item }>) =>
  ((await response).json()['results'] as Item[]).map(({ result, code }) => code ?? result);
const readOne = async (me: Provider, id: number, include = 'attendance') =>
  (await me.get(`/v2/participants/${id}?include=${include}`)).json<Item>();
const countMarks = async ({ id }: Provider) =>
  (await database.pool.query('select from attendance_marks where provider_id = $1', [id])).rowCount;

test('marks are stored once, the newest stands, and others are refused one by one', async () => {
  const { me, dateId, gatheringIds, participantIds, put } = await stage(3);
  const [gathering, second] = gatheringIds as [number, number];
  const [kari, ola, gone] = participantIds as [number, number, number];
  await me.put(`/v2/participants/${gone}`, { idStatus: 4 });
  const other = await stage(1, undefined, {}, me);
  const of = (participant_id: number, nonce: string, more: Item = {}): Mark => ({
    ...{ participant_id, gathering_id: gathering, nonce, attended: true },
    ...more,
  });
  const marks = [
    of(kari, 'a', { minutes: 30, at: '2026-03-02T09:10:00+01:00' }),
    of(kari, 'b', { attended: false, at: '2026-03-02T09:05:00+01:00' }),
    of(kari, 'a', { attended: false }),
    of(ola, 'a', { at: '2026-03-02T09:10:00+01:00' }),
    of(ola, 'c', { at: '2026-03-02T09:10:00+01:00', attended: false }),
    of(gone, 'a'),
    of(other.participantIds[0]!, 'a'),
    of(kari, 'a', { gathering_id: other.gatheringIds[0]! }),
    of(kari, 'd', { gathering_id: second, attended: undefined }),
  ];
  const sent = [
    ...['stored', 'older', 'repeated', 'stored', 'stored'],
    ...['participant_without_seat', 'participant_unknown', 'gathering_unknown', 'stored'],
  ];
  const response = await put(marks);
  expect(response.json()).toMatchObject({
    coursedate_id: dateId,
    results: marks.map(({ participant_id, gathering_id, nonce }) => ({ participant_id, gathering_id, nonce })),
  });
  expect(await results(Promise.resolve(response))).toEqual(sent);
  const registered_at = '2026-03-02T09:10:00+01:00';
  const { attendance } = await readOne(me, kari);
  expect(attendance[0]).toEqual({ gathering_id: gathering, attended: true, registered_at });
  expect(attendance[1]).toMatchObject({ gathering_id: second, attended: null });
  expect((await readOne(me, ola))['attendance']).toEqual([{ gathering_id: gathering, attended: false, registered_at }]);

  const cursor = await newestEvent(me);
  const before = await readOne(me, kari);
  const refused = sent.slice(5, 8);
  expect(await results(put(marks))).toEqual([...Array<string>(5).fill('repeated'), ...refused, 'repeated']);
  expect([await eventsSince(me, cursor), await readOne(me, kari), await countMarks(me)]).toEqual([[], before, 5]);
  expect(await results(put([of(kari, 'e', { at: '2026-03-02T09:09:59+01:00', attended: false })]))).toEqual(['older']);
  expect([await eventsSince(me, cursor), await readOne(me, kari), await countMarks(me)]).toEqual([[], before, 6]);
  expect(await results(put([of(kari, 'f', { attended: undefined })]))).toEqual(['stored']);
  expect(await eventsSince(me, cursor)).toHaveLength(1);
  expect((await readOne(me, kari))['attendance'][0]).toMatchObject({ attended: null });
});

test.each(['swap', 'move'])('marks that were taken back end with a %s', async (change) => {
  const { me, courseId, gatheringIds, participantIds, put } = await stage();
  const [gathering_id, [participant_id, other]] = [gatheringIds[0]!, participantIds as [number, number]];
  await put([
    { participant_id, gathering_id, nonce: 'a', attended: true },
    { participant_id, gathering_id, nonce: 'b' },
    { participant_id: other, gathering_id, nonce: 'a', attended: true },
  ]);
  const user = { firstname: 'Per', lastname: 'Hansen', email: 'per@people.example' };
  const { status } =
    change === 'swap'
      ? await me.put(`/v2/participants/${participant_id}`, { user })
      : await me.post(`/v2/participants/${participant_id}/move`, { coursedate_id: await addDate(me, courseId) });
  expect([status, await countMarks(me)]).toEqual([200, 1]);
  expect((await readOne(me, participant_id))['attendance']).toEqual([]);
});

test('a time is not after that of the server, and not more than a year before the date', async () => {
  const { me, gatheringIds, participantIds, put } = await stage();
  const [gathering_id, second] = gatheringIds as [number, number];
  const [participant_id, other] = participantIds as [number, number];
  await put([
    { participant_id, gathering_id, attended: true, at: '2099-01-01', nonce: 'a' },
    { participant_id: other, gathering_id, attended: true, at: '1999-01-01', nonce: 'a' },
  ]);
  const [{ registered_at }] = (await readOne(me, participant_id))['attendance'];
  expect(Math.abs(Date.now() - Date.parse(registered_at))).toBeLessThan(600_000);
  expect((await readOne(me, other))['attendance'][0].registered_at).toBe('2025-03-02T00:00:00+01:00');
  // Imported without a mark.
  await createAttendance(me, other, second, { attended: true, registeredAt: '2026-03-09 10:00:00+01' });
  const late = { participant_id: other, gathering_id: second, attended: false, at: '2026-03-09 09:00', nonce: 'a' };
  expect(await results(put([late]))).toEqual(['older']);
});

test('16 clients that send the same marks store each once', async () => {
  const { me, gatheringIds, participantIds, put } = await stage(5);
  const marks = participantIds.flatMap((participant_id) =>
    gatheringIds.map((gathering_id) => ({ participant_id, gathering_id, attended: true, nonce: 'n' })),
  );
  const all = await Promise.all(Array.from({ length: 16 }, () => results(put(marks))));
  expect(all.flat().filter((result) => result === 'stored')).toHaveLength(10);
  expect([await countMarks(me), new Set(all.flat())]).toEqual([10, new Set(['stored', 'repeated'])]);
});

test.each(dialects)('marks are accepted as %s', async (dialect) => {
  const { me, dateId, gatheringIds, participantIds } = await stage(1);
  const ids = { participant_id: participantIds[0]!, gathering_id: gatheringIds[0]! };
  const marks = [{ ...ids, attended: true, minutes: 45, at: '2026-03-02 09:05', nonce: 'Tablet & 1' }];
  const url = `/v2/coursedates/${dateId}/attendance`;
  expect((await me.put(url, encodeBody(dialect, { marks }), contentTypeHeader(dialect))).json()).toEqual({
    coursedate_id: dateId,
    results: [{ ...ids, nonce: 'Tablet & 1', result: 'stored', code: null }],
  });
  expect(await share(me, ids.participant_id)).toEqual({ attended_share: 0.5, minutes: 45 });
});

test('1,000 marks are accepted at once, and no more', async () => {
  const { me, gatheringIds, participantIds, put } = await stage(2);
  const marks = Array.from({ length: 1_001 }, (_, n) => ({
    ...{ participant_id: participantIds[n % 2]!, gathering_id: gatheringIds[0]!, attended: true, nonce: `n ${n}` },
  }));
  expect((await put(marks)).json()).toEqual({ error: 'Field(s) not valid: marks' });
  expect(new Set(await results(put(marks.slice(1))))).toEqual(new Set(['stored']));
  expect(await countMarks(me)).toBe(1_000);
});

test('the attendance of a date is read as JSON and as a spreadsheet', async () => {
  const { me, dateId, gatheringIds, participantIds, put } = await stage(2);
  const [first, second] = gatheringIds as [number, number];
  const [kari, ola] = participantIds as [number, number];
  await put([
    { participant_id: kari, gathering_id: first, attended: true, minutes: 90, at: '2026-03-02 10:00', nonce: 'a' },
    { participant_id: kari, gathering_id: second, attended: false, minutes: 0, at: '2026-03-09 10:00', nonce: 'a' },
    { participant_id: ola, gathering_id: second, attended: true, at: '2026-03-09 10:00', nonce: 'a' },
  ]);
  const url = `/v2/coursedates/${dateId}/attendance`;
  const sheet = (await me.get(url)).json<Item>();
  expect(sheet['gatherings']).toEqual([
    { id: first, gathering_at: '2026-03-02 09:00', gathering_end_at: '2026-03-02 15:00' },
    { id: second, gathering_at: '2026-03-09 09:00', gathering_end_at: '2026-03-09 15:00' },
  ]);
  const { user_id, ...one } = sheet['participants'][0];
  expect(one).toEqual({
    ...{ id: kari, firstname: 'Kari', lastname: 'Nordmann 0', status_id: 1, completed: false },
    ...{ attended_share: 0.5, minutes: 90 },
    attendance: [
      { gathering_id: first, attended: true, minutes: 90, registered_at: '2026-03-02T10:00:00+01:00' },
      { gathering_id: second, attended: false, minutes: 0, registered_at: '2026-03-09T10:00:00+01:00' },
    ],
  });
  const summary = { attended_share: 0.5, minutes: 90 };
  expect((await readOne(me, kari, 'attendance_summary'))['attendance_summary']).toEqual(summary);
  const names = `id,user_id,firstname,lastname,status_id,completed,attended_share,minutes`;
  const lines = [
    `${names},${first} 2026-03-02 09:00,${second} 2026-03-09 09:00`,
    `${kari},${user_id},Kari,Nordmann 0,1,false,0.5,90,true,false`,
    `${ola},${sheet['participants'][1].user_id},Kari,Nordmann 1,1,false,0.5,0,,true`,
  ];
  const csv = await me.get(url, { accept: 'text/csv' });
  expect([csv.headers['content-type'], csv.text]).toEqual([
    'text/csv; charset=utf-8',
    `\ufeff${lines.join('\r\n')}\r\n`,
  ]);
  const again = await me.get(url, { accept: 'text/csv' });
  for (const name of ['content-disposition', 'vary', 'content-type']) {
    expect(csv.headers[name], name).toBeDefined();
    expect(again.headers[name], name).toBe(csv.headers[name]);
  }
  expect((await me.get(`${url}?format=csv&delimiter=semicolon`)).text).toContain('id;user_id');
});

const share = async (me: Provider, id: number) => (await readOne(me, id, 'attendance_summary'))['attendance_summary'];

test.each(dialects)('minutes without presence are refused: %s', async (dialect) => {
  const { me, dateId, gatheringIds, participantIds } = await stage(1);
  const ids = { participant_id: participantIds[0]!, gathering_id: gatheringIds[0]! };
  const url = `/v2/coursedates/${dateId}/attendance`;
  const send = async (...more: Item[]) => {
    const marks = more.map((one, n) => ({ ...ids, nonce: `n ${n}`, ...one }));
    const response = await me.put(url, encodeBody(dialect, { marks }), contentTypeHeader(dialect));
    return [response.status, response.json<Item>()['error']];
  };
  expect(await send({ attended: true, minutes: 5 }, { attended: false, minutes: 90 }, { minutes: 1 })).toEqual([
    400,
    'Field(s) not valid: marks[1].minutes,marks[2].minutes',
  ]);
  expect(await countMarks(me)).toBe(0);
  expect((await send({ attended: false, minutes: 0 }, { attended: true, minutes: 0 }, {}))[0]).toBe(200);
});

test("attendance is not registered before the gathering's day in its zone, but taken back", async () => {
  const dayIn = (zone: string, days: number) =>
    new Date(Date.now() + days * 86_400_000).toLocaleDateString('sv', { timeZone: zone });
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Oslo']) {
    const me = await createProvider();
    const courseId = await me.course();
    const days = [0, 1, 30].map((n) => dayIn(zone, n));
    const gatherings = days.map((day) => ({ date: day, time_start: '23:00', time_end: '23:30' }));
    const body = { start_at: days[0], end_at: days[2], deadline_at: days[0], timezone: zone, gatherings };
    const created = (await me.post(`/v2/courses/${courseId}/coursedates`, body)).json<Item>();
    const dateId = created['coursedate_id'] as number;
    const { participantIds } = await createOrder(me, { courseId, dateId, users: [await createUser(me)] });
    const sheet = (await me.get(`/v2/coursedates/${dateId}/attendance`)).json<Item>();
    const ids = (sheet['gatherings'] as Item[]).map(({ id }) => id as number);
    const put = (more: Item) =>
      me.put(`/v2/coursedates/${dateId}/attendance`, {
        marks: ids.map((gathering_id) => ({ participant_id: participantIds[0]!, gathering_id, nonce: 'a', ...more })),
      });
    const refused = ['gathering_not_begun', 'gathering_not_begun'];
    for (const attended of [true, false]) {
      const nonce = String(attended);
      expect([zone, await results(put({ attended, nonce }))]).toEqual([zone, ['stored', ...refused]]);
    }
    expect(await countMarks(me)).toBe(2);
    await createAttendance(me, participantIds[0]!, ids[2]!, { attended: true });
    expect(await results(put({ nonce: 'back' }))).toEqual(['stored', 'stored', 'stored']);
    expect((await readOne(me, participantIds[0]!))['attendance'].every(({ attended }: Item) => attended === null)).toBe(
      true,
    );
  }
});

test('a share has three decimals, and none without gatherings', async () => {
  const { me, gatheringIds, participantIds, put } = await stage(1, ['2026-03-02', '2026-03-03', '2026-03-04']);
  const [participant_id] = participantIds as [number];
  const marks = gatheringIds
    .slice(1)
    .map((gathering_id) => ({ participant_id, gathering_id, attended: true, nonce: 'a' }));
  await put(marks);
  expect(await share(me, participant_id)).toEqual({ attended_share: 0.667, minutes: 0 });
  const { participantIds: bare } = await createOrder(me, { courseId: await me.course() });
  expect(await share(me, bare[0]!)).toEqual({ attended_share: null, minutes: 0 });
});

const dayFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const completed = async (me: Provider, ids: number[]) =>
  Promise.all(ids.map(async (id) => (await readOne(me, id))['completed'] as boolean));

test('the share that completes a course does so after the last gathering, but not against a hand', async () => {
  const course = { completion_min_share: 0.667 };
  const days = [dayFromNow(-3), dayFromNow(-2), dayFromNow(-1)];
  const { me, courseId, gatheringIds, participantIds, put } = await stage(4, days, course);
  const [half, whole, byHand, echoed] = participantIds as [number, number, number, number];
  expect((await me.get(`/v2/courses/${courseId}?include=completion_min_share`)).json()).toMatchObject(course);
  await me.put(`/v2/participants/${byHand}`, { completed: false });
  await me.put(`/v2/participants/${echoed}`, await readOne(me, echoed));
  const attend = (ids: number[], gatherings: number[], nonce: string, attended = true) =>
    put(
      ids.flatMap((participant_id) =>
        gatherings.map((gathering_id) => ({ participant_id, gathering_id, attended, nonce })),
      ),
    );
  await attend([half], gatheringIds.slice(0, 1), 'a');
  await attend([whole, byHand, echoed], gatheringIds.slice(0, 2), 'a');
  expect(await completed(me, participantIds)).toEqual([false, true, false, true]);
  await attend([half], gatheringIds.slice(1, 2), 'b');
  await attend([whole], gatheringIds.slice(1, 2), 'b', false);
  expect(await completed(me, participantIds)).toEqual([true, false, false, true]);
  await me.put(`/v2/participants/${half}`, { completed: false });
  await attend([half], gatheringIds, 'c');
  expect(await completed(me, [half])).toEqual([false]);
});

test('a course whose last gathering has ended since the marks is completed by the server', async () => {
  const days = [dayFromNow(-2), dayFromNow(2)];
  const { me, dateId, gatheringIds, participantIds, put } = await stage(2, days, { completion_min_share: 0.5 });
  const [participant_id] = participantIds as [number];
  await put([{ participant_id, gathering_id: gatheringIds[0]!, attended: true, nonce: 'a' }]);
  await completeCourses(database);
  expect(await completed(me, participantIds)).toEqual([false, false]);

  await database.write([me.id], ['dates'], ({ tx }) =>
    tx.$client.query(
      `update gatherings set gathering_at = gathering_at - interval '3 days', gathering_end_at = gathering_end_at - interval '3 days'
        where provider_id = $1 and course_date_id = $2`,
      [me.id, dateId],
    ),
  );
  const cursor = await newestEvent(me);
  await completeCourses(database);
  await completeCourses(database);
  expect(await completed(me, participantIds)).toEqual([true, false]);
  expect(await eventsSince(me, cursor)).toHaveLength(1);
});

test('participants are listed in the Norwegian alphabet, without regard to case', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const dateId = await addDate(me, courseId);
  const lastnames = ['Zakariassen', 'Åsen', 'vik', 'Ærøy', 'Aasen', 'Østby', 'andersen', 'Éric', 'Wærnes', 'åberg'];
  const users: number[] = [];
  for (const lastname of lastnames) users.push(await createUser(me, { firstname: 'Kari', lastname }));
  for (const firstname of ['åse', 'Bo']) users.push(await createUser(me, { firstname, lastname: 'Vik' }));
  await createOrder(me, { courseId, dateId, users });
  const { participants } = (await me.get(`/v2/coursedates/${dateId}/attendance`)).json<{ participants: Item[] }>();
  expect(participants.map(({ lastname, firstname }) => `${lastname} ${firstname}`.replace(' Kari', ''))).toEqual([
    ...['andersen', 'Éric', 'Vik Bo', 'vik', 'Vik åse', 'Wærnes', 'Zakariassen', 'Ærøy', 'Østby', 'åberg'],
    ...['Åsen', 'Aasen'],
  ]);
});
