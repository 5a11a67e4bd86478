import { expect, inject, onTestFinished, test } from 'vitest';
import { parseCalendar } from '../../support/calendars.ts';
import { addDate, addGathering, addLocation, changeDate } from '../../support/dates.ts';
import { createOrder, createUser, write } from '../../support/orders.ts';
import { signedInVisitor, visitor } from '../../support/pages.ts';
import { limits, openTestApp, openTestDatabase, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, database, createProvider } = await sharedTestApp();
const anyone = visitor(app);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function somebody() {
  const me = await createProvider('Fjord; school');
  const userId = await createUser(me, { firstname: 'Kari' });
  return { me, userId, browser: await signedInVisitor(app, me, userId) };
}
type Browser = Awaited<ReturnType<typeof somebody>>['browser'];

/** The path of a new feed, which its page shows once. */
async function createFeed(browser: Browser) {
  const { status, text } = await browser.post('/my/details', { calendar: 'create' });
  expect(status).toBe(200);
  const [, path] = /value="http:\/\/localhost:3000(\/my\/calendar\/[^"]+\.ics)"/.exec(text)!;
  return path!;
}

async function takesPart(
  me: Provider,
  userId: number,
  date: Parameters<typeof addDate>[2] = {},
  participant: Parameters<typeof createOrder>[1]['participant'] = {},
) {
  const courseId = await me.course();
  const dateId = await addDate(me, courseId, { title: 'Knots', startTimeAt: '09:00', endTimeAt: '15:00', ...date });
  const { participantIds } = await createOrder(me, { courseId, dateId, users: [userId], participant });
  return {
    dateId,
    id: participantIds[0]!,
    uid: `participant-${me.id}-${participantIds[0]!}-${userId}-${dateId}@localhost`,
  };
}

const writersOf = async (me: Provider) =>
  (
    await database.pool.query(
      `select actor, actor_id, action from audit_entries where provider_id = $1 and action like '%/my/%' order by id`,
      [me.id],
    )
  ).rows as unknown[];

test('a feed has the places of a person, and a program reads it without a session', async () => {
  const { me, userId, browser } = await somebody();
  const locationId = await addLocation(me, { title: 'Brygga', city: 'Bergen' });
  const single = await takesPart(me, userId, { startAt: '2030-06-10', locationId });
  const several = await takesPart(me, userId, { startAt: '2030-07-01', endAt: '2030-07-08' }, { statusId: 3 });
  await addGathering(me, several.dateId, { gatheringAt: '2030-07-01 18:00', gatheringEndAt: '2030-07-01 20:00' });
  await addGathering(me, several.dateId, { gatheringAt: '2030-07-08 18:00', gatheringEndAt: '2030-07-08 20:00' });
  await takesPart(me, await createUser(me), { startAt: '2030-06-11' });

  const response = await anyone.get(await createFeed(browser));
  expect([response.status, response.headers['content-type']]).toEqual([200, 'text/calendar; charset=utf-8']);
  const { calendar, method, events } = parseCalendar(response.text);
  expect([method, String(calendar.getFirstPropertyValue('refresh-interval'))]).toEqual([undefined, 'PT1H']);
  expect(response.text).toContain('X-WR-CALNAME:My courses – Fjord\\; school\r\n');
  expect(events.map(({ uid }) => uid).sort()).toEqual(
    [single.uid, several.uid, several.uid.replace('@', '-2@')].sort(),
  );
  expect(events.find(({ uid }) => uid === single.uid)).toMatchObject({
    ...{ summary: 'Knots', location: 'Brygga, Bergen', status: 'CONFIRMED' },
    ...{ start: '2030-06-10T07:00:00Z', end: '2030-06-10T13:00:00Z' },
  });
  expect(events.filter(({ status }) => status === 'TENTATIVE')).toHaveLength(2);
  expect(response.text).not.toContain('ATTENDEE');
});

test('a feed has the past year, and no dates that are canceled, postponed or left', async () => {
  const { me, userId, browser } = await somebody();
  const recent = await takesPart(me, userId, { startAt: inDays(-300) });
  await takesPart(me, userId, { startAt: inDays(-400) });
  await takesPart(me, userId, { statusId: 3 });
  await takesPart(me, userId, { statusId: 4 });
  await takesPart(me, userId, {}, { statusId: 4 });
  await takesPart(me, userId, {}, { statusId: 8 });
  const { events } = parseCalendar((await anyone.get(await createFeed(browser))).text);
  expect(events.map(({ uid }) => uid)).toEqual([recent.uid]);
});

test('a moved date keeps its UID and gets a higher sequence; the ETag tells whether a copy is current', async () => {
  const { me, userId, browser } = await somebody();
  const { dateId, uid } = await takesPart(me, userId);
  const path = await createFeed(browser);
  const first = await anyone.get(path);
  expect(first.headers).toMatchObject({
    'cache-control': 'private, no-cache',
    vary: 'Accept-Encoding, Accept-Language',
  });
  const etag = String(first.headers['etag']);
  const current = await anyone.get(path, { 'if-none-match': etag });
  expect([current.status, current.text, current.headers['etag']]).toEqual([304, '', etag]);
  expect((await anyone.request('HEAD', path)).headers['etag']).toBe(etag);

  const [before] = parseCalendar(first.text).events;
  await changeDate(me, dateId, { startAt: '2030-06-12', endAt: '2030-06-12', updatedAt: '2031-01-01' });
  const moved = await anyone.get(path, { 'if-none-match': etag });
  expect(moved.status).toBe(200);
  const [after] = parseCalendar(moved.text).events;
  expect([after!.uid, after!.start]).toEqual([uid, '2030-06-12T07:00:00Z']);
  expect(after!.sequence).toBeGreaterThan(before!.sequence);
});

test('a current copy is 304 whatever the query, and another day or change needs a new one', async () => {
  const { me, userId, browser } = await somebody();
  await takesPart(me, userId);
  const path = await createFeed(browser);
  const read = async (url: string, headers = {}) => {
    const { status, headers: answered } = await anyone.get(url, headers);
    return { status, etag: String(answered['etag']) };
  };
  const { etag } = await read(path);
  expect(await read(`${path}?x=1`)).toEqual({ status: 200, etag });
  expect((await read(`${path}?x=2`, { 'if-none-match': etag })).status).toBe(304);
  expect((await read(path, { 'accept-language': 'no' })).etag).not.toBe(etag);
  const other = await somebody();
  expect((await read(await createFeed(other.browser))).etag).not.toBe(etag);
  await me.course({ title: 'Another course' });
  expect((await read(path, { 'if-none-match': etag })).status).toBe(200);
});

test('a feed has the next 1,000 events, then the latest, with the numbers of their dates', async () => {
  const { me, userId, browser } = await somebody();
  const { dateId } = await takesPart(me, userId, { startAt: inDays(-100), endAt: inDays(900) });
  const other = await takesPart(me, userId, { startAt: inDays(950) });
  await write(me, (tx) =>
    tx.$client.query(
      `insert into gatherings (provider_id, course_date_id, gathering_at, gathering_end_at, zone, created_at, updated_at)
      select provider_id, id, start_at + n + time '09:00', start_at + n + time '10:00', zone, now(), now()
      from course_dates, generate_series(1, 1100) n where provider_id = $1 and id = $2`,
      [me.id, dateId],
    ),
  );
  const path = await createFeed(browser);
  const { events } = parseCalendar((await anyone.get(path)).text);
  expect([events.length, events.some((one) => one.uid === other.uid)]).toEqual([1_000, true]);
  // The meeting of today is the 100th, and the last 50 are behind the other date.
  const numbers = events.flatMap((one) => (one.uid === other.uid ? [] : Number(/-(\d+)@/.exec(one.uid!)![1])));
  expect(numbers).toEqual(Array.from({ length: 999 }, (_, n) => numbers[0]! + n));
  expect([100, 101]).toContain(numbers[0]);
});

test('the UIDs of the feed are those of the calendar file of a course', async () => {
  const { me, userId, browser } = await somebody();
  const { id, uid } = await takesPart(me, userId);
  const file = parseCalendar((await browser.get(`/my/courses/${id}/calendar.ics`)).text).events;
  const feed = parseCalendar((await anyone.get(await createFeed(browser))).text).events;
  expect([file[0]!.uid, feed[0]!.uid]).toEqual([uid, uid]);
  expect(feed[0]!.sequence).toBe(file[0]!.sequence);
});

test('a person without courses has an empty calendar', async () => {
  const { browser } = await somebody();
  const { status, text } = await anyone.get(await createFeed(browser));
  expect(status).toBe(200);
  expect(parseCalendar(text).events).toEqual([]);
});

test('the address is shown once, replaced and ended', async () => {
  const { me, userId, browser } = await somebody();
  const before = (await browser.get('/my/details')).text;
  expect(before).toContain('Create an address');
  expect(before).not.toContain('End the address');
  const path = await createFeed(browser);
  const later = (await browser.get('/my/details')).text;
  expect(later).not.toContain('/my/calendar/');
  expect(later).toMatch(/There is an address since \w+ \d+ \w+ \d{4}\./);
  const [, token] = /calendar\/(.+)\.ics$/.exec(path)!;
  const { rows } = await database.pool.query<{ hash: string }>('select hash from calendar_feeds where user_id = $1', [
    userId,
  ]);
  expect(rows).toHaveLength(1);
  expect(rows[0]!.hash).not.toContain(token);

  const replaced = await createFeed(browser);
  expect(replaced).not.toBe(path);
  expect([(await anyone.get(path)).status, (await anyone.get(replaced)).status]).toEqual([404, 200]);
  for (let n = 0; n < 2; n += 1)
    expect((await browser.post('/my/details', { calendar: 'end' })).text).toContain('The address no longer works.');
  const gone = await anyone.get(replaced);
  expect([gone.status, gone.headers['content-type'], gone.headers['cache-control']]).toEqual([
    404,
    'text/plain; charset=utf-8',
    'no-store',
  ]);
  expect(gone.text).toBe('This calendar does not exist, or its address has been replaced or ended.\n');
  // The second end of the address changes nothing.
  const entry = { actor: 'course_user', actor_id: userId, action: 'POST /my/details' };
  expect(await writersOf(me)).toEqual([entry, entry, entry]);
});

test('an address that is not known is not found', async () => {
  const { me, browser } = await somebody();
  const path = await createFeed(browser);
  const others = [
    path.replace('.ics', ''),
    path.replace('.ics', '.html'),
    path.replace(`${me.id}_`, `${me.id + 1}_`),
    path.replace(/.\.ics/, '.ics'),
    `/my/calendar/${me.id}_${'x'.repeat(43)}.ics`,
    '/my/calendar/x.ics',
    '/my/calendar/.ics',
    '/my/calendar/%.ics',
  ];
  for (const other of others) expect([other, (await anyone.get(other)).status]).toEqual([other, 404]);
});

test('only the person changes the address, from the own page', async () => {
  const { browser } = await somebody();
  const path = await createFeed(browser);
  expect((await anyone.post('/my/details', { calendar: 'end' })).status).toBe(401);
  expect((await browser.post('/my/details', { calendar: 'end' }, { origin: 'https://evil.example' })).status).toBe(403);
  for (const fields of [{ x: 'end' }, { calendar: 'x' }] as Record<string, string>[])
    expect((await browser.post('/my/details', fields)).status).toBe(400);
  expect((await anyone.get(path)).status).toBe(200);
});

test('an erasure ends the feed', async () => {
  const { me, userId, browser } = await somebody();
  const path = await createFeed(browser);
  const exported = (await me.get(`/v2/course-users/${userId}/export`)).json<{ calendar_feeds: object[] }>();
  expect(exported.calendar_feeds).toEqual([{ created_at: expect.any(String) }]);
  const planned = await me.post(`/v2/course-users/${userId}/erase`, { dry_run: true });
  expect([planned.json<{ links: number }>().links, (await anyone.get(path)).status]).toEqual([1, 200]);
  expect((await me.post(`/v2/course-users/${userId}/erase`)).status).toBe(200);
  expect((await anyone.get(path)).status).toBe(404);
});

test('a merge ends the feed of the merged person, whose places the other has', async () => {
  const { me, userId, browser } = await somebody();
  await takesPart(me, userId);
  const into = await createUser(me);
  const path = await createFeed(browser);
  const staying = await createFeed(await signedInVisitor(app, me, into));
  const merged = await me.post(`/v2/course-users/${userId}/merge`, { into });
  expect([merged.status, merged.json<{ links: number }>().links]).toEqual([200, 1]);
  expect((await anyone.get(path)).status).toBe(404);
  expect(parseCalendar((await anyone.get(staying)).text).events).toHaveLength(1);
});

test('the feed of a closed school is not found', async () => {
  const { me, browser } = await somebody();
  const path = await createFeed(browser);
  await write(me, (tx) => tx.$client.query(`update providers set closed_at = now() where id = $1`, [me.id]));
  expect((await anyone.get(path)).status).toBe(404);
});

async function openLimited(publicRequestsPerMinute: number) {
  const limited = await openTestApp(openTestDatabase(inject('shared')), {
    limits: { ...limits, publicRequestsPerMinute },
  });
  onTestFinished(() => limited.close());
  const statusOf = async (path: string) => (await visitor(limited.app).get(path)).status;
  return { statusOf, statusesOf: (path: string, count: number) => repeat(count, () => statusOf(path)) };
}
async function repeat<T>(count: number, work: () => Promise<T>) {
  const all: T[] = [];
  for (let n = 0; n < count; n += 1) all.push(await work());
  return all;
}

test('one address calls unknown feeds as often as other pages', async () => {
  const { statusesOf } = await openLimited(3);
  expect(await statusesOf('/my/calendar/x.ics', 5)).toEqual([404, 404, 404, 429, 429]);
});

test('a known feed has a limit of its own, which is not that of the address', async () => {
  const { statusOf, statusesOf } = await openLimited(4);
  const people = [await somebody(), await somebody(), await somebody()];
  const feeds = await Promise.all(people.map(({ browser }) => createFeed(browser)));
  for (const feed of feeds) expect(await statusesOf(feed, 2)).toEqual([200, 200]);
  for (const { me, userId } of people) await takesPart(me, userId);
  for (const feed of feeds) expect(await statusesOf(feed, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(await statusesOf('/my', 2)).toEqual([401, 429]);
  expect((await statusesOf(feeds[0]!, 40)).filter((status) => status === 429)).toHaveLength(16);
  expect(await statusOf(feeds[1]!)).toBe(200);
});

test('an ended feed counts for its address again', async () => {
  const { statusesOf } = await openLimited(3);
  const { browser } = await somebody();
  const feed = await createFeed(browser);
  expect(await statusesOf(feed, 6)).toEqual(Array(6).fill(200));
  await createFeed(browser);
  expect(await statusesOf(feed, 5)).toEqual([404, 404, 404, 429, 429]);
});
