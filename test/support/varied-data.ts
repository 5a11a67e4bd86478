import { sql } from 'drizzle-orm';
import { approvePartner } from '../../src/domains/school/schools/partner-service.ts';
import { createVoucher } from './booking.ts';
import { addBundle, addDate, addGathering, addInstructor, addLocation, assignInstructor } from './dates.ts';
import { fillOtherTables } from './isolation.ts';
import { createCampaign, createCustomer, createOrder, createUser, write } from './orders.ts';
import type { Provider, TestApp } from './test-app.ts';

const timestampedTables = [
  'courses',
  'course_dates',
  'locations',
  'instructors',
  'customers',
  'course_users',
  'orders',
  'participants',
  'vouchers',
  'outbox',
];

const hour = 3_600_000;
const firstTimestamp = Date.UTC(2026, 0, 1);
/** Distinct creation and change times of a school's nth row. */
export const timestampsFor = (n: number) => {
  const created = firstTimestamp + n * 5 * hour;
  return { created_at: created, updated_at: created + ((n * 7) % 5) * 35 * hour };
};

const spreadTimestamps = (me: Provider) =>
  write(me, async (tx) => {
    for (const table of timestampedTables) {
      const { rows } = await tx.execute<{ id: number }>(
        sql`select id from ${sql.identifier(table)} where provider_id = ${me.id} order by id`,
      );
      for (const [index, { id }] of rows.entries()) {
        const { created_at, updated_at } = timestampsFor(index + 1);
        await tx.execute(
          sql`update ${sql.identifier(table)} set created_at = to_timestamp(${created_at / 1000})
            ${table === 'outbox' ? sql`` : sql`, updated_at = to_timestamp(${updated_at / 1000})`}
            where provider_id = ${me.id} and id = ${id}`,
        );
      }
    }
  });

/** A school with several different rows of every resource, and an approved partner with the same; `ids` has its own. */
export async function createVariedData(testApp: TestApp) {
  const [me, friend] = [await testApp.createProvider(), await testApp.createProvider()];
  const ids = await fill(me);
  await fill(friend);
  for (const school of [me, friend]) await fillOtherTables(testApp, school, ['a', 'b', 'c', 'd', 'e', 'f']);
  await approvePartner(testApp.database, me.id, friend.id);
  return { me, ids: { ...ids, partner: friend.id } };
}
export type VariedData = Awaited<ReturnType<typeof createVariedData>>;

/** A mail of each participant, to it or to a hall. */
const addMails = (me: Provider) =>
  write(me, (tx, now) =>
    tx.execute(sql`insert into outbox (provider_id, purpose, user_id, address, participant_id, created_at, due_at, sent_at, failed_at)
      select provider_id, case n % 3 when 0 then 'receipt' when 1 then 'offer' else 'notice_booked' end,
        case when n % 3 < 2 then user_id end, case when n % 3 = 2 then 'Hall@x.example' end, id, ${now}, ${now},
        case when n % 4 < 2 then ${now}::timestamptz end, case when n % 4 = 2 then ${now}::timestamptz end
      from (select *, row_number() over (order by id) as n from participants where provider_id = ${me.id}) p`),
  );

/** Interests in a course, every second one confirmed. */
const addInterests = (me: Provider, courseId: number) =>
  write(me, (tx, now) =>
    tx.execute(sql`insert into course_interests (provider_id, course_id, email, created_at, confirmed_at)
      select ${me.id}, ${courseId}, 'kari' || n || '@x.example', ${now}, case when n % 2 = 0 then ${now}::timestamptz end
      from generate_series(1, 20) n`),
  );

async function fill(me: Provider) {
  const customers = [await createCustomer(me), await createCustomer(me, { type: 2 })];
  const instructors = [await addInstructor(me), await addInstructor(me, { firstname: 'Ola' }), await addInstructor(me)];
  const locations = [await addLocation(me, { title: 'A' }), await addLocation(me, { instructorId: instructors[0]! })];
  for (let n = 0; n < 4; n += 1) await addLocation(me, { isArchived: n === 0 });
  for (let n = 0; n < 4; n += 1) await createCustomer(me, { type: 1 + (n % 2) });
  const bundle = await addBundle(me, 'Bundle');

  const courses: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const titles = ['a', 'b', 'c'].filter((_, bit) => ((n * 3) >> bit) & 1);
    const course = await me.course({
      tags: titles.map((title) => ({ title })),
      active: n !== 4,
      type: n === 5 ? 'internal' : 'public',
      text_lead: `Lead ${n}`,
      translations: n % 2 ? { en: { lead: `English ${n}` } } : {},
      duration_value: n,
      duration_unit: 1 + (n % 7),
      custom_properties: n % 3 ? { n: String(n) } : {},
      ...(n > 7 ? { type: 'corporate', customer_id: customers[n - 8] } : {}),
    });
    courses.push(course);
  }

  const dates: number[] = [];
  for (let n = 0; n < 22; n += 1) {
    const startAt = n % 3 ? `2031-0${1 + (n % 6)}-1${n % 7}` : `2020-0${1 + (n % 6)}-1${n % 7}`;
    const date = await addDate(me, courses[n < 16 ? n % 9 : 0]!, {
      startAt,
      ...(n % 2 ? { startTimeAt: '09:00', endTimeAt: '15:00' } : {}),
      ...(n % 5 === 1 ? { timezone: 'Asia/Tokyo' } : {}),
      statusId: 1 + (n % 4),
      isVisible: n % 6 !== 5,
      locationId: locations[n % 3] ?? null,
      bundleId: n % 4 === 2 ? bundle : null,
      parentId: n === 9 ? dates[0]! : null,
      teachingLanguageId: n % 2 ? 'en' : 'no',
    });
    if (n % 2) await assignInstructor(me, date, instructors[n % 3]!);
    if (n % 4 === 1) await addGathering(me, date, { locationId: locations[0]! }, [instructors[1]!]);
    dates.push(date);
  }

  const users = [];
  for (let n = 0; n < 8; n += 1) {
    const name = { firstname: ['Åse', 'åsmund', 'Kari', null][n % 4]!, lastname: n % 3 ? 'Nordmann' : 'Nilsen 50%' };
    const fields = { username: `user-${n}`, email: n % 2 ? `Person${n}@people.example` : null, ...name };
    users.push(await createUser(me, { ...fields, customerId: customers[n % 3] ?? null }));
  }
  const campaign = await createCampaign(me, { title: 'Spring', startsAt: '2026-01-01' }, { courses: [courses[0]!] });
  for (let n = 0; n < 9; n += 1) {
    await createOrder(me, {
      courseId: courses[n % 9]!,
      dateId: dates[n % 9]!,
      users: users.filter((_, user) => user % 4 === n % 4 && n < 7),
      order: {
        customerId: customers[n % 4] ?? null,
        campaignId: n % 2 ? campaign : null,
        exportedAt: n % 3 ? null : new Date(timestampsFor(n).created_at).toISOString(),
      },
      participant: { statusId: [1, 7, 1, 3, 4][n % 5]! },
    });
  }
  for (let n = 0; n < 8; n += 1) {
    const state = { expiresAt: n % 3 ? null : '2020-01-01', archivedAt: n % 4 ? null : '2026-01-01' };
    await createVoucher(me, { code: `Gift ${n}`, amount: '100', ...state, deletedAt: n === 7 ? '2026-01-01' : null });
  }
  await write(me, async (tx) => {
    await tx.execute(
      sql`update courses set deleted_at = created_at where provider_id = ${me.id} and id = ${courses[6]}`,
    );
    await tx.execute(
      sql`update course_dates set deleted_at = created_at where provider_id = ${me.id} and id = ${dates[10]}`,
    );
  });
  await addMails(me);
  await addInterests(me, courses[0]!);
  await spreadTimestamps(me);
  const tags = (await me.get('/v2/course-tags')).json<{ id: number }[]>().map(({ id }) => id);
  return { provider: me.id, courses, dates, customers, users, tags };
}
