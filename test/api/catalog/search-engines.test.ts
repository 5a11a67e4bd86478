import { afterAll, expect, test } from 'vitest';
import { addDate, addGathering, addLocation, changeDate, isoDay } from '../../support/dates.ts';
import { demoDatabase } from '../../support/demo-database.ts';
import { openTestApp, openTestAppForFile, openTestDatabase, send, settings } from '../../support/test-app.ts';
import { openCatalog, openOwnHost } from '../../support/catalog.ts';

const testApp = await openTestAppForFile();
const { createProvider } = testApp;
const demo = await openTestApp(openTestDatabase((await demoDatabase(afterAll)).name));
afterAll(() => demo.close());

type Data = Record<string, any>;
type Read = (path: string) => Promise<{ status: number; text: string }>;

const readMeta = (html: string, name: string) =>
  new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"/>`).exec(html)?.[1];
const readCanonical = (html: string) => /<link rel="canonical" href="([^"]*)"\/>/.exec(html)?.[1];
const isIndexed = (html: string) => readMeta(html, 'robots') === undefined;
const readData = (html: string) =>
  [...html.matchAll(/<script type="application\/ld\+json">([^<]*)<\/script>/g)].map(
    ([, json]) => JSON.parse(json!) as Data,
  );
const readAddresses = (xml: string) => [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address]) => address!);

const readDemo: Read = (url) => send(demo.app, { method: 'GET', url });
async function demoBase() {
  const { rows } = await demo.database.pool.query<{ slug: string }>(
    'select slug from catalog_settings where is_enabled',
  );
  return `/catalog/${rows[0]!.slug}`;
}

/** The pages that are reached from the start page by links, with their addresses; nothing but pages of the school. */
async function crawl(read: Read, start: string) {
  const pages = new Map<string, string>();
  const waiting = [start];
  while (waiting.length > 0) {
    const path = waiting.pop()!;
    if (pages.has(path)) continue;
    const { status, text } = await read(path);
    expect([path, status]).toEqual([path, 200]);
    pages.set(path, text);
    const links = [...text.matchAll(/<a [^>]*href="([^"?#]*)"/g)].map(([, href]) => href!);
    waiting.push(...links.filter((href) => href.startsWith(start) && !/\.(ics|atom)$|\/book$/.test(href)));
  }
  return pages;
}

test('the sitemap has each page of the demo school once, and no other page may be indexed', async () => {
  const start = await demoBase();
  const pages = await crawl(readDemo, start);
  const { text } = await readDemo(`${start}/sitemap.xml`);
  const listed = readAddresses(text);
  expect(listed).toHaveLength(new Set(listed).size);
  expect(listed.length).toBeGreaterThan(20);
  const indexed = [...pages].filter(([, html]) => isIndexed(html)).map(([path]) => settings.publicUrl + path);
  const canceled = [];
  for (const address of listed.filter((one) => !indexed.includes(one))) {
    const { status, text: html } = await readDemo(address.slice(settings.publicUrl.length));
    expect([address, status, isIndexed(html), readData(html)[0]!['eventStatus']]).toEqual([
      ...[address, 200, true],
      'https://schema.org/EventCancelled',
    ]);
    canceled.push(address);
  }
  expect(listed.toSorted()).toEqual([...indexed, ...canceled].toSorted());
  for (const [path, html] of pages) expect(readCanonical(html)).toBe(settings.publicUrl + path);
  expect([...text.matchAll(/<lastmod>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d<\/lastmod>/g)]).toHaveLength(
    listed.filter((address) => address.includes('/courses/')).length,
  );
});

/**
 * The properties that Google requires, and those that it recommends and every date of the demo has. From its pages
 * "Event (Event) structured data" and "Course list (Course) structured data" in Google Search Central, read in 2026.
 */
const required: Record<string, string[]> = {
  EducationEvent: ['name', 'startDate', 'location'],
  Place: ['address'],
  VirtualLocation: ['url'],
  Offer: ['price', 'priceCurrency', 'availability', 'url'],
  ItemList: ['itemListElement'],
  ListItem: ['position', 'url'],
  Course: ['name', 'description', 'provider'],
  Organization: ['name', 'url'],
};
const recommended: Record<string, string[]> = {
  EducationEvent: ['endDate', 'eventStatus', 'eventAttendanceMode', 'description', 'organizer', 'offers'],
  Offer: ['validThrough'],
};

/** The properties that the objects in structured data lack, by their types. */
function missingIn(data: unknown): string[] {
  if (Array.isArray(data)) return data.flatMap(missingIn);
  if (typeof data !== 'object' || data === null) return [];
  const { '@type': type, ...rest } = data as Data;
  const names = [...(required[String(type)] ?? []), ...(recommended[String(type)] ?? [])];
  const missing = names.filter((name) => rest[name] === undefined || rest[name] === '' || rest[name]?.length === 0);
  return [...missing.map((name) => `${String(type)} without ${name}`), ...Object.values(rest).flatMap(missingIn)];
}

test('each demo date has the properties that Google requires and recommends', async () => {
  const start = await demoBase();
  const { text } = await readDemo(`${start}/sitemap.xml`);
  const found: Record<string, Data> = {};
  const placeless: string[] = [];
  for (const address of readAddresses(text).filter((one) => one.includes('/dates/'))) {
    const { text: html } = await readDemo(address.slice(settings.publicUrl.length));
    const [data, ...more] = readData(html);
    if (html.includes('The school will tell you where')) placeless.push(address);
    expect([address, data?.['@type'], data?.['url'], more]).toEqual([address, 'EducationEvent', address, []]);
    found[address] = data!;
  }
  expect(Object.keys(found).length).toBeGreaterThan(10);
  const lacking = Object.entries(found).flatMap(([address, data]) => missingIn(data).map((one) => [address, one]));
  expect(lacking).toEqual(placeless.map((address) => [address, 'EducationEvent without location']));
  // The demo has a date whose place is not known yet, which is no event for Google until then.
  expect(placeless).toHaveLength(1);
  const times = Object.values(found).flatMap(({ startDate, endDate }) => [startDate, endDate] as string[]);
  expect(times.filter((time) => !/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[+-]\d\d:\d\d)?$/.test(time))).toEqual([]);
});

test('the start page lists the courses of the demo school as Google requires, and each course has a page', async () => {
  const start = await demoBase();
  const [list] = readData((await readDemo(start)).text);
  expect(list!['@type']).toBe('ItemList');
  expect(missingIn(list)).toEqual([]);
  const elements = list!['itemListElement'] as Data[];
  expect(elements.map(({ position }) => position as number)).toEqual(elements.map((_one, n) => n + 1));
  expect(elements.length).toBeGreaterThanOrEqual(3);
  for (const { url, item } of elements) {
    const [course] = readData((await readDemo(String(url).slice(settings.publicUrl.length))).text);
    expect(course).toEqual({ '@context': 'https://schema.org', ...(item as Data) });
  }
});

test('an object that lacks a required property is found', () => {
  expect(missingIn({ '@type': 'EducationEvent', name: 'x', location: [{ '@type': 'Place', name: 'x' }] })).toEqual([
    ...['startDate', ...recommended['EducationEvent']!].map((name) => `EducationEvent without ${name}`),
    'Place without address',
  ]);
});

async function createSchool() {
  const me = await createProvider('Fjord & school');
  const title = '</script><b>Knots</b>';
  const courseId = await me.course({ title, price_value: 800, text_lead: '<p>Learn <b>knots</b> &amp; more.</p>' });
  const locationId = await addLocation(me, { title: 'Brygga', address: 'Bryggen 1', zipcode: '5003', city: 'Bergen' });
  const times = { startTimeAt: '09:00', endTimeAt: '15:00', deadlineAt: '2030-10-20', locationId };
  const dateId = await addDate(me, courseId, { startAt: '2030-10-26', endAt: '2030-10-27', ...times });
  const catalog = await openCatalog(testApp, me);
  const page = async (id = dateId) => (await catalog.get(`/dates/x-${id}`)).headers['location'] as string;
  const read = async (id = dateId) => {
    const { text } = await catalog.get((await page(id)).slice(catalog.base.length));
    return { text, data: readData(text)[0]! };
  };
  return { me, catalog, courseId, dateId, read };
}

test('a date is an event with times in the offset of their days, a place and an offer', async () => {
  const { catalog, read, dateId } = await createSchool();
  const { data, text } = await read();
  const url = `${catalog.url}/dates/script-b-knots-b-${dateId}`;
  expect(data).toEqual({
    ...{ '@context': 'https://schema.org', '@type': 'EducationEvent', name: '</script><b>Knots</b>' },
    ...{ startDate: '2030-10-26T09:00:00+02:00', endDate: '2030-10-27T15:00:00+01:00' },
    eventStatus: 'https://schema.org/EventScheduled',
    eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode',
    location: {
      ...{ '@type': 'Place', name: 'Brygga' },
      address: {
        ...{ '@type': 'PostalAddress', streetAddress: 'Bryggen 1', postalCode: '5003', addressLocality: 'Bergen' },
      },
    },
    ...{ description: 'Learn knots & more.', url },
    organizer: { '@type': 'Organization', name: 'Fjord & school', url: catalog.url },
    offers: {
      ...{ '@type': 'Offer', price: '800.00', priceCurrency: 'NOK', availability: 'https://schema.org/InStock', url },
      validThrough: '2030-10-20T23:59:59+02:00',
    },
  });
  expect(text).not.toContain('</script><b>');
  expect(text.split('</script>')).toHaveLength(2);
});

test('an event says what is canceled, postponed, online, full and without times', async () => {
  const { me, read, dateId } = await createSchool();
  const data = async (values: Parameters<typeof changeDate>[2]) => {
    await changeDate(me, dateId, values);
    return (await read()).data;
  };
  expect((await data({ isVirtual: true }))['eventAttendanceMode']).toMatch(/MixedEventAttendanceMode$/);
  const online = await data({ locationId: null });
  expect(online['eventAttendanceMode']).toMatch(/OnlineEventAttendanceMode$/);
  expect(online['location']).toEqual({ '@type': 'VirtualLocation', url: online['url'] as string });
  const closed = await data({ deadlineAt: isoDay(-1) });
  expect(closed['offers']).toMatchObject({ availability: 'https://schema.org/SoldOut' });
  const full = await data({
    deadlineAt: '2030-10-26',
    capacityMax: 1,
    numConfirmed: 1,
    startTimeAt: null,
    endTimeAt: null,
  });
  expect(full['offers']).toMatchObject({ availability: 'https://schema.org/SoldOut' });
  expect([full['startDate'], full['endDate']]).toEqual(['2030-10-26', '2030-10-27']);
  expect((await data({ statusId: 4 }))['eventStatus']).toMatch(/EventPostponed$/);
  expect((await data({ statusId: 3 }))['eventStatus']).toMatch(/EventCancelled$/);
  expect(await data({ isVirtual: false })).not.toHaveProperty('location');
});

test('pages that are over, parts, filtered or searched are not indexed and not in the sitemap', async () => {
  const { me, catalog, courseId, dateId, read } = await createSchool();
  const over = await addDate(me, courseId, { startAt: isoDay(-3) });
  const part = await addDate(me, courseId, { parentId: dateId });
  const canceledPart = await addDate(me, courseId, { parentId: dateId, statusId: 3 });
  for (const id of [over, part, canceledPart]) {
    const { text } = await read(id);
    expect([id, isIndexed(text), readData(text)]).toEqual([id, false, []]);
  }
  expect(isIndexed((await read()).text)).toBe(true);
  for (const path of ['/?q=x', '/?page=2', '/none']) {
    const { text } = await catalog.get(path);
    expect([path, isIndexed(text), readData(text)]).toEqual([path, false, []]);
  }
  const canceled = await addDate(me, courseId, { startAt: '2030-11-01', statusId: 3 });
  expect(isIndexed((await read(canceled)).text)).toBe(true);
  const ids = readAddresses((await catalog.get('/sitemap.xml')).text).map((address) => /-(\d+)$/.exec(address)?.[1]);
  expect(ids.slice(1)).toEqual([courseId, dateId, canceled].map(String));
});

test('a school that search engines leave out has no sitemap, and noindex on each page', async () => {
  const { me, catalog, read } = await createSchool();
  await me.put('/v2/catalog-settings', { index: false });
  expect((await catalog.get('/sitemap.xml')).status).toBe(404);
  for (const text of [(await read()).text, (await catalog.get('')).text]) expect(isIndexed(text)).toBe(false);
});

test('pages name their feeds, and have Open Graph', async () => {
  const { catalog, read, courseId, dateId } = await createSchool();
  const { text } = await read();
  const { base } = catalog;
  expect(text).toContain(
    `<link rel="alternate" type="text/calendar" title="Fjord &amp; school" href="${base}/calendar.ics"`,
  );
  expect(text).toContain(
    `<link rel="alternate" type="application/atom+xml" title="New dates" href="${base}/feed.atom"`,
  );
  expect(text).toContain(`<a href="${base}/dates/script-b-knots-b-${dateId}/calendar.ics">Add to your calendar</a>`);
  expect(['og:type', 'og:site_name', 'og:url'].map((name) => readMeta(text, name))).toEqual([
    ...['website', 'Fjord &amp; school', readCanonical(text)],
  ]);
  expect(readMeta(text, 'og:title')).toContain('Knots');
  const course = await catalog.get(`/courses/script-b-knots-b-${courseId}?lang=no`);
  const ofCourse = `${base}/courses/script-b-knots-b-${courseId}/calendar.ics?lang=no`;
  expect(course.text).toContain(`<a href="webcal://localhost:3000${ofCourse}">Abonner på kalenderen</a>`);
  expect(course.text).toContain(`<a href="${ofCourse}">Adressen til kalenderen (.ics)</a>`);
  const start = (await catalog.get('')).text;
  expect(start).toContain(`<a href="webcal://localhost:3000${base}/calendar.ics">Subscribe to the calendar</a>`);
  expect(start).toContain(`<a href="${base}/feed.atom">`);
});

test('a host name of a school has its own robots.txt, sitemap and addresses', async () => {
  const { me, catalog, dateId } = await createSchool();
  const { host, read } = await openOwnHost(testApp, me);
  const robots = await read('/robots.txt');
  expect([robots.headers['content-type'], robots.text]).toEqual([
    'text/plain; charset=utf-8',
    `User-agent: *\nAllow: /\nSitemap: http://${host}/sitemap.xml\n`,
  ]);
  const listed = readAddresses((await read('/sitemap.xml')).text);
  expect(listed).toContain(`http://${host}/dates/script-b-knots-b-${dateId}`);
  const { items } = (await read('/dates.json')).json<{ items: Data[] }>();
  expect(items[0]!['url']).toBe(`http://${host}/dates/script-b-knots-b-${dateId}`);
  for (const path of ['/calendar.ics', '/feed.atom'])
    expect((await read(path)).text).toContain(`http://${host}/dates/`);
  expect((await read('/catalog/course-dates.js')).status).toBe(200);
  const below = (await catalog.get('/sitemap.xml')).text;
  expect(readAddresses(below)).toEqual(listed);
  expect((await read('/robots.txt', 'localhost:3000')).text).toBe('User-agent: *\nAllow: /\n');
  await me.put('/v2/catalog-settings', { index: false });
  expect((await read('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
});

test('gatherings without a place of their own do not change the event', async () => {
  const { me, read, dateId } = await createSchool();
  const before = (await read()).data;
  await addGathering(me, dateId, { eventUrl: 'https://meet.example' });
  const { data, text } = await read();
  expect([data, text.includes('meet.example')]).toEqual([before, false]);
});
