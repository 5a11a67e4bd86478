import { allAreas } from '../../src/database/areas.ts';
import { bodyTemplate } from './booking.ts';
import type { Subject } from './database.ts';
import { createSchool } from './schools.ts';

export const reminders = 10_000;
/** Half of the reminders are of one date, the others of so many. */
const smallDates = 50;
const otherSchools = 4;
const datesPerSchool = 50;

const course = `insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id,
    created_at, updated_at)
  values (:me, 'First aid', 'first-aid', 1, 1, 'no', :at, :at)`;
const product = `insert into products (provider_id, course_id, title, price, vat_percentage, is_main_product, created_at, updated_at)
  select :me, id, 'Course fee', 4900, 25, true, :at, :at from courses where provider_id = :me`;
const dates = (count: number, day: string, location = 'null::bigint') =>
  `insert into course_dates (provider_id, course_id, location_id, start_at, end_at, deadline_at, start_time_at, end_time_at,
      zone, teaching_language_id, created_at, updated_at)
    select :me, c.id, ${location}, ${day}, ${day}, ${day}, '09:00', '15:30', 'Europe/Oslo', 'no',
      :at - interval '99 days', :at
    from courses c cross join generate_series(1, ${count}) where c.provider_id = :me`;
const numbered = (table: string) =>
  `(select id, row_number() over (order by id) - 1 as n from ${table} where provider_id = :me)`;

/** A school that reminds, with participants of dates in three days. */
const remindingSchool = [
  `insert into booking_settings (provider_id, mails, created_at, updated_at)
    values (:me, '{"reminder": true}', :at, :at)`,
  `insert into locations (provider_id, title, address, zipcode, city, notification_days, created_at, updated_at)
    values (:me, 'Room 1', 'Storgata 1', '0155', 'Oslo', 7, :at, :at)`,
  course,
  dates(1 + smallDates, 'current_date + 3', '(select id from locations where provider_id = :me)'),
  `insert into course_users (provider_id, username, email, firstname, lastname, created_at, updated_at)
    select :me, 'kari-' || n || '@reminded.example', 'kari-' || n || '@reminded.example', 'Kari', 'Nordmann', :at, :at
    from generate_series(1, ${reminders}) n`,
  `insert into orders (provider_id, title, title_detailed, total_before_discounts, total_vat, created_at, updated_at)
    select :me, 'First aid', 'First aid', 1000, 250, :at, :at from generate_series(1, ${reminders})`,
  `insert into bookings (provider_id, order_id, course_date_id, booker_name, booker_email, created_at, updated_at)
    select :me, o.id, d.id, 'Kari Nordmann', 'booker@company.example', :at, :at
    from ${numbered('orders')} o join ${numbered('course_dates')} d
      on d.n = case when o.n < ${reminders / 2} then 0 else 1 + o.n % ${smallDates} end`,
  `insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_id, status_updated_at,
      entry_source, created_at, updated_at)
    select :me, b.id, d.course_id, d.id, u.id, 1, :at, 'User', :at, :at
    from ${numbered('bookings')} k join bookings b on b.provider_id = :me and b.id = k.id
      join course_dates d on d.provider_id = :me and d.id = b.course_date_id
      join ${numbered('course_users')} u on u.n = k.n`,
];

export async function createRemindingSchool(subject: Subject) {
  const { providerId } = await createSchool(subject, 'The reminding school', remindingSchool);
  await setReminders(subject, providerId, { due: false });
  await subject.database.pool.query('vacuum analyze');
  return providerId;
}

/** The bookings of other schools, by their keys. */
export async function createOtherSchools(subject: Subject) {
  const requests: { apiKey: string; body: string }[] = [];
  for (let n = 0; n < otherSchools; n += 1) {
    const { providerId, apiKey } = await createSchool(subject, `Other school ${n}`, [
      course,
      product,
      dates(datesPerSchool, `date '2035-01-01'`),
    ]);
    const text = 'select id::text from course_dates where provider_id = $1';
    const { rows } = await subject.database.pool.query<{ id: string }>(text, [providerId]);
    requests.push(...rows.map(({ id }) => ({ apiKey, body: bodyTemplate.replaceAll('{id}', id) })));
  }
  // So that requests in turn are of all schools.
  return requests.toSorted((a, b) => a.body.localeCompare(b.body));
}

/** Makes all reminders due; without `due` ends their sending, and none is due. */
export const setReminders = ({ database }: Subject, providerId: number, { due }: { due: boolean }) =>
  database.write([providerId], allAreas, async ({ tx, now }) => {
    const run = (text: string, ...values: unknown[]) => tx.$client.query({ text, values: [providerId, ...values] });
    await run('delete from outbox where provider_id = $1');
    await run('delete from date_notices where provider_id = $1');
    if (due) return;
    await run(
      `insert into date_notices (provider_id, course_date_id, kind, created_at)
        select provider_id, id, 'reminder', $2 from course_dates where provider_id = $1`,
      now,
    );
  });
