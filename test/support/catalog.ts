import type { CatalogSettingsChange } from '../../src/resources/catalog-settings/body-schema.ts';
import { updateCatalogSettings } from '../../src/resources/catalog-settings/service.ts';
import { createBookableDate } from './booking.ts';
import { addDate } from './dates.ts';
import { visitor } from './pages.ts';
import type { Provider, TestApp } from './test-app.ts';

let schools = 0;

/** A school with its catalog switched on, and a visitor of it. */
export async function openCatalog(testApp: TestApp, change: CatalogSettingsChange = {}) {
  const me = await testApp.createProvider(`Catalog School ${process.pid}-${(schools += 1)}`);
  const { slug } = await updateCatalogSettings(await me.ctx(), { enabled: true, ...change });
  const base = `/catalog/${slug!}`;
  const anyone = visitor(testApp.app);
  return {
    ...{ me, slug: slug!, base, anyone },
    /** A page of the catalog, by its path below the start page. */
    get: (path = '', headers: Record<string, string> = {}) => anyone.get(`${base}${path}`, headers),
  };
}

const secret = 'Hidden-item-7d1f';

/** Courses and dates that no stranger may see, each with its reason in its title; `secret` is in each title. */
export async function addHiddenItems(me: Provider) {
  const course = (fields: object) =>
    createBookableDate(me, { course: { title: `${secret} ${nextNumber()}`, ...fields } });
  const shown = await createBookableDate(me, { course: { title: `Shown ${nextNumber()}` } });
  const hiddenCourses = [
    await course({ type: 'internal' }),
    await course({ publishing_platform: 'own' }),
    await course({ active: false }),
  ];
  const deleted = await me.course({ title: `${secret} ${nextNumber()}` });
  await me.request('DELETE')(`/v2/courses/${deleted}`);
  const title = `${secret} date`;
  const dates = [
    await addDate(me, shown.courseId, { title, isVisible: false }),
    await addDate(me, shown.courseId, { title, deletedAt: '2026-01-01' }),
    await addDate(me, shown.courseId, { title, startAt: '2020-01-01', visibleWhenPassedDeadline: false }),
  ];
  return {
    secret,
    shown,
    courseIds: [...hiddenCourses.map(({ courseId }) => courseId), deleted],
    dateIds: [...hiddenCourses.map(({ dateId }) => dateId), ...dates],
  };
}

let numbers = 0;
const nextNumber = () => (numbers += 1);
