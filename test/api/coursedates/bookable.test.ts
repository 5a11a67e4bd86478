import { expect, test } from 'vitest';
import { book, bookOrFail, createBookableDate } from '../../support/booking.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Item = Record<string, any>;
type Date = Parameters<typeof createBookableDate>[1];

const isBookable = async (me: Provider, dateId: number) => {
  const response = await me.get(`/v2/coursedates?coursedate_id=${dateId}&include[]=bookable&include_deleted=1`);
  return response.json<{ items: Item[] }>().items[0]!['bookable'] as boolean;
};
const today = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const cases: [string, Date, boolean][] = [
  ['a date with a free seat', { capacityMax: 1 }, true],
  ['a date without a limit of seats', {}, true],
  ['a canceled date with a free seat', { statusId: 3, capacityMax: 1 }, false],
  ['a date of the status will run', { statusId: 2 }, true],
  ['a date whose deadline was two days ago', { deadlineAt: today(-2) }, false],
  ['a date whose deadline is in two days', { deadlineAt: today(2) }, true],
  ['a date of an inactive course', { course: { active: false } }, false],
];

test.each(cases)('bookable of %s says what a booking gets', async (_, date, expected) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, date);
  expect(await isBookable(me, dateId)).toBe(expected);
  expect((await book(me, dateId)).status).toBe(expected ? 201 : 400);
});

test('the deadline ends with its day in the zone of the date', async () => {
  const me = await createProvider();
  const now = new Date();
  const dayIn = (zone: string) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now);
  const [early, late] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
  for (const [timezone, expected] of [
    [early, false],
    [late, true],
  ] as const) {
    const { dateId } = await createBookableDate(me, { deadlineAt: dayIn(late), timezone, zone: timezone });
    expect([timezone, await isBookable(me, dateId)]).toEqual([timezone, expected]);
    expect((await book(me, dateId)).status).toBe(expected ? 201 : 400);
  }
});

test('a full date is not bookable, with a waiting list either; an overbook place makes it so', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me, { capacityMax: 1, capacityWait: 5 });
  await bookOrFail(me, dateId);
  expect(await isBookable(me, dateId)).toBe(false);
  await me.put(`/v2/courses/${courseId}/coursedates/${dateId}`, { capacity_overbook: 1 });
  expect(await isBookable(me, dateId)).toBe(true);
  await bookOrFail(me, dateId);
  expect(await isBookable(me, dateId)).toBe(false);
});

test('a deleted date is not bookable, and neither is one that is over', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  await me.request('DELETE')(`/v2/courses/${courseId}/coursedates/${dateId}`);
  expect(await isBookable(me, dateId)).toBe(false);
  const past = await createBookableDate(me, { startAt: today(-3), endAt: today(-3), deadlineAt: today(-3) });
  expect(await isBookable(me, past.dateId)).toBe(false);
});

test('all lists and single dates show bookable, on request alone, with each key that reads dates', async () => {
  const me = await createProvider();
  const { courseId, dateId } = await createBookableDate(me);
  const bookableIn = (found: Item) => [found].flat().map((one) => (one['items'] ?? [one])[0]['bookable']);
  const paths = [
    '/v2/coursedates',
    '/v2/nextcoursedates',
    `/v2/courses/${courseId}/coursedates`,
    `/v2/courses/${courseId}/coursedates/${dateId}`,
    `/v2/batch/coursedates?course_ids=${courseId}`,
  ];
  for (const path of paths) {
    const joint = path.includes('?') ? '&' : '?';
    const shown = await me.get(`${path}${joint}include[]=bookable`);
    expect([path, ...bookableIn(shown.json<Item>())]).toEqual([path, true]);
    expect([path, ...bookableIn((await me.get(path)).json<Item>())]).toEqual([path, undefined]);
    expect(shown.headers['etag'], path).toBeUndefined();
  }
});
