import { expect, test } from 'vitest';
import { addParticipants } from '../../support/dates.ts';
import { sharedTestApp } from '../../support/test-app.ts';
const { createProvider } = await sharedTestApp();
test('raising the capacity or un-canceling a date promotes the waiting list immediately', async () => {
  const me = await createProvider();
  const courseId = await me.course();
  const make = async (f: object) =>
    (
      await me.post(`/v2/courses/${courseId}/coursedates`, { start_at: '2030-01-01', end_at: '2030-01-02', ...f })
    ).json().coursedate_id;
  const statuses = async (id: number) =>
    (await me.get(`/v2/participants?coursedate_id=${id}`)).json().map((p: any) => p.status.id);
  const id = await make({ capacity_max: 2, capacity_wait: 5 });
  await addParticipants(me, courseId, id, [1, 1, 3, 3, 3]);
  const put = (i: number, b: object) => me.put(`/v2/courses/${courseId}/coursedates/${i}`, b);
  expect((await put(id, { title: 'x' })).status).toBe(200);
  expect(await statuses(id)).toEqual([1, 1, 3, 3, 3]);
  await put(id, { capacity_max: 3 });
  expect(await statuses(id)).toEqual([1, 1, 1, 3, 3]);
  await put(id, { capacity_overbook: 1 });
  expect(await statuses(id)).toEqual([1, 1, 1, 2, 3]);
  await put(id, { capacity_max: 0 });
  expect(await statuses(id)).toEqual([1, 1, 1, 1, 1]);
  const c = await make({ capacity_max: 2, status_id: 3 });
  await addParticipants(me, courseId, c, [3]);
  await put(c, { capacity_max: 5 });
  expect(await statuses(c)).toEqual([3]);
  await put(c, { status_id: 1 });
  expect(await statuses(c)).toEqual([1]);
});
