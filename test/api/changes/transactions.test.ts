import { eq } from 'drizzle-orm';
import { afterAll, expect, test } from 'vitest';
import { courses } from '../../../src/database/tables/courses.ts';
import { tags } from '../../../src/database/tables/catalog.ts';
import { closeProvider, openProvider } from '../../../src/domains/school/schools/service.ts';
import { importObjects } from '../../support/all-responses.ts';
import { bookOrFail, createBookableDate, deregister, persons } from '../../support/booking.ts';
import { write } from '../../support/orders.ts';
import { minimalSchool } from '../../support/request-bodies.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, type Provider } from '../../support/test-app.ts';

type Change = { id: number; type: string; resource: string; resource_id: number | null };
type Changes = { items: Change[]; cursor: string };

const read = async (me: Provider, query = '') => {
  const response = await me.get(`/v2/changes${query}`);
  expect(response.status, response.text).toBe(200);
  return response.json<Changes>();
};
const types = ({ items }: Changes) => items.map(({ type }) => type);
/** The types of the events that the work leaves. */
async function typesOf(me: Provider, work: () => Promise<unknown>) {
  const { cursor } = await read(me);
  await work();
  return types(await read(me, `?since=${cursor}`));
}

const name = await ownDatabase(afterAll);
const testApp = await openTestApp(openTestDatabase(name));
afterAll(testApp.close);
const { app, createProvider } = testApp;

test('a booking leaves one event of each of its items, and of the seats', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me, { capacityMax: 3, capacityWait: 5 });
  let bookingId = '';
  const booked = await typesOf(me, async () => {
    bookingId = (await bookOrFail(me, dateId, { participants: persons(2) })).booking_id;
  });
  expect(booked.toSorted()).toEqual([
    ...['booking.created', 'coursedate.seats_changed', 'courseuser.created', 'courseuser.created'],
    ...['order.created', 'participant.created', 'participant.created'],
  ]);
  const waiting = { config: { waiting_list_when_full: 1 } };
  await bookOrFail(me, dateId, { participants: persons(2), ...waiting });
  // The last one was waiting, and takes a seat.
  const left = await typesOf(me, () => deregister(me, bookingId));
  expect(left.filter((type) => type === 'coursedate.seats_changed')).toHaveLength(1);
  expect(left.filter((type) => type === 'participant.updated')).toHaveLength(3);
});

test('a date that is changed after its seats in one transaction leaves one update', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const change = (set: string) => `update course_dates set ${set} where provider_id = ${me.id} and id = ${dateId}`;
  const found = await typesOf(me, () =>
    write(me, async (tx, now) => {
      await tx.execute(change(`num_waiting = 1, updated_at = '${now}'`));
      await tx.execute(change(`title = 'Changed'`));
      await tx.execute(change('num_waiting = 0'));
    }),
  );
  expect(found).toEqual(['coursedate.updated']);
});

test.each([
  { first: `num_waiting = 1`, then: `deleted_at = updated_at`, left: ['coursedate.deleted'] },
  { first: `title = 'Changed'`, then: `deleted_at = updated_at`, left: ['coursedate.deleted'] },
  { first: `title = 'Changed'`, then: `num_waiting = 1`, left: ['coursedate.updated'] },
])('a date with $first, then $then in one transaction leaves $left', async ({ first, then, left }) => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const change = (set: string) => `update course_dates set ${set} where provider_id = ${me.id} and id = ${dateId}`;
  const found = await typesOf(me, () =>
    write(me, async (tx) => {
      await tx.execute(change(first));
      await tx.execute(change(then));
    }),
  );
  expect(found).toEqual(left);
});

test('an item that is changed after its creation in one transaction leaves its creation first', async () => {
  const me = await createProvider();
  const { dateId } = await createBookableDate(me);
  const found = await typesOf(me, () =>
    write(me, async (tx) => {
      await tx.execute(`insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone,
          teaching_language_id, created_at, updated_at)
        select provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at
        from course_dates where provider_id = ${me.id} and id = ${dateId}`);
      await tx.execute(`update course_dates set title = 'Changed' where provider_id = ${me.id} and id <> ${dateId}`);
    }),
  );
  expect(found).toEqual(['coursedate.created']);
});

test('a rejected write leaves no event', async () => {
  const me = await createProvider();
  const found = await typesOf(me, async () => {
    await expect(
      write(me, async (tx, now) => {
        await tx.insert(tags).values({ providerId: me.id, title: 'T', createdAt: now, updatedAt: now });
        throw new Error('rejected');
      }),
    ).rejects.toThrow('rejected');
  });
  expect(found).toEqual([]);
});

test('a transaction with more than 1000 changes leaves one resync per resource', async () => {
  const me = await createProvider();
  const insertTags = (count: number) =>
    write(me, async (tx, now) => {
      const rows = Array.from({ length: count }, (_, n) => ({
        title: `${now} ${n}`,
        createdAt: now,
        updatedAt: now,
      }));
      await tx.insert(tags).values(rows.map((row) => ({ providerId: me.id, ...row })));
    });
  const { cursor: start } = await read(me);
  await insertTags(1_000);
  expect(types(await read(me, `?limit=1000&since=${start}`))).toEqual(Array(1_000).fill('tag.created'));
  expect(await typesOf(me, () => insertTags(1_001))).toEqual(['resync']);

  const course = await me.course();
  const { cursor } = await read(me);
  await write(me, async (tx, now) => {
    await tx.update(courses).set({ reference: 'x', updatedAt: now }).where(eq(courses.id, course));
    for (let part = 0; part < 3; part += 1) {
      const rows = Array.from({ length: 500 }, (_, n) => ({ title: `${part} ${n}`, createdAt: now, updatedAt: now }));
      await tx.insert(tags).values(rows.map((row) => ({ providerId: me.id, ...row })));
    }
    await tx.update(courses).set({ reference: 'y', updatedAt: now }).where(eq(courses.id, course));
  });
  const { items } = await read(me, `?since=${cursor}`);
  expect(items.map(({ type, resource, resource_id }) => [type, resource, resource_id])).toEqual([
    ['resync', 'course', null],
    ['resync', 'tag', null],
  ]);
  expect(types(await read(me, `?since=${cursor}&types[]=tag.created`))).toEqual(['resync']);
  expect(types(await read(me, `?since=${cursor}&types[]=order.created`))).toEqual([]);
});

test('an import leaves the events of its items', async () => {
  const me = await createProvider();
  const lines = (count: number, title: string) =>
    Array.from({ length: count }, (_, n) => ({
      kind: 'instructor',
      ref: `${title} ${n}`,
      firstname: title,
      lastname: String(n),
    }));
  expect(await typesOf(me, () => importObjects(me, lines(3, 'Few'), {}, { name }))).toEqual(
    Array.from({ length: 3 }, () => 'instructor.created'),
  );
  const found = await typesOf(me, () => importObjects(me, lines(1_500, 'Many'), {}, { name }));
  expect(found).toEqual(['resync', 'resync']);
});

test('closing and opening a school leave an event each', async () => {
  const me = await createProvider();
  const found = await typesOf(me, async () => {
    await closeProvider(testApp.database, me.id);
    await openProvider(testApp.database, me.id);
  });
  expect(found).toEqual(['school.updated', 'school.updated']);
});

test('a new sub-school is in the feed of its parent and in its own', async () => {
  const me = await createProvider();
  const { cursor } = await read(me);
  const created = (await me.post('/schools', minimalSchool)).json<{ school_id: string; api_key: string }>();
  await me.put('/v2/schools', minimalSchool);
  const { items } = await read(me, `?since=${cursor}`);
  expect(items.map(({ type, resource_id }) => [type, resource_id])).toEqual([
    ['school.created', Number(created.school_id)],
    ['school.updated', me.id],
  ]);
  const headers = { 'x-api-key': created.api_key };
  // Without an event it would have no cursor.
  expect((await send(app, { url: '/v2/changes', headers })).status).toBe(200);
});
