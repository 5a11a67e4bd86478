import { and, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { courses } from '../../../src/database/tables/courses.ts';
import { addDate, addLocation } from '../../support/dates.ts';
import { createCustomer, createOrder, createUser, write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Timestamps = { createdAt: string; updatedAt: string };
type Setup = { path: string; create: (me: Provider, courseId: number, at: Timestamps) => Promise<number> };

const orderOf = async (me: Provider, courseId: number, at: Timestamps) =>
  createOrder(me, { courseId, order: at, participant: at, dateId: await addDate(me, courseId, at) });
async function createCourseAt(me: Provider, _course: number, at: Timestamps) {
  const id = await me.course();
  const isCourse = and(eq(courses.providerId, me.id), eq(courses.id, id));
  await write(me, (tx) => tx.update(courses).set(at).where(isCourse));
  return id;
}
const lists: Setup[] = [
  { path: '/v2/courses', create: createCourseAt },
  { path: '/v2/coursedates', create: (me, course, at) => addDate(me, course, at) },
  { path: '/v2/locations', create: (me, _course, at) => addLocation(me, at) },
  { path: '/v2/customers', create: (me, _course, at) => createCustomer(me, at) },
  { path: '/v2/orders', create: async (me, course, at) => (await orderOf(me, course, at)).orderId },
  { path: '/v2/participants', create: async (me, course, at) => (await orderOf(me, course, at)).participantIds[0]! },
  {
    path: '/v2/search-users?lastname=Sorted',
    create: (me, _course, at) => createUser(me, { lastname: 'Sorted', ...at }),
  },
];

type Item = { id?: number; coursedate_id?: number };

/** The ids of all pages, by the address of the next page. */
async function readAll(me: Provider, path: string, query: string) {
  const ids: number[] = [];
  let url: string | undefined = `${path}${path.includes('?') ? '&' : '?'}limit=2&${query}`;
  for (let page = 1; url; page += 1) {
    const response = await me.get(url);
    expect(response.status, url).toBe(200);
    const body = response.json<Item[] | { items: Item[]; pagination: { next_page: number | null } }>();
    const items = Array.isArray(body) ? body : body.items;
    ids.push(...items.map((item) => (item.id ?? item.coursedate_id)!));
    const link = /<([^>]*)>; rel="next"/.exec(String(response.headers['link'] ?? ''))?.[1];
    const next: string | undefined = link && new URL(link).pathname + new URL(link).search;
    const numbered = Array.isArray(body) || body.pagination.next_page === null;
    url = next ?? (numbered ? undefined : `${path}?limit=2&page=${page + 1}&${query}`);
  }
  return ids;
}

test.each(lists)('the order of $path', async ({ path, create }) => {
  const [me, other] = [await createProvider(), await createProvider()];
  const course = path === '/v2/courses' ? 0 : await me.course();
  const at = (created: string, updated: string) => ({
    createdAt: `2026-03-${created} 10:00+01`,
    updatedAt: `2026-04-${updated} 10:00+02`,
  });
  const a = await create(me, course, at('02', '03'));
  const b = await create(me, course, at('01', '02'));
  const c = await create(me, course, at('03', '01'));
  const d = await create(me, course, at('01', '03'));
  await create(other, path === '/v2/courses' ? 0 : await other.course(), at('02', '02'));

  expect(await readAll(me, path, '')).toEqual([a, b, c, d]);
  expect(await readAll(me, path, 'order_by=id')).toEqual([a, b, c, d]);
  expect(await readAll(me, path, 'order_direction=desc')).toEqual([d, c, b, a]);
  expect(await readAll(me, path, 'order_by=created_at')).toEqual([b, d, a, c]);
  expect(await readAll(me, path, 'order_by=created_at&order_direction=desc')).toEqual([c, a, d, b]);
  expect(await readAll(me, path, 'order_by=updated_at')).toEqual([c, b, a, d]);
  expect(await readAll(me, path, 'order_by=updated_at&order_direction=desc')).toEqual([d, a, b, c]);
  if (path !== '/v2/search-users?lastname=Sorted') {
    // A filter on another column than the one of the order.
    expect(await readAll(me, path, 'order_by=updated_at&created_at_min=2026-03-02')).toEqual([c, a]);
    expect(await readAll(me, path, 'order_by=updated_at&updated_at_min=2026-04-02')).toEqual([b, a, d]);
  }
});

test.each(lists)('since_id with another order of $path is refused', async ({ path }) => {
  const me = await createProvider();
  const get = (query: string) => me.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
  expect((await get('since_id=1&order_by=id&order_direction=asc')).status).toBe(200);
  for (const query of ['order_by=created_at', 'order_by=updated_at', 'order_direction=desc']) {
    const response = await get(`since_id=1&${query}`);
    expect([response.status, response.json()], query).toEqual([
      400,
      expect.objectContaining({
        error: 'since_id continues a list in the ascending order of ids: leave out order_by and order_direction',
      }),
    ]);
  }
  for (const query of ['order_by=title', 'order_by=ID', 'order_direction=up', 'order_by[]=id'])
    expect((await get(query)).status, query).toBe(400);
});
