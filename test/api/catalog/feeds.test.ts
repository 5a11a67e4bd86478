import { expect, inject, onTestFinished, test } from 'vitest';
import { toInstant, withOffset } from '../../../src/core/zoned-time.ts';
import { parseCalendar } from '../../support/calendars.ts';
import { addDate, addGathering, addLocation, addParticipants, changeDate, isoDay } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { revealsSecret, secret } from '../../support/public-catalog.ts';
import { recordStatements } from '../../support/record-statements.ts';
import { limits, openTestApp, openTestAppForFile, openTestDatabase, type Provider } from '../../support/test-app.ts';
import { openCatalog } from '../../support/catalog.ts';

const testApp = await openTestAppForFile();
const { createProvider, database } = testApp;

async function createSchool() {
  const me = await createProvider('Fjord; school');
  const tag = (await me.post('/v2/course-tags', { title: 'Sea' })).json<{ id: number }>();
  const knots = await me.course({ title: 'Knots & <bends>', tags: [tag.id], price_value: 800 });
  const soup = await me.course({ title: 'Soup' });
  const locationId = await addLocation(me, { title: 'Brygga', city: 'Bergen' });
  const single = await addDate(me, knots, {
    ...{
      startAt: '2030-03-30',
      startTimeAt: '09:00',
      endTimeAt: '15:00',
      locationId,
      eventUrl: 'https://meet.example',
    },
    createdAt: '2026-01-01',
  });
  const days = await addDate(me, soup, { startAt: '2030-07-01', endAt: '2030-07-02', createdAt: '2026-01-03' });
  const several = await addDate(me, soup, { startAt: '2030-11-01', isVirtual: true, createdAt: '2026-01-02' });
  const at = (day: string) => ({ gatheringAt: `${day} 18:00`, gatheringEndAt: `${day} 20:00`, eventUrl: secret });
  await addGathering(me, several, at('2030-11-01'));
  await addGathering(me, several, at('2030-11-08'));
  const canceled = await addDate(me, knots, { startAt: '2030-04-01', statusId: 3 });
  await addDate(me, knots, { startAt: isoDay(-3), statusId: 3 });
  const catalog = await openCatalog(testApp, me);
  return { me, catalog, tag, knots, soup, single, days, several, canceled, locationId };
}
type School = Awaited<ReturnType<typeof createSchool>>;

const readEvents = async ({ catalog }: Pick<School, 'catalog'>, path: string) =>
  parseCalendar((await catalog.get(path)).text).events;

test('the calendar of a school has an event per meeting, and canceled dates say so', async () => {
  const school = await createSchool();
  const { me, catalog, single, days, several, canceled } = school;
  const response = await catalog.get('/calendar.ics?lang=en');
  expect([response.status, response.headers['content-type']]).toEqual([200, 'text/calendar; charset=utf-8']);
  const { calendar, method, events } = parseCalendar(response.text);
  expect([method, String(calendar.getFirstPropertyValue('refresh-interval'))]).toEqual([undefined, 'PT1H']);
  expect(response.text).toContain('X-WR-CALNAME:Fjord\\; school\r\n');
  const uid = (...ids: number[]) => `date-${me.id}-${ids.join('-')}@localhost`;
  const shown = (one: (typeof events)[number]) => [one.uid, one.status, one.summary, one.start, one.end, one.location];
  const online = ['CONFIRMED', 'Soup'];
  expect(events.map(shown)).toEqual([
    [uid(single), 'CONFIRMED', 'Knots & <bends>', '2030-03-30T08:00:00Z', '2030-03-30T14:00:00Z', 'Brygga, Bergen'],
    [uid(canceled), 'CANCELLED', 'Knots & <bends>', '2030-04-01', '2030-04-02', undefined],
    [uid(days), ...online, '2030-07-01', '2030-07-03', undefined],
    [uid(several), ...online, '2030-11-01T17:00:00Z', '2030-11-01T19:00:00Z', 'Online'],
    [uid(several, 2), ...online, '2030-11-08T17:00:00Z', '2030-11-08T19:00:00Z', 'Online'],
  ]);
  expect(events[0]!.url).toBe(`${catalog.url}/dates/knots-and-bends-${single}`);
  expect(response.text).not.toContain('meet.example');
  expect(revealsSecret(response.text)).toBe(false);
});

test('a course, a topic and a date have calendars of their own, with the same UIDs', async () => {
  const school = await createSchool();
  const { me, tag, knots, single, canceled, several } = school;
  const uids = async (path: string) => (await readEvents(school, path)).map(({ uid }) => uid);
  const [first, last] = [single, canceled].map((id) => `date-${me.id}-${id}@localhost`);
  expect(await uids(`/courses/knots-and-bends-${knots}/calendar.ics`)).toEqual([first, last]);
  for (const value of [tag.id, 'sea']) expect(await uids(`/calendar.ics?tag=${value}`)).toEqual([first, last]);
  expect(await uids('/calendar.ics?tag=other')).toEqual([]);
  expect(await uids(`/dates/knots-and-bends-${single}/calendar.ics`)).toEqual([first]);
  expect(await uids(`/dates/knots-and-bends-${canceled}/calendar.ics`)).toEqual([last]);
  expect(await uids(`/dates/soup-${several}/calendar.ics`)).toHaveLength(2);
});

/** Moves the last change of the school's data back by a day: a sequence counts seconds. */
const moveChangesBack = (me: Provider) =>
  database.pool.query(
    `update provider_state set catalog_changed_at = catalog_changed_at - interval '1 day',
      dates_changed_at = dates_changed_at - interval '1 day' where provider_id = $1`,
    [me.id],
  );

test('an event whose place is renamed has a higher sequence', async () => {
  const school = await createSchool();
  const { me, single, locationId } = school;
  const path = `/dates/x-${single}/calendar.ics`;
  await moveChangesBack(me);
  const [before] = await readEvents(school, path);
  expect((await me.put(`/v2/locations/${locationId}`, { title: 'Nordnes' })).status).toBe(200);
  const [after] = await readEvents(school, path);
  expect([before!.location, after!.location]).toEqual(['Brygga, Bergen', 'Nordnes, Bergen']);
  expect(after!.sequence).toBeGreaterThan(before!.sequence);
});

test('a calendar from memory has the headers of the first response', async () => {
  const { catalog, single } = await createSchool();
  const path = `/dates/x-${single}/calendar.ics`;
  const [first, second] = [await catalog.get(path), await catalog.get(path)];
  expect(first.headers['content-disposition']).toBe('attachment; filename="course.ics"');
  const others = ({ date, 'x-request-id': id, ...headers }: typeof first.headers) => [headers, typeof date, typeof id];
  expect(others(second.headers)).toEqual(others(first.headers));
});

test('the times of bookings are in no feed', async () => {
  const { me, catalog, knots, single } = await createSchool();
  await addParticipants(me, knots, single, [1]);
  await changeDate(me, single, { updatedAt: '2029-05-06 07:08:09' });
  for (const path of ['/feed.atom', '/sitemap.xml', '/calendar.ics', `/dates/x-${single}/calendar.ics`])
    expect([path, /2029-?05-?06/.test((await catalog.get(path)).text)]).toEqual([path, false]);
  const feed = (await catalog.get('/feed.atom')).text;
  expect(readTexts(feed, 'updated').slice(1)).toEqual(readTexts(feed, 'published'));
});

test('a date that is canceled keeps its UID and has a higher sequence, and its copy is not current any more', async () => {
  const school = await createSchool();
  const path = `/dates/x-${school.single}/calendar.ics`;
  await moveChangesBack(school.me);
  const [before] = await readEvents(school, path);
  const etag = String((await school.catalog.get(path)).headers['etag']);
  expect((await school.catalog.get(path, { 'if-none-match': etag })).status).toBe(304);
  await changeDate(school.me, school.single, { statusId: 3 });
  expect((await school.catalog.get(path, { 'if-none-match': etag })).status).toBe(200);
  const [after] = await readEvents(school, path);
  expect([after!.uid, after!.status]).toEqual([before!.uid, 'CANCELLED']);
  expect(after!.sequence).toBeGreaterThan(before!.sequence);
  const inSchool = (await readEvents(school, '/calendar.ics')).find(({ uid }) => uid === before!.uid);
  expect(inSchool!.status).toBe('CANCELLED');
});

test('a postponed date is tentative', async () => {
  const school = await createSchool();
  await changeDate(school.me, school.single, { statusId: 4 });
  expect((await readEvents(school, '/calendar.ics'))[0]!.status).toBe('TENTATIVE');
});

test('a calendar has the 500 earliest dates', async () => {
  const me = await createProvider();
  const course = await me.course({ title: 'Ørret og sjø '.repeat(10) });
  const { get } = await openCatalog(testApp, me);
  const ids = [await addDate(me, course, { startAt: '2032-01-01' })];
  await write(me, (tx) =>
    tx.$client.query(
      `insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id,
        created_at, updated_at)
      select provider_id, course_id, '2030-01-01'::date + n, '2030-01-01'::date + n, '2030-01-01', zone, 'no', now(), now()
      from course_dates, generate_series(1, 500) n where provider_id = $1`,
      [me.id],
    ),
  );
  const { events } = parseCalendar((await get('/calendar.ics')).text);
  expect(events.map(({ start }) => start)).toEqual(events.map(({ start }) => start).toSorted());
  expect([events.length, events.some(({ uid }) => uid === `date-${me.id}-${ids[0]!}@localhost`)]).toEqual([500, false]);
});

test('a calendar has the next 1,000 meetings, with the numbers of their dates', async () => {
  const me = await createProvider();
  const course = await me.course({ title: 'Knots' });
  const { get } = await openCatalog(testApp, me);
  const days = { startAt: '2030-01-01', endAt: '2032-12-31' };
  const [first, second] = [await addDate(me, course, days), await addDate(me, course, { startAt: '2035-01-01' })];
  const early = await addDate(me, course, { startAt: '2030-02-01' });
  await write(me, (tx) =>
    tx.$client.query(
      `insert into gatherings (provider_id, course_date_id, gathering_at, gathering_end_at, zone, created_at, updated_at)
      select provider_id, id, start_at + n + time '09:00', start_at + n + time '10:00', zone, now(), now()
      from course_dates, generate_series(0, 999) n where provider_id = $1 and id = any($2)`,
      [me.id, [first, second]],
    ),
  );
  const { events } = parseCalendar((await get('/calendar.ics')).text);
  const uid = (id: number, number = '') => `date-${me.id}-${id}${number}@localhost`;
  expect([events.length, events[0]!.uid, events[998]!.uid]).toEqual([1_000, uid(first), uid(first, '-999')]);
  expect(events.slice(999).map((one) => one.uid)).toEqual([uid(early)]);
  const { events: ofDate } = parseCalendar((await get(`/dates/knots-${second}/calendar.ics`)).text);
  expect([ofDate.length, ofDate.at(-1)!.uid]).toEqual([1_000, uid(second, '-1000')]);
});

test.each(['/calendar.ics', '/feed.atom', '/sitemap.xml', '/dates.json', ''])(
  'what %s ignores is another address of the same copy',
  async (path) => {
    const { catalog, single, knots } = await createSchool();
    const read = async (url: string, headers = {}) => {
      const { status, text, headers: answered } = await catalog.get(url, headers);
      return { status, text, etag: String(answered['etag']) };
    };
    const plain = await read(path);
    for (const query of ['?x=1', '?page=1&utm_source=mail', '?tag=', '?lang=xx'])
      if (path !== '/dates.json' || query === '?x=1') expect(await read(`${path}${query}`)).toEqual(plain);
    expect((await read(`${path}?x=2`, { 'if-none-match': plain.etag })).status).toBe(304);
    expect((await read(`${path}?lang=no`)).etag).not.toBe(plain.etag);
    for (const item of [`courses/x-${knots}`, `dates/x-${single}`])
      expect((await read(`/${item}/calendar.ics`)).etag).toBe(
        (await read(`/${item.replace('x', 'y')}/calendar.ics`)).etag,
      );
  },
);

test('a document that is not in memory counts as five requests, and an unknown parameter makes none', async () => {
  const options = { limits: { ...limits, publicRequestsPerMinute: 20 } };
  const limited = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(() => limited.close());
  const { get } = await openCatalog(limited, await limited.createProvider());
  const statuses = async (name: string) => {
    const found = [];
    for (let n = 0; n < 6; n += 1) found.push((await get(`/calendar.ics?${name}=${n}`)).status);
    return found;
  };
  // The first look-up of the name counts, too.
  expect(await statuses('x')).toEqual([200, 200, 200, 200, 200, 200]);
  expect(await statuses('tag')).toEqual([200, 200, 200, 429, 429, 429]);
  expect((await get('/calendar.ics')).status).toBe(200);
});

test.each(['/dates.json?tag', '/calendar.ics?tag', '/feed.atom?tag', '?tag', '?category', '?q=a&category'])(
  '%s of a topic that no public course has reads no dates',
  async (path) => {
    const { catalog } = await createSchool();
    const readsDates = async (query: string) => {
      const sent = await recordStatements(async () => expect((await catalog.get(query)).status).toBe(200));
      return sent.some(({ text }) => text.includes('course_dates'));
    };
    expect(await readsDates(`${path}=other`)).toBe(false);
    expect(await readsDates(path.split('?')[0]!)).toBe(true);
  },
);

test('what is not public has no calendar', async () => {
  const { catalog, me, knots } = await createSchool();
  const hidden = await addDate(me, knots, { isVisible: false });
  const other = await createProvider();
  const foreign = await addDate(other, await other.course(), {});
  const paths = [`/dates/x-${hidden}`, `/dates/x-${foreign}`, '/dates/x', '/courses/x-999999', '/courses/x'];
  for (const path of paths) expect([path, (await catalog.get(`${path}/calendar.ics`)).status]).toEqual([path, 404]);
});

/** The texts of elements by their names, in order; the feed has no nested equal names but those of entries. */
const readTexts = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)</${name}>`, 'g'))].map(([, text]) => text);

test('the feed has the newest dates first, well-formed, with stable ids', async () => {
  const { me, catalog, single, days, several, tag } = await createSchool();
  const response = await catalog.get('/feed.atom?lang=en');
  expect([response.status, response.headers['content-type']]).toEqual([200, 'application/atom+xml; charset=utf-8']);
  const { text } = response;
  const tagUri = (id: number | string) => `tag:localhost,2026:${me.id}/dates${id && `/${id}`}`;
  expect(readTexts(text, 'id')).toEqual([tagUri(''), ...[days, several, single].map(tagUri)]);
  expect(readTexts(text, 'title')).toEqual(['New dates – Fjord; school', 'Soup', 'Soup', 'Knots &amp; &lt;bends&gt;']);
  expect(readTexts(text, 'published').map((at) => at!.slice(0, 10))).toEqual([
    '2026-01-03',
    '2026-01-02',
    '2026-01-01',
  ]);
  expect(readTexts(text, 'summary').at(-1)).toBe(
    'Saturday 30 March 2030, 09:00–15:00. Brygga, Bergen. NOK\u00a0800.00',
  );
  expect(text).toContain(`<link rel="self" type="application/atom+xml" href="${catalog.url}/feed.atom"/>`);
  expect(text).toContain(`href="${catalog.url}/dates/soup-${days}"`);
  expect(readTexts((await catalog.get(`/feed.atom?tag=${tag.id}`)).text, 'id')).toEqual([
    tagUri(tag.id),
    tagUri(single),
  ]);
  const empty = await catalog.get('/feed.atom?tag=other');
  expect(readTexts(empty.text, 'updated')[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/);
});

test('a feed has 50 entries at most', async () => {
  const me = await createProvider();
  const course = await me.course();
  for (let n = 0; n < 52; n += 1) await addDate(me, course, {});
  const { get } = await openCatalog(testApp, me);
  expect(readTexts((await get('/feed.atom')).text, 'published')).toHaveLength(50);
});

test('a filter that is cut within a character is read', async () => {
  const { catalog } = await createSchool();
  const tag = `${'a'.repeat(199)}😀`;
  for (const path of ['/feed.atom', '/calendar.ics', ''])
    expect([path, (await catalog.get(`${path}?tag=${encodeURIComponent(tag)}`)).status]).toEqual([path, 200]);
});

test.each(['9999-12-31', '0001-01-01'])('a date on %s has pages and calendars', async (day) => {
  const { me, catalog, knots } = await createSchool();
  const times = { startTimeAt: '09:00', endTimeAt: '15:00', visibleWhenPassedDeadline: true };
  const id = await addDate(me, knots, { startAt: day, ...times, timezone: 'America/New_York' });
  const item = `/dates/knots-and-bends-${id}`;
  const paths = [item, `${item}/calendar.ics`, '', '/calendar.ics', '/feed.atom', '/sitemap.xml', '/dates.json'];
  for (const path of paths) expect([path, (await catalog.get(path)).status]).toEqual([path, 200]);
  const { text } = await catalog.get(`${item}/calendar.ics`);
  expect(text).toContain(`\r\nDTSTART:${day.replaceAll('-', '')}T`);
});

test('texts that XML cannot hold are left out', async () => {
  const { me, catalog, single } = await createSchool();
  await changeDate(me, single, { title: 'a\u0001b\ufffe]]>"c' });
  expect((await catalog.get('/feed.atom')).text).toContain('<title>ab]]&gt;&quot;c</title>');
});

test('local times are the instants of PostgreSQL, also when clocks change', async () => {
  const zones = ['Europe/Oslo', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'Pacific/Apia', 'UTC'];
  const days = [
    '2030-03-30',
    '2030-03-31',
    '2030-10-27',
    '2030-03-10',
    '2030-11-03',
    '2030-04-07',
    '2030-10-06',
    '9999-12-31',
  ];
  // Their offsets have seconds, which a text with its offset cannot have.
  const early = ['0001-01-01', '0999-12-31'];
  const times = ['00:00:00', '01:30:00', '02:00:00', '02:30:00', '03:00:00', '12:00:00', '23:59:59'];
  const all = zones.flatMap((zone) =>
    [...days, ...early].flatMap((day) => times.map((time) => ({ zone, local: `${day} ${time}` }))),
  );
  const { rows } = await database.pool.query<{ ms: string }>(
    `select (extract(epoch from timezone(zone, local::timestamp)) * 1000)::bigint as ms
      from unnest($1::text[], $2::text[]) with ordinality as t (zone, local, n) order by n`,
    [all.map(({ zone }) => zone), all.map(({ local }) => local)],
  );
  expect(all.map(({ zone, local }) => toInstant(local, zone))).toEqual(rows.map(({ ms }) => Number(ms)));
  for (const [n, { zone, local }] of all.entries())
    if (!early.includes(local.slice(0, 10))) expect(Date.parse(withOffset(local, zone))).toBe(Number(rows[n]!.ms));
  expect(withOffset('2030-07-01 09:00', 'America/New_York')).toBe('2030-07-01T09:00:00-04:00');
});
