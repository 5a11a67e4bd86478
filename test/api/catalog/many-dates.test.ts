import { expect, test } from 'vitest';
import { parseCalendar } from '../../support/calendars.ts';
import { openCatalog } from '../../support/catalog.ts';
import { readMain } from '../../support/catalog-form.ts';
import { addDate } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const english = { 'accept-language': 'en' };

test('a course whose date is after 2,000 others is shown with it', async () => {
  const me = await testApp.createProvider();
  const { get, base, anyone } = await openCatalog(testApp, me);
  const busy = await me.course({ title: 'Busy course' });
  const late = await me.course({ title: 'Late course' });
  await me.course({ title: 'Silent course' });
  await addDate(me, busy, { startAt: '2030-01-01', createdAt: '2026-01-01' });
  await write(me, (tx) =>
    tx.$client.query(
      `insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id,
        created_at, updated_at)
      select provider_id, course_id, start_at, end_at, deadline_at, zone, 'no', created_at, updated_at
      from course_dates, generate_series(1, 2000) where provider_id = $1`,
      [me.id],
    ),
  );
  const dateId = await addDate(me, late, { startAt: '2031-05-05' });
  const date = `/dates/late-course-${dateId}`;
  const read = async (path: string) => (await get(path, english)).text;

  const others = (await read('')).split('Courses without a coming date')[1]!;
  expect([others.includes('Silent course'), others.includes('Late course')]).toEqual([true, false]);
  const page = await read(`/courses/late-course-${late}`);
  expect(page).toContain(`href="${base}${date}"`);
  expect(readMain({ text: page })).not.toContain('Tell me when there is a date');
  const form = await anyone.get(`${base}/courses/late-course-${late}/interest`);
  expect(form.status).toBe(303);
  const { events } = parseCalendar(await read(`/courses/late-course-${late}/calendar.ics`));
  expect(events.map(({ uid }) => uid)).toEqual([`date-${me.id}-${dateId}@localhost`]);
  const feed = await read('/feed.atom');
  expect(/<entry>.*?<title>([^<]*)/s.exec(feed)?.[1]).toBe('Late course');
  const sitemap = await read('/sitemap.xml');
  expect([sitemap.includes(`${base}${date}<`), sitemap.match(/\/dates\//g)?.length]).toEqual([true, 2_002]);
});
