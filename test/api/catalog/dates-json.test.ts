import { expect, inject, onTestFinished, test } from 'vitest';
import { addDate, addLocation, changeDate, isoDay } from '../../support/dates.ts';
import { limits, openTestApp, openTestAppForFile, openTestDatabase } from '../../support/test-app.ts';
import { openCatalog } from '../../support/catalog.ts';

const testApp = await openTestAppForFile();
const { createProvider } = testApp;

type Item = Record<string, any> & { id: number; title: string };
type Page = { items: Item[]; next_page: number | null };

async function createSchool() {
  const me = await createProvider('Fjord school');
  const locationId = await addLocation(me, { title: 'Brygga', address: 'Bryggen 1', zipcode: '5003', city: 'Bergen' });
  const tag = (await me.post('/v2/course-tags', { title: 'Sjø & hav' })).json<{ id: number }>();
  const knots = await me.course({ title: 'Knots', price_value: 1000, tags: [tag.id] });
  const soup = await me.course({ title: 'Soup' });
  const times = { startTimeAt: '09:00', endTimeAt: '15:00', locationId, capacityMax: 12, numConfirmed: 0 };
  const first = await addDate(me, knots, { startAt: '2030-06-10', deadlineAt: '2030-06-01', ...times });
  const second = await addDate(me, soup, { startAt: '2030-07-10', isVirtual: true });
  const catalog = await openCatalog(testApp, me);
  const read = async (query = '') => (await catalog.get(`/dates.json${query}`)).json<Page>();
  return { me, catalog, read, tag, knots, soup, first, second };
}
const readIds = ({ items }: Page) => items.map(({ id }) => id);

test('dates.json has the coming dates with what a page shows of them', async () => {
  const { catalog, read, tag, knots, first, second } = await createSchool();
  const { items, next_page } = await read('?lang=en');
  expect([items.map(({ id }) => id), next_page]).toEqual([[first, second], null]);
  expect(items[0]).toEqual({
    ...{ id: first, title: 'Knots', course: { id: knots, title: 'Knots' } },
    url: `${catalog.url}/dates/knots-${first}`,
    ...{ start_at: '2030-06-10', end_at: '2030-06-10', start_time_at: '09:00:00', end_time_at: '15:00:00' },
    timezone: 'Europe/Oslo',
    place: { title: 'Brygga', address: 'Bryggen 1', city: 'Bergen', additional_info: null, online: false },
    price: { value: 1000, currency: 'NOK', vat_percentage: 0 },
    seats: { status: 'open', left: 12 },
    ...{ status: 'planned', deadline_at: '2030-06-01', categories: [], tags: [{ id: tag.id, title: 'Sjø & hav' }] },
    language: { id: 'no', title: 'Norwegian' },
    booking_url: `${catalog.url}/dates/knots-${first}/book`,
  });
  expect(items[1]).toMatchObject({ price: null, seats: { status: 'open', left: null } });
  expect(items[1]!['place']).toEqual({ title: null, address: null, city: null, additional_info: null, online: true });
});

test('any site may read it, caches keep it for a minute, and its ETag tells whether a copy is current', async () => {
  const { catalog } = await createSchool();
  const first = await catalog.get('/dates.json', { origin: 'https://other.example' });
  expect([first.status, first.headers]).toMatchObject([
    200,
    {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=60, stale-while-revalidate=600',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      vary: 'Accept-Encoding, Accept-Language',
    },
  ]);
  expect(first.headers['access-control-allow-credentials']).toBeUndefined();
  expect(first.headers['set-cookie']).toBeUndefined();
  const etag = String(first.headers['etag']);
  for (const read of [catalog.get, catalog.head]) {
    const { status, headers } = await read('/dates.json', { 'if-none-match': etag });
    expect([status, headers['etag'], headers['access-control-allow-origin']]).toEqual([304, etag, '*']);
    expect(headers['cache-control']).toContain('max-age=60');
  }
});

test('a change of a date changes the ETag', async () => {
  const { me, catalog, first } = await createSchool();
  const before = await catalog.get('/dates.json');
  await changeDate(me, first, { title: 'Bowlines' });
  const after = await catalog.get('/dates.json', { 'if-none-match': String(before.headers['etag']) });
  expect([after.status, after.json<Page>().items[0]!.title]).toEqual([200, 'Bowlines']);
});

test('labels are in the language of the query, or else of the browser', async () => {
  const { catalog } = await createSchool();
  const languageOf = async (query: string, accept: string) =>
    (await catalog.get(`/dates.json${query}`, { 'accept-language': accept })).json<Page>().items[0]!['language'];
  expect(await languageOf('', 'nb')).toEqual({ id: 'no', title: 'Norsk' });
  expect(await languageOf('?lang=en', 'nb')).toEqual({ id: 'no', title: 'Norwegian' });
});

test('from, to, tag and q select dates', async () => {
  const { read, tag, first, second } = await createSchool();
  expect(readIds(await read('?from=2030-06-10&to=2030-06-10'))).toEqual([first]);
  expect(readIds(await read('?from=2030-06-11'))).toEqual([second]);
  expect(readIds(await read('?to=2030-06-09'))).toEqual([]);
  expect(readIds(await read(`?tag=${tag.id}`))).toEqual([first]);
  expect(readIds(await read('?tag=sj%C3%B8%20%26%20HAV'))).toEqual([first]);
  expect(readIds(await read('?q=sou'))).toEqual([second]);
  expect(readIds(await read('?q=bergen+knots&from=&page='))).toEqual([first]);
});

test('a page has at most 100 dates, and names the next one', async () => {
  const me = await createProvider();
  const course = await me.course();
  const ids: number[] = [];
  for (let n = 0; n < 102; n += 1) ids.push(await addDate(me, course, { startAt: '2031-01-01' }));
  const { get } = await openCatalog(testApp, me);
  const page = async (query: string) => (await get(`/dates.json${query}`)).json<Page>();
  const [first, second, third] = [await page(''), await page('?page=2'), await page('?page=3')];
  expect([first.items.length, first.next_page]).toEqual([100, 2]);
  expect([readIds(first), readIds(second)].flat()).toEqual(ids);
  expect([second.next_page, third]).toEqual([null, { items: [], next_page: null }]);
  const few = await page('?limit=3&page=2');
  expect([readIds(few), few.next_page]).toEqual([ids.slice(3, 6), 3]);
});

test.each([
  ['from=10.06.2030', 'from'],
  ['to=2030-02-30', 'to'],
  ['page=0', 'page'],
  ['page=x', 'page'],
  ['limit=101', 'limit'],
  ['lang=fr', 'lang'],
  [`q=${'x'.repeat(201)}`, 'q'],
  ['from=x&to=y', 'from,to'],
])('%s is refused', async (query, names) => {
  const { catalog } = await createSchool();
  const { status, headers, text } = await catalog.get(`/dates.json?${query}`);
  expect([status, JSON.parse(text)]).toEqual([400, { error: `Field(s) not valid: ${names}` }]);
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
});

test('errors are JSON: a catalog that is off, another method', async () => {
  const { me, catalog } = await createSchool();
  const post = await catalog.read('POST')('/dates.json');
  expect([post.status, post.headers['allow'], post.json()]).toEqual([
    405,
    'GET, HEAD',
    { error: 'This path takes GET, HEAD' },
  ]);
  await me.put('/v2/catalog-settings', { enabled: false });
  const off = await catalog.get('/dates.json');
  expect([off.status, off.json()]).toEqual([404, { error: 'Catalog not found' }]);
});

test('a date is bookable as its page says', async () => {
  const { me, read, first, catalog } = await createSchool();
  const bookingUrl = async () => (await read()).items.find(({ id }) => id === first)!['booking_url'] as unknown;
  await changeDate(me, first, { externalBookingUrl: 'https://book.example/knots' });
  expect(await bookingUrl()).toBe('https://book.example/knots');
  await changeDate(me, first, { externalBookingUrl: 'javascript:alert(1)' });
  expect(await bookingUrl()).toBe(`${catalog.url}/dates/knots-${first}/book`);
  await changeDate(me, first, { statusId: 4 });
  expect([await bookingUrl(), (await read()).items[0]!['status']]).toEqual([null, 'postponed']);
  await changeDate(me, first, { statusId: 1, startAt: isoDay(5), endAt: isoDay(5), deadlineAt: isoDay(-2) });
  expect(await bookingUrl()).toBeNull();
});

test('responses from memory are not counted by address', async () => {
  const options = { limits: { ...limits, publicRequestsPerMinute: 3 } };
  const limited = await openTestApp(openTestDatabase(inject('shared')), options);
  onTestFinished(() => limited.close());
  const { get } = await openCatalog(limited, await limited.createProvider());
  const statuses = async (toPath: (n: number) => string) => {
    const found = [];
    for (let n = 0; n < 5; n += 1) found.push((await get(toPath(n))).status);
    return found;
  };
  expect(await statuses(() => '/dates.json')).toEqual([200, 200, 200, 200, 200]);
  expect(await statuses((n) => `/dates.json?q=${n}`)).toContain(429);
  expect((await get('/dates.json?q=x')).json()).toEqual({ error: 'Too many requests from this address' });
});
