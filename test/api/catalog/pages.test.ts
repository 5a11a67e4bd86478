import { eq, sql } from 'drizzle-orm';
import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { courseTranslations } from '../../../src/database/tables/courses.ts';
import { providers } from '../../../src/database/tables/providers.ts';
import { createBookableDate } from '../../support/booking.ts';
import { openCatalog } from '../../support/catalog.ts';
import { readMain } from '../../support/catalog-form.ts';
import { addDate, addGathering, addLocation, changeDate } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { limits, openTestApp, send, settings, sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const english = { 'accept-language': 'en' };

/** A school with one date of a course in Bergen. */
async function school() {
  const me = await testApp.createProvider('Catalog School');
  const catalog = await openCatalog(testApp, me);
  const locationId = await addLocation(me, { title: 'The boathouse', address: 'Bryggen 1', city: 'Bergen' });
  const course = { title: 'Knots & ropes', price_value: 1000 };
  const date = { startAt: '2030-06-10', startTimeAt: '09:00', endTimeAt: '15:30', locationId, capacityMax: 12 };
  const made = await createBookableDate(me, { course, ...date });
  return { me, ...catalog, ...made };
}

test('the start page has the coming dates with time, place, price and places', async () => {
  const { get, base, dateId } = await school();
  const { status, text, headers } = await get('', english);
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toContain(`<a href="${base}/dates/knots-and-ropes-${dateId}">Knots &amp; ropes</a>`);
  for (const part of [
    'Monday 10 June 2030',
    '09:00–15:30',
    'The boathouse, Bergen',
    'NOK',
    'Places available',
    'June 2030',
  ])
    expect(text).toContain(part);
});

test.each([
  ['q=rope%20KNOTS', true],
  ['q=boat', true],
  ['q=bread', false],
  ['place=bergen', true],
  ['place=Oslo', false],
  ['month=2030-06', true],
  ['month=2030-07', false],
  ['language=no', true],
  ['language=en', false],
  ['category=nothing', false],
  ['place=online', false],
  ['tag=nothing', false],
  ['q=', true],
])('the search ?%s finds the date: %s', async (query, isFound) => {
  const { get } = await school();
  const { status, text } = await get(`?${query}`, english);
  expect([status, text.includes('Knots &amp; ropes</a>')]).toEqual([200, isFound]);
});

test('the search finds words as addresses write them, and dates online by the word of the pages', async () => {
  const { me, get } = await school();
  const title = 'Førstehjelp på Ærøya for José';
  await createBookableDate(me, { course: { title }, isVirtual: true, startAt: '2030-06-11' });
  const find = async (q: string) => {
    const { text } = await get(`?q=${encodeURIComponent(q)}`, english);
    return [text.includes(`${title}</a>`), text.includes('Knots &amp; ropes</a>')];
  };
  for (const q of ['forstehjelp', 'FØRSTEHJELP', 'aeroya pa', 'ærøya', 'jose', 'online', 'på nett', 'Online jose'])
    expect([q, ...(await find(q))]).toEqual([q, true, false]);
  for (const q of ['forste-hjelp', 'fjorsten', 'online knots'])
    expect([q, ...(await find(q))]).toEqual([q, false, false]);
});

test('the search shows the values that it was sent with', async () => {
  const { me, get, courseId } = await school();
  await addDate(me, courseId, { isVirtual: true, startAt: '2030-07-01' });
  const chosen = async (query: string) => {
    const { text } = await get(`?${query}`, english);
    return [...text.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value]) => value);
  };
  expect(await chosen('place=bergen&month=2030-06')).toEqual(['Bergen', '2030-06']);
  expect(await chosen('place=Atlantis')).toEqual(['Atlantis']);
  expect(await chosen('')).toEqual([]);
  const found = await get('?place=online', english);
  expect(found.text.match(/<a href="[^"]*\/dates\/knots-and-ropes-/g)).toHaveLength(1);
});

test('a page after the last is the last', async () => {
  const { get } = await school();
  expect((await get('?page=999', english)).text).toContain('Knots &amp; ropes</a>');
});

test('below the path of PUBLIC_URL, which a proxy strips, all addresses have that path once', async () => {
  const { base, dateId } = await school();
  const publicUrl = 'https://x.example/base';
  const { app } = await openTestApp(testApp.database, { settings: { ...settings, publicUrl } });
  onTestFinished(() => app.close());
  const path = `${base}/dates/knots-and-ropes-${dateId}`;
  const { status, text } = await send(app, { method: 'GET', url: `${path}?x=1&lang=en`, headers: english });
  expect(status).toBe(200);
  expect(text).toContain(`<link rel="canonical" href="${publicUrl}${path}"/>`);
  expect(text).toContain(`<a href="/base${path}?lang=no"`);
  for (const [, href] of text.matchAll(/href="(\/[^"]*)"/g)) expect(href).toMatch(/^\/base\/(?!base\/)/);
});

test('a filter does not show other schools', async () => {
  const one = await school();
  await school();
  const { text } = await one.get('?q=knots');
  expect(text.match(/dates\/knots-and-ropes-\d+/g)).toEqual([`dates/knots-and-ropes-${one.dateId}`]);
});

test('the course page has its texts in the language of the visitor, and its dates', async () => {
  const { me, get, base, courseId, dateId } = await school();
  await me.put(`/v2/courses/${courseId}`, { text_description: '<p>Om knuter</p><script>alert(1)</script>' });
  await write(me, (tx, now) =>
    tx.insert(courseTranslations).values({
      ...{ providerId: me.id, courseId, languageId: 'en', textDescription: '<p>About knots</p>' },
      ...{ createdAt: now, updatedAt: now },
    }),
  );
  const path = `/courses/knots-and-ropes-${courseId}`;
  const [en, no] = [await get(path, english), await get(`${path}?lang=no`, english)];
  expect([en.status, no.status]).toEqual([200, 200]);
  expect(en.text).toContain('<p>About knots</p>');
  expect(no.text).toContain('<p>Om knuter</p>');
  expect(no.text).toContain('<html lang="no">');
  for (const { text } of [en, no]) expect(text).not.toMatch(/<script(?! type="application\/ld\+json")/);
  expect(en.text).toContain(`href="${base}/dates/knots-and-ropes-${dateId}"`);
  // The chosen language stays in links.
  expect(no.text).toContain(`href="${base}/dates/knots-and-ropes-${dateId}?lang=no"`);
});

test('the pages of a course and its date have all texts of the course, each with its heading', async () => {
  const { me, get, courseId, dateId } = await school();
  const texts = { description: 'About', audience: 'Sailors', prerequisites: 'None', duration: 'Two evenings' };
  const more = { credits: 'Five', submissions: 'A knot', place: 'By the sea', hotel_info: 'A hut' };
  const fields = Object.entries({ ...texts, ...more }).map(([name, text]) => [`text_${name}`, `<p>${text}</p>`]);
  await me.put(`/v2/courses/${courseId}`, Object.fromEntries(fields));
  const pages = [`/courses/knots-and-ropes-${courseId}`, `/dates/knots-and-ropes-${dateId}`];
  for (const path of pages)
    expect(readMain(await get(path, english))).toContain(
      [
        ...['|About the course', 'About', 'Who the course is for', 'Sailors', 'What you should know before', 'None'],
        ...['Duration', 'Two evenings', 'Credits', 'Five', 'Assignments', 'A knot', 'About the place', 'By the sea'],
        ...['Staying overnight', 'A hut|'],
      ].join('|'),
    );
});

test('the date page names its zone where it differs, its gatherings and its deadline', async () => {
  const { me, get, courseId } = await school();
  const zoned = await addDate(me, courseId, {
    title: 'Knots in London',
    timezone: 'Europe/London',
    zone: 'Europe/London',
    startTimeAt: '09:00',
  });
  await addGathering(me, zoned, {
    gatheringAt: '2030-06-10 09:00',
    gatheringEndAt: '2030-06-10 10:00',
    theme: 'Bowline',
  });
  const { status, text } = await get(`/dates/knots-in-london-${zoned}`, english);
  expect(status).toBe(200);
  for (const part of ['Europe/London', 'Bowline', 'Book by', '/book">Book</a>']) expect(text).toContain(part);
  // Once: not beside the time of the other date.
  for (const path of ['', `/courses/knots-and-ropes-${courseId}`, '/feed.atom'])
    expect((await get(path, english)).text.match(/09:00[^.]*? \(Europe\/\w+\)/g), path).toHaveLength(1);
});

test.each([
  [{ statusId: 3 }, 'Canceled', false],
  [{ capacityMax: 1, numConfirmed: 1 }, 'Fully booked', false],
  [{ capacityMax: 1, numConfirmed: 1, capacityWait: 1 }, 'Full – there is a waiting list', true],
  [{ capacityMax: 5, numConfirmed: 2 }, '3 places left', true],
])('a date with %j says "%s"', async (values, expected, mayBeBooked) => {
  const { me, get, dateId } = await school();
  await changeDate(me, dateId, values);
  const { text } = await get(`/dates/knots-and-ropes-${dateId}`, english);
  expect([text.includes(expected), text.includes('/book"')]).toEqual([true, mayBeBooked]);
});

test('an external address for bookings replaces the form', async () => {
  const { me, get, dateId } = await school();
  await changeDate(me, dateId, { externalBookingUrl: 'https://book.example/a?b=1&c=2' });
  const { text } = await get(`/dates/knots-and-ropes-${dateId}`, english);
  expect(text).toContain('href="https://book.example/a?b=1&amp;c=2">Book at book.example</a>');
  await changeDate(me, dateId, { externalBookingUrl: 'https://xn--pmelding-9za.example/' });
  const { text: norwegian } = await get(`/dates/knots-and-ropes-${dateId}?lang=no`);
  expect(norwegian).toContain('>Meld på hos påmelding.example</a>');
  expect(text).not.toContain('/book"');
});

test('other slugs of an item, and former slugs of the school, redirect', async () => {
  const { me, anyone, get, base, slug, dateId, courseId } = await school();
  const to = async (path: string) => {
    const { status, headers } = await anyone.get(path);
    return [status, headers['location']];
  };
  expect(await to(`${base}/dates/other-${dateId}?lang=en`)).toEqual([
    301,
    `${base}/dates/knots-and-ropes-${dateId}?lang=en`,
  ]);
  expect(await to(`${base}/courses/${courseId}`)).toEqual([301, `${base}/courses/knots-and-ropes-${courseId}`]);
  await me.put('/v2/catalog-settings', { slug: `${slug}-new` });
  expect(await to(`${base}/courses/x?q=1`)).toEqual([301, `${base}-new/courses/x?q=1`]);
  expect(await to(`/catalog/${slug.toUpperCase()}-NEW`)).toEqual([301, `${base}-new`]);
  expect((await get('')).status).toBe(301);
});

test('a catalog that is off, and of an inactive or closed school, is not found', async () => {
  const { me, get } = await school();
  const change = (values: object) => write(me, (tx) => tx.update(providers).set(values).where(eq(providers.id, me.id)));
  expect((await get('')).status).toBe(200);
  await change({ isActive: false });
  expect((await get('')).status).toBe(404);
  await change({ isActive: true, closedAt: '2026-01-01' });
  expect((await get('')).status).toBe(404);
  await change({ closedAt: null });
  await me.put('/v2/catalog-settings', { enabled: false });
  const { status, text, headers } = await get('', english);
  expect([status, headers['cache-control']]).toEqual([404, 'no-store']);
  expect(text).toContain('<h1>Page not found</h1>');
});

test('a date that is over or deleted is gone, and one that was never public is not found', async () => {
  const { me, get, courseId } = await school();
  const over = await addDate(me, courseId, { startAt: '2020-01-01', visibleWhenPassedDeadline: false });
  const deleted = await addDate(me, courseId, { deletedAt: '2026-01-01' });
  const hidden = await addDate(me, courseId, { isVisible: false });
  const otherCourse = await me.course();
  const ofDeletedCourse = await addDate(me, otherCourse);
  const hiddenOfDeletedCourse = await addDate(me, otherCourse, { isVisible: false });
  expect((await me.request('DELETE')(`/v2/courses/${otherCourse}`)).status).toBe(200);
  const statuses = [];
  for (const rest of ['', '/calendar.ics', '/book'])
    for (const id of [over, deleted, ofDeletedCourse, hidden, hiddenOfDeletedCourse, 999_999_999])
      statuses.push((await get(`/dates/x-${id}${rest}`)).status);
  expect(statuses).toEqual([1, 2, 3].flatMap(() => [410, 410, 410, 404, 404, 404]));
});

test.each(['/courses/x', '/dates/0', '/dates/x-99999999999999999999', '/nothing', '/%E0%A4%A', '/dates/x-1/nothing'])(
  '%s is a page of its own that is not found',
  async (path) => {
    const { get } = await school();
    const { status, text } = await get(path, english);
    expect([status, text.includes('<h1>Page not found</h1>')]).toEqual([404, true]);
  },
);

test.each(['/catalog', '/catalog/', '/catalog/%'])('%s is a page that is not found', async (url) => {
  const { status, text, headers } = await send(testApp.app, { method: 'GET', url, headers: english });
  expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  expect(text).toContain('<h1>Page not found</h1>');
});

test('a page is answered by 304 until the data change', async () => {
  const { me, get, dateId } = await school();
  const path = `/dates/knots-and-ropes-${dateId}`;
  const first = await get(path);
  const tag = { 'if-none-match': String(first.headers['etag']) };
  expect((await get(path, tag)).status).toBe(304);
  await changeDate(me, dateId, { capacityMax: 3 });
  const second = await get(path, { ...tag, ...english });
  expect([second.status, second.text.includes('3 places left')]).toEqual([200, true]);
  await me.put('/v2/catalog-settings', { theme: { accent: '#aa0000' } });
  expect((await get(path, { 'if-none-match': String(second.headers['etag']), ...english })).status).toBe(200);
});

test('the start page of 400 dates is at most 60 kB compressed, and the page of a date 20 kB', async () => {
  const { me, base, courseId, dateId } = await school();
  const words = Array.from({ length: 800 }, () => randomBytes(4).toString('hex')).join(' ');
  await me.put(`/v2/courses/${courseId}`, { text_description: `<p>${words}</p>` });
  await write(me, (tx) =>
    tx.execute(sql`insert into course_dates (provider_id, course_id, title, start_at, end_at, deadline_at, zone,
        teaching_language_id, created_at, updated_at)
      select provider_id, course_id, 'Knots ' || md5(n::text), start_at + n, end_at + n, deadline_at + n, zone,
        teaching_language_id, created_at, updated_at
      from course_dates, generate_series(1, 399) n where provider_id = ${me.id} and id = ${dateId}`),
  );
  const read = async (path: string) => {
    const headers = { 'accept-encoding': 'gzip', ...english };
    const { rawPayload } = await testApp.app.inject({ url: `${base}${path}`, headers });
    return { bytes: rawPayload.length, text: gunzipSync(rawPayload).toString() };
  };
  const start = await read('');
  expect(start.text.match(/<a href="[^"]*\/dates\/knots-/g)).toHaveLength(400);
  expect(start.bytes).toBeLessThanOrEqual(60_000);
  const page = await read(`/dates/knots-and-ropes-${dateId}`);
  expect(page.text).toContain(words);
  expect(page.bytes).toBeLessThanOrEqual(20_000);
});

test('requests of an address above its limit are refused, and no others with them', async () => {
  const { base, me, courseId } = await school();
  const options = { trustProxy: ['127.0.0.1'], limits: { ...limits, publicRequestsPerMinute: 3 } };
  const { app } = await openTestApp(testApp.database, options);
  onTestFinished(() => app.close());
  const get = async (ip: string, path: string) =>
    (await send(app, { method: 'GET', url: `${base}${path}`, headers: { 'x-forwarded-for': ip } })).status;
  const paths = ['/none-1', '/none-2', '/theme-1.css', '/theme-2.css', `?q=a`];
  const statuses = [];
  for (const path of paths) statuses.push(await get('192.0.2.1', path));
  // The first look-up of a name counts, too.
  expect(statuses).toEqual([404, 404, 429, 429, 429]);
  await me.put(`/v2/courses/${courseId}`, { title: 'Changed' });
  const together = await Promise.all(['1', '1', '2', '2', '3'].map((n) => get(`192.0.2.${n}`, '')));
  expect(together).toEqual([429, 429, 200, 200, 200]);
});

test('pages set no cookie, allow no script, and are for any cache that asks again', async () => {
  const { get, dateId, courseId } = await school();
  const paths = [`/courses/knots-and-ropes-${courseId}`, `/dates/knots-and-ropes-${dateId}`, '/nothing', '/dates.json'];
  for (const path of [...paths, `/dates/knots-and-ropes-${dateId}/book`, '/calendar.ics', '/feed.atom', '/sitemap.xml'])
    expect((await get(path)).headers).not.toHaveProperty('set-cookie');
  const { headers } = await get('');
  expect(headers).toMatchObject({
    'cache-control': 'public, no-cache',
    vary: 'Accept-Encoding, Accept-Language',
    'content-security-policy': expect.stringContaining("default-src 'none'") as string,
    'referrer-policy': 'no-referrer',
  });
  expect(headers).not.toHaveProperty('set-cookie');
});

test('the style sheet of the school has its colours, readable in both schemes', async () => {
  const { me, get, anyone } = await school();
  await me.put('/v2/catalog-settings', { theme: { accent: '#ffee00', background: '#ffffff', font: 'serif' } });
  const [, theme] = /href="([^"]*\/theme-[0-9a-f]+\.css)"/.exec((await get('')).text) ?? [];
  const { status, text, headers } = await anyone.get(theme!);
  expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  expect(text).toMatch(/--fill: #ffee00; --on-fill: #000000/);
  expect(text).toContain('font-family: Georgia');
  // Yellow is too light for links on white.
  expect(text).not.toMatch(/prefers-color-scheme: light[^}]*--link: #ffee00/);
  expect((await anyone.get(theme!.replace(/theme-\w+/, 'theme-0'))).status).toBe(404);
});

test('other methods are refused', async () => {
  const { base, anyone } = await school();
  const { status, headers } = await anyone.request('PUT', base);
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
});

test('the footer has the contact of the school and its terms, each where the school has it', async () => {
  const { me, get } = await school();
  const readFooter = async () => /<footer>.*<\/footer>/s.exec((await get('', english)).text)?.[0];
  const contact = '<h2>Contact</h2><ul><li>55 00 00 00</li></ul>';
  const legal = '<ul class="legal"><li><a href="https://school.example/terms">Terms</a></li></ul>';
  expect(await readFooter()).toBeUndefined();
  await me.put('/v2/catalog-settings', { terms_url: 'https://school.example/terms' });
  expect(await readFooter()).toBe(`<footer>${legal}</footer>`);
  await write(me, (tx) => tx.update(providers).set({ phone: '55 00 00 00' }).where(eq(providers.id, me.id)));
  expect(await readFooter()).toBe(`<footer>${contact}${legal}</footer>`);
  await me.put('/v2/catalog-settings', { terms_url: null });
  expect(await readFooter()).toBe(`<footer>${contact}</footer>`);
  const webAddress = 'www.school.example';
  await write(me, (tx) => tx.update(providers).set({ webAddress }).where(eq(providers.id, me.id)));
  expect(await readFooter()).toContain(`<a href="https://${webAddress}/">${webAddress}</a>`);
});

test('a date after its deadline says so in place of its places', async () => {
  const { me, get, courseId } = await school();
  const past = { startAt: '2020-06-10', visibleWhenPassedDeadline: true, capacityMax: 12, numConfirmed: 5 };
  const dateId = await addDate(me, courseId, past);
  const { status, text } = await get(`/dates/knots-and-ropes-${dateId}`, english);
  expect(status).toBe(200);
  expect(text.match(/<p class="seats[^/]*/g)).toEqual(['<p class="seats closed">The deadline for booking has passed<']);
  expect(text).not.toMatch(/places left|class="button/);
});
