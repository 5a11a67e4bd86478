import { expect, test } from 'vitest';
import { addDate, addParticipants } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const remove = (me: Provider, id: number | string) => me.request('DELETE')(`/v2/courses/${id}`);
const past = { startAt: '2020-06-10', endAt: '2020-06-11', deadlineAt: '2020-06-01' };
const refused = { error: 'The course has dates with coming participants' };

async function datesOf(me: Provider, courseId: number) {
  const { items } = (await me.get(`/v2/coursedates?course_id=${courseId}&include_deleted=1`)).json();
  return Object.fromEntries(
    (items as { coursedate_id: number; deleted_at: string | null }[]).map((date) => [
      date.coursedate_id,
      date.deleted_at === null ? 'kept' : 'deleted',
    ]),
  );
}

test('a deleted course is only listed with include_deleted', async () => {
  const me = await createProvider();
  const [id, other] = [await me.course({ title: 'Gone' }), await me.course()];
  const before = (await me.get(`/v2/courses/${id}`)).json();
  const response = await remove(me, id);
  expect([response.status, response.json()]).toEqual([200, { course_id: id }]);

  const missing = await me.get(`/v2/courses/${id}`);
  expect([missing.status, missing.json()]).toEqual([404, { error: 'Course not found' }]);
  expect((await me.get('/v2/courses')).json()).toMatchObject([{ id: other }]);
  const { deleted_at } = (await me.get(`/v2/courses/${id}?include_deleted=true`)).json();
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/) as string;
  expect([deleted_at, before.deleted_at]).toEqual([timestamp, null]);
  const listed = (await me.get('/v2/courses?include_deleted=1')).json();
  expect(listed[0]).toEqual({ ...before, updated_at: deleted_at, deleted_at });
});

test('a deleted course is neither deleted again nor changed', async () => {
  const me = await createProvider();
  const id = await me.course();
  await remove(me, id);
  for (const response of [await remove(me, id), await me.put(`/v2/courses/${id}`, { title: 'Back' })])
    expect(response.status).toBe(404);
});

test('the title of a deleted course can be reused', async () => {
  const me = await createProvider();
  const id = await me.course({ title: 'Again' });
  expect((await me.post('/v2/courses', { title: 'Again' })).status).toBe(400);
  await remove(me, id);
  expect((await me.post('/v2/courses', { title: 'Again' })).status).toBe(201);
});

test('dates without participants are deleted with the course; those of other courses are not', async () => {
  const me = await createProvider();
  const [course, beside] = [await me.course(), await me.course()];
  const [coming, gone, taken, left, other] = [
    await addDate(me, course),
    await addDate(me, course, past),
    await addDate(me, course, past),
    await addDate(me, course),
    await addDate(me, beside),
  ];
  await addParticipants(me, course, taken, [1]);
  await addParticipants(me, course, left, [4, 8]);
  expect((await remove(me, course)).status).toBe(200);
  expect(await datesOf(me, course)).toEqual({
    [coming]: 'deleted',
    [gone]: 'deleted',
    [taken]: 'kept',
    [left]: 'deleted',
  });
  expect(await datesOf(me, beside)).toEqual({ [other]: 'kept' });
  const { rows } = await write(me, (tx) =>
    tx.execute(
      `select count(distinct x)::int as timestamps from courses c join course_dates d on d.course_id = c.id,
         unnest(array[c.deleted_at, c.updated_at, c.related_items_updated_at, d.deleted_at, d.updated_at]) x
       where c.id = ${course} and d.deleted_at is not null`,
    ),
  );
  expect(rows).toEqual([{ timestamps: 1 }]);
});

test('a parent date is not deleted while its child is not', async () => {
  const me = await createProvider();
  const course = await me.course();
  const parents = [await addDate(me, course, past), await addDate(me, course, past)] as const;
  const children = [
    await addDate(me, course, { ...past, parentId: parents[0] }),
    await addDate(me, course, { ...past, parentId: parents[0] }),
    await addDate(me, course, { ...past, parentId: parents[1] }),
  ] as const;
  await addParticipants(me, course, children[0], [1]);
  expect((await remove(me, course)).status).toBe(200);
  expect(await datesOf(me, course)).toEqual({
    [parents[0]]: 'kept',
    [parents[1]]: 'deleted',
    [children[0]]: 'kept',
    [children[1]]: 'deleted',
    [children[2]]: 'deleted',
  });
});

test.each([
  ['confirmed', 1],
  ['overbooked', 2],
  ['waiting', 3],
  ['unconfirmed', 7],
])('deleting is rejected while a participant is expected: %s', async (_status, status) => {
  const me = await createProvider();
  const course = await me.course();
  const [taken, empty] = [await addDate(me, course), await addDate(me, course)];
  await addParticipants(me, course, taken, [status]);
  const response = await remove(me, course);
  expect([response.status, response.json()]).toEqual([400, refused]);
  expect((await me.get(`/v2/courses/${course}`)).json().deleted_at).toBe(null);
  expect(await datesOf(me, course)).toEqual({ [taken]: 'kept', [empty]: 'kept' });
});

test('participants of a running date block the deletion; those of a canceled date do not', async () => {
  const me = await createProvider();
  const [begun, canceled] = [await me.course(), await me.course()];
  const dates = [
    await addDate(me, begun, { ...past, endAt: '2099-01-01' }),
    await addDate(me, canceled, { statusId: 3 }),
  ] as const;
  await addParticipants(me, begun, dates[0], [1]);
  await addParticipants(me, canceled, dates[1], [1]);
  expect((await remove(me, begun)).json()).toEqual(refused);
  expect((await remove(me, canceled)).status).toBe(200);
  expect(await datesOf(me, canceled)).toEqual({ [dates[1]]: 'kept' });
});

test('related_items_updated_at changes only when dates are deleted too', async () => {
  const me = await createProvider();
  const id = await me.course();
  const related = async () =>
    (
      await write(me, (tx) =>
        tx.execute(
          `select related_items_updated_at::text as at, updated_at::text as updated from courses where id = ${id}`,
        ),
      )
    ).rows[0]! as { at: string; updated: string };
  const before = await related();
  await remove(me, id);
  const after = await related();
  expect([after.at, after.updated > before.updated]).toEqual([before.at, true]);
});

test('a sync by updated_at_min returns the deleted course and dates', async () => {
  const me = await createProvider();
  const course = await me.course();
  const date = await addDate(me, course);
  const first = await me.get('/v2/courses?updated_at_min=2020-01-01');
  const through = encodeURIComponent(String(first.headers['x-updated-through']));
  await remove(me, course);
  const query = `updated_at_min=${through}&include_deleted=1`;
  expect((await me.get(`/v2/courses?${query}`)).json()).toMatchObject([{ id: course }]);
  expect((await me.get(`/v2/coursedates?${query}`)).json().items).toMatchObject([{ coursedate_id: date }]);
});
