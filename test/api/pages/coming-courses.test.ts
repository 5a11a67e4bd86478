import { expect, test } from 'vitest';
import { addDate, addGathering } from '../../support/dates.ts';
import { createOrder, createUser } from '../../support/orders.ts';
import { signedInVisitor } from '../../support/pages.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

async function newPerson() {
  const me = await createProvider();
  const userId = await createUser(me, { firstname: 'Kari' });
  const browser = await signedInVisitor(app, me, userId, {});
  /** Books a course with a date between two days, and gatherings on others, in days from today. */
  async function book(title: string, [start, end]: [number, number], meetings: number[] = [], statusId = 2) {
    const courseId = await me.course({ title });
    const dateId = await addDate(me, courseId, { startAt: inDays(start), endAt: inDays(end), statusId });
    for (const days of meetings) {
      const day = inDays(days);
      await addGathering(me, dateId, { gatheringAt: `${day} 18:00`, gatheringEndAt: `${day} 20:00` });
    }
    await createOrder(me, { courseId, dateId, users: [userId] });
  }
  return { browser, book };
}

test('future courses are ordered by their next meeting', async () => {
  const { browser, book } = await newPerson();
  await book('Next week', [7, 7]);
  await book('Running, tomorrow', [-30, 60], [-30, 1, 60]);
  await book('Running, in ten days', [-20, 40], [-20, 10, 40]);
  await book('In three days', [3, 20], [3, 20]);
  await book('Meetings over', [-10, 90], [-10, -3]);
  await book('Under way without meetings', [-1, 5]);
  const { text } = await browser.get('/my');
  const titles = [...text.slice(text.indexOf('id="coming"')).matchAll(/<h3><a [^>]*>([^<]*)</g)].map(
    ([, title]) => title,
  );
  expect(titles).toEqual([
    ...['Under way without meetings', 'Running, tomorrow', 'In three days', 'Next week'],
    ...['Running, in ten days', 'Meetings over'],
  ]);
});

test('a seat on a postponed date is not shown as confirmed', async () => {
  const { browser, book } = await newPerson();
  await book('Postponed', [5, 5], [], 4);
  const { text } = await browser.get('/my');
  expect(text).toContain('<p class="enrolment-status postponed">You have a place</p>');
  expect(text).not.toContain('enrolment-status confirmed');
  const [, path] = /<link rel="stylesheet" href="([^"]+)"/.exec(text)!;
  expect((await browser.get(path!)).text).toContain(
    '.enrolment-status.postponed { color: var(--wait); background: var(--wait-back); }',
  );
});
