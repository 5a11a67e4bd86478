import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { providers } from '../../../src/database/tables/providers.ts';
import { approvePartner, requestPartner } from '../../../src/domains/school/schools/partner-service.ts';
import { openCatalog } from '../../support/catalog.ts';
import { addDate, changeDate } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { createPublicCatalog, revealsSecret, secret } from '../../support/public-catalog.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();

/** A catalog with items that are hidden for every reason, and a partner's. The contact data of a school are public. */
async function createSchool() {
  const catalog = await createPublicCatalog(testApp);
  const { me, ids, publicIds } = catalog;
  const contact = { phone: '55 00 00 00', email: 'post@school.example', emailBooking: '' };
  await write(me, (tx) => tx.update(providers).set(contact).where(eq(providers.id, me.id)));
  const partner = await testApp.createProvider();
  const partnerCourse = await partner.course({ title: secret });
  const partnerDate = await addDate(partner, partnerCourse, { title: secret });
  await requestPartner(testApp.database, me.id, partner.id);
  await approvePartner(testApp.database, partner.id, me.id);
  const hidden = (all: number[], open: number[]) => all.filter((id) => !open.includes(id));
  return {
    ...{ me, publicIds, ...(await openCatalog(testApp, me)) },
    hiddenCourses: [...hidden(ids.courses, publicIds.courses), partnerCourse],
    hiddenDates: [...hidden(ids.dates, publicIds.dates), partnerDate],
  };
}
type School = Awaited<ReturnType<typeof createSchool>>;

/** Part of the secret: pages repeat the words of a search. */
const word = secret.slice(-4);
const below = (kind: string, ids: number[], rest = '') => ids.map((id) => `/${kind}/x-${id}${rest}`);

/** Documents that list dates: one that is shown is in each. */
const lists: Record<string, (school: School) => string[]> = {
  'start page': () => ['', '?page=2', '?lang=no'],
  search: () => [`?q=${word}`, `?q=${word}&lang=en`],
  'course page': ({ publicIds: { courses } }) => below('courses', courses.slice(0, 1)),
  'dates.json': () => ['/dates.json', `/dates.json?q=${word}`],
  'school calendar': () => ['/calendar.ics'],
  'course calendar': ({ publicIds: { courses } }) => below('courses', courses.slice(0, 1), '/calendar.ics'),
  'Atom feed': () => ['/feed.atom'],
  sitemap: () => ['/sitemap.xml'],
};

/** Documents of one item. */
const items: Record<string, (school: School) => string[]> = {
  'pages of public items': ({ publicIds: { courses, dates } }) => [
    ...below('courses', courses),
    ...below('dates', dates),
    ...below('dates', dates, '/calendar.ics'),
  ],
  'booking forms of public dates': ({ publicIds: { dates } }) => below('dates', dates, '/book'),
  'course pages': ({ hiddenCourses }) => below('courses', hiddenCourses),
  'course calendars': ({ hiddenCourses }) => below('courses', hiddenCourses, '/calendar.ics'),
  'date pages': ({ hiddenDates }) => below('dates', hiddenDates),
  'date calendars': ({ hiddenDates }) => below('dates', hiddenDates, '/calendar.ics'),
  'booking forms': ({ hiddenDates }) => below('dates', hiddenDates, '/book'),
};

/** A redirect has the current slug of an item, which is its title. */
async function read({ get }: School, path: string) {
  const first = await get(path);
  const location = String(first.headers['location'] ?? '');
  const followed = location.startsWith('/') ? await testApp.app.inject({ url: location }) : undefined;
  return {
    status: followed?.statusCode ?? first.status,
    text: `${first.text} ${location} ${followed?.body ?? ''}`,
  };
}
const reveals = (text: string) => revealsSecret(text) || text.toLowerCase().includes(secret.toLowerCase());

test('a hidden item is in no document of a catalog until it is shown', async () => {
  const school = await createSchool();
  const revealing = async (documents: typeof lists) => {
    const found: string[] = [];
    for (const [name, toPaths] of Object.entries(documents))
      for (const path of toPaths(school)) {
        const { status, text } = await read(school, path);
        expect([path, status < 500]).toEqual([path, true]);
        if (reveals(text)) found.push(name);
      }
    return [...new Set(found)];
  };
  expect(await revealing({ ...lists, ...items })).toEqual([]);
  for (const name of ['course pages', 'course calendars', 'date pages', 'date calendars', 'booking forms'])
    for (const path of items[name]!(school))
      expect([path, [404, 410].includes((await read(school, path)).status)]).toEqual([path, true]);

  // Negative control: a date of the first public course, once it is shown.
  const [dateId] = school.hiddenDates;
  await changeDate(school.me, dateId!, { isVisible: true, parentId: null, locationId: null });
  expect(await revealing(lists)).toEqual(Object.keys(lists));
  const ofDate = ['date pages', 'date calendars', 'booking forms'];
  expect(await revealing(Object.fromEntries(ofDate.map((name) => [name, items[name]!])))).toEqual(ofDate);
});

test('the lists have each public date that is no part of another', async () => {
  const school = await createSchool();
  const { items: found } = (await school.me.get('/v2/coursedates?limit=250')).json<{
    items: { coursedate_id: number; parent_id: number | null; status_id: number }[];
  }>();
  const isShown = (date: (typeof found)[number]) =>
    school.publicIds.dates.includes(date.coursedate_id) && date.parent_id === null && date.status_id !== 3;
  const shown = found.filter(isShown).map(({ coursedate_id }) => coursedate_id);
  expect(shown.length).toBeGreaterThan(1);
  const { items: listed } = (await school.get('/dates.json')).json<{ items: { id: number }[] }>();
  expect(listed.map(({ id }) => id).sort()).toEqual(shown.sort());
});
