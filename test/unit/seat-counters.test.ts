import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { write } from '../support/orders.ts';
import { openTestDatabase, ownDatabase, sharedTestApp, type Provider } from '../support/test-app.ts';
import { allAreas } from '../../src/database/areas.ts';

const { database, createProvider } = await sharedTestApp();

/** A provider with a course, two dates, a user and a booking for participants. */
async function stage() {
  const me = await createProvider();
  const courseId = await me.course();
  return write(me, async (tx, now) => {
    const one = async (statement: string) => (await tx.execute<{ id: number }>(statement)).rows[0]!.id;
    const date = () =>
      one(`insert into course_dates (provider_id, course_id, start_at, end_at, deadline_at, zone, teaching_language_id, created_at, updated_at)
        values (${me.id}, ${courseId}, '2027-01-10', '2027-01-11', '2027-01-09', 'Europe/Oslo', 'no', '${now}', '${now}') returning id`);
    const [first, second] = [await date(), await date()];
    const user = await one(
      `insert into course_users (provider_id, username, created_at, updated_at) values (${me.id}, 'u', '${now}', '${now}') returning id`,
    );
    const order = await one(
      `insert into orders (provider_id, title, created_at, updated_at) values (${me.id}, 'o', '${now}', '${now}') returning id`,
    );
    const booking = await one(
      `insert into bookings (provider_id, order_id, course_date_id, created_at, updated_at) values (${me.id}, ${order}, ${first}, '${now}', '${now}') returning id`,
    );
    return { me, courseId, first, second, user, booking };
  });
}
type Stage = Awaited<ReturnType<typeof stage>>;

/** One statement that adds a participant of each status. */
const book = async ({ me, courseId, user, booking }: Stage, dateId: number, statuses: number[]) => {
  const ctx = await me.ctx();
  await ctx.write(allAreas, ({ tx, now }) =>
    tx.execute(
      sql`insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_id, status_updated_at, entry_source, created_at, updated_at)
        select ${me.id}, ${booking}, ${courseId}, ${dateId}, ${user}, status, ${now}::timestamptz, 'School', ${now}::timestamptz, ${now}::timestamptz
        from unnest(${sql.param(statuses)}::int[]) status`,
    ),
  );
};

const counted = async (me: Provider, dateId: number) =>
  (
    await database.pool.query<{ counters: number[]; recount: number[]; has: boolean; moved: boolean }>(
      `select array[num_confirmed, num_overbooked, num_unconfirmed, num_waiting] as counters, has_participants as has,
        updated_at = (select changed_at from provider_state where provider_id = $1) as moved,
        array(select (select count(*)::int from participants p where p.provider_id = $1 and p.course_date_id = d.id and p.status_id = s)
          from unnest(array[1, 2, 7, 3]) with ordinality as t (s, n) order by n) as recount
      from course_dates d where provider_id = $1 and id = $2`,
      [me.id, dateId],
    )
  ).rows[0]!;

test('seat counters follow inserts, updates and deletes of any number of participants', async () => {
  const stage1 = await stage();
  const { me, first, second } = stage1;
  const ctx = await me.ctx();
  const expectSeats = async (dateId: number, counters: number[]) =>
    expect(await counted(me, dateId)).toMatchObject({ counters, recount: counters, has: counters.some((n) => n > 0) });

  await expectSeats(first, [0, 0, 0, 0]);
  await book(stage1, first, [1, 1, 1, 2, 7, 7, 3, 4, 8]);
  await expectSeats(first, [3, 1, 2, 1]);
  expect(await counted(me, first)).toMatchObject({ moved: true });

  await ctx.write(allAreas, ({ tx }) =>
    tx.execute(`update participants set status_id = 4 where provider_id = ${me.id} and status_id = 7`),
  );
  await expectSeats(first, [3, 1, 0, 1]);
  await ctx.write(allAreas, ({ tx }) =>
    tx.execute(
      `update participants set course_date_id = ${second} where provider_id = ${me.id} and status_id in (1, 3)`,
    ),
  );
  await expectSeats(first, [0, 1, 0, 0]);
  await expectSeats(second, [3, 0, 0, 1]);
  await ctx.write(allAreas, ({ tx }) =>
    tx.execute(`update participants set no_show = true where provider_id = ${me.id}`),
  );
  await expectSeats(second, [3, 0, 0, 1]);
  await ctx.write(allAreas, ({ tx }) => tx.execute(`delete from participants where provider_id = ${me.id}`));
  await expectSeats(first, [0, 0, 0, 0]);
  await expectSeats(second, [0, 0, 0, 0]);
});

test('one statement counts participants of two providers and three dates', async () => {
  const [one, other] = [await stage(), await stage()];
  const add = (stages: [Stage, number, number[]][]) =>
    database.write([one.me.id, other.me.id], allAreas, ({ tx, now }) => {
      const rows = stages.flatMap(([{ me, courseId, user, booking }, date, statuses]) =>
        statuses.map(
          (status) => sql`(${me.id}::bigint, ${booking}::bigint, ${courseId}::bigint, ${date}::bigint, ${user}::bigint,
            ${status}::int, ${now}::timestamptz, 'School', ${now}::timestamptz, ${now}::timestamptz)`,
        ),
      );
      return tx.execute(sql`insert into participants (provider_id, booking_id, course_id, course_date_id, user_id,
        status_id, status_updated_at, entry_source, created_at, updated_at) values ${sql.join(rows, sql`, `)}`);
    });
  await add([
    [other, other.second, [1, 1, 3]],
    [one, one.second, [2]],
    [one, one.first, [1, 7]],
    // No counter counts it, so the date does not change.
    [other, other.first, [4]],
  ]);
  const counters = async ({ me }: Stage, date: number) => {
    const { counters, recount, moved } = await counted(me, date);
    expect(recount).toEqual(counters);
    return { counters, moved };
  };
  expect(await counters(one, one.first)).toEqual({ counters: [1, 0, 1, 0], moved: true });
  expect(await counters(one, one.second)).toEqual({ counters: [0, 1, 0, 0], moved: true });
  expect(await counters(other, other.second)).toEqual({ counters: [2, 0, 0, 1], moved: true });
  expect(await counters(other, other.first)).toEqual({ counters: [0, 0, 0, 0], moved: false });
});

test('a participant cannot be on a date of another course, nor a date of another provider', async () => {
  const [mine, theirs] = [await stage(), await stage()];
  await expect(book({ ...mine, courseId: await mine.me.course() }, mine.first, [1])).rejects.toMatchObject({
    cause: { constraint: 'participants_date_fk' },
  });
  await expect(book(mine, theirs.first, [1])).rejects.toMatchObject({ cause: { constraint: 'participants_date_fk' } });
});

test('counties and municipalities are seeded, and every provider has role 1', async () => {
  const untouched = openTestDatabase(await ownDatabase());
  const { rows } = await untouched.pool.query<{ counties: number; municipalities: number }>(
    "select count(*) filter (where parent_id is null) as counties, count(parent_id) as municipalities from places where country = 'NO'",
  );
  await untouched.close();
  expect(rows).toEqual([{ counties: 15, municipalities: 357 }]);
  const me = await createProvider();
  const roles = await database.pool.query('select id, title from roles where provider_id = $1', [me.id]);
  expect(roles.rows).toEqual([{ id: 1, title: 'Administrator' }]);
});
