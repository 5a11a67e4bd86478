import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { person } from '../support/booking.ts';
import { sharedPort, sharedTestApp } from '../support/test-app.ts';

execFileSync('bash', ['test/support/client.sh']);
const { createClient, createConfig } = await import('../output/client/client/index.ts');
const api = await import('../output/client/sdk.gen.ts');

const { createProvider } = await sharedTestApp();
const baseUrl = `http://127.0.0.1:${await sharedPort()}`;

async function openClient() {
  const { apiKey } = await createProvider();
  return createClient(createConfig({ baseUrl, auth: apiKey, throwOnError: true }));
}

const date = { start_at: '2030-06-10', end_at: '2030-06-11', capacity_max: 12 };

test('the generated client creates a course, books it, exports the order and syncs', async () => {
  const client = await openClient();
  const options = { client, throwOnError: true } as const;
  const start = await api.listOrders({ ...options, query: { updated_at_min: '2020-01-01' } });
  expect(start.data).toEqual([]);

  const course = await api.createCourse({ ...options, body: { title: 'Rescue', level: 6, price_value: 1000 } });
  const { course_id } = course.data;
  const created = await api.createCourseDate({ ...options, path: { course_id }, body: date });
  const { coursedate_id } = created.data;

  const participants = [person(), person()];
  const booked = await api.createBooking({
    ...options,
    body: { coursedate_id, payment_method: 'invoice', participants },
  });
  const { order_id, total_excl_vat } = booked.data.summary;
  expect(total_excl_vat).toBe(2000);

  const order = await api.getOrder({ ...options, path: { id: Number(order_id) } });
  expect(order.data.exported_at).toBeNull();
  expect(order.data.lines.map(({ quantity }) => quantity)).toEqual([2]);

  const exported = await api.exportOrder({ ...options, path: { id: Number(order_id) } });
  expect(exported.data.exported_at).not.toBeNull();

  const sync = (updated_at_min: string) => api.listOrders({ ...options, query: { exported: true, updated_at_min } });
  const changed = await sync(start.response.headers.get('x-updated-through')!);
  expect(changed.data).toEqual([exported.data]);
  const through = Date.parse(changed.response.headers.get('x-updated-through')!);
  expect(through).toBeGreaterThanOrEqual(Date.parse(exported.data.updated_at!));
});

test('the generated client sends list parameters with brackets', async () => {
  const client = await openClient();
  const options = { client, throwOnError: true } as const;
  const { data: course } = await api.createCourse({ ...options, body: { title: 'Knots', tags: [{ title: 'Ropes' }] } });
  const { data: other } = await api.createCourse({ ...options, body: { title: 'Sails' } });
  for (const { course_id } of [course, other])
    await api.createCourseDate({ ...options, path: { course_id }, body: date });

  const { data, request } = await api.listCourseDates({
    ...options,
    query: { 'course_id[]': [course.course_id, other.course_id], 'include[]': ['course', 'status'] },
  });
  expect(new URL(request.url).search).toContain('include[]=course&include[]=status');
  expect('items' in data ? data.items.map((item) => [item.course?.title, item.status?.title]) : data).toEqual([
    ['Knots', 'To be defined'],
    ['Sails', 'To be defined'],
  ]);
});

test('the generated client returns errors with their type', async () => {
  const client = await openClient();
  const { error, response } = await api.createBooking({
    client,
    throwOnError: false,
    body: { coursedate_id: 999_999_999, payment_method: 'invoice', participants: [person()] },
  });
  expect(response.status).toBe(400);
  expect(error && 'errors' in error ? error.errors.map(({ code }) => code) : error).toEqual([
    'course_date_identifier_invalid',
  ]);
});
