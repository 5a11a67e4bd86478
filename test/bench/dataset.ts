import type { Database } from '../../src/database/client.ts';
import { createTitledProvider } from '../../src/domains/school/schools/service.ts';
import { allAreas } from '../../src/database/areas.ts';

/** Row counts of the large provider at size 1; everything else is the same at every size. */
const rows = {
  ...{ courses: 20_000, courseDates: 200_000, orders: 100_000, participants: 300_000 },
  ...{ users: 100_000, customers: 20_000, vouchers: 100_000 },
};
const small = { providers: 500, courses: 4, courseDates: 20 };

export type Dataset = { providerId: number; apiKey: string; size: number };

/**
 * Deterministic data of a realistic provider: courses with texts of 1 to 3 kB, ten course dates each over four years
 * (every twentieth nested in the previous one, another in a bundle of five), three participants per order, and 500
 * small providers.
 */
export async function buildDataset(
  database: Database,
  size: number,
  smallProviders = small.providers,
): Promise<Dataset> {
  const scaled = (count: number) => Math.max(1, Math.round(count * size));
  const { providerId, apiKey } = await createTitledProvider(database, `The large school, size ${size}`, null);
  await database.write([providerId], allAreas, async ({ tx, now }) => {
    const insert = (text: string) =>
      tx.$client.query({ text: text.replaceAll(':me', String(providerId)).replaceAll(':at', `'${now}'::timestamptz`) });
    for (const statement of statements(scaled)) await insert(statement);
  });
  for (let n = 0; n < smallProviders; n += 1) {
    const { providerId: other } = await createTitledProvider(database, `Small school ${n}`, null);
    await database.write([other], allAreas, async ({ tx, now }) => {
      const insert = (text: string) =>
        tx.$client.query({ text: text.replaceAll(':me', String(other)).replaceAll(':at', `'${now}'::timestamptz`) });
      await insert(courses(small.courses, '30 days'));
      await insert(dates(small.courseDates, small.courses, { interval: '7 days', days: 73 }));
    });
  }
  await database.pool.query('vacuum analyze');
  return { providerId, apiKey, size };
}

/** Varies per row, so that TOAST compression does not shrink the texts unrealistically. */
const sentences = [
  'Learn to lead, plan and follow up, step by step.',
  'Du lærer å skrive et tilbud som kunden forstår, og å følge det opp.',
  'We work with <strong>your own cases</strong>, in groups of four at most.',
  'Kurset passer for deg som har ansvar for andre, enten du er ny eller erfaren.',
  'After two days you know what to measure &ndash; and what to leave alone.',
  'Øvelsene er korte; teorien kommer etterpå, når den trengs.',
  'Lunch, coffee and all material are included in the price.',
  'Ta med bærbar PC. Har du ingen, låner vi deg én: si fra når du bestiller.',
  'The examination is "open book", and takes three hours.',
  'Vi begynner kl. 09:00 begge dager, og slutter senest 15:30.',
  'Read more in <a href="https://school.example/plan">the plan of the course</a>.',
  'Deltakerne får et kursbevis, som bransjen godtar i hele Norden.',
];
const text = (times: string) => `(select '<p>' || string_agg(
    (array[${sentences.map((one) => `'${one}'`).join(', ')}])[1 + (hashint8(n * 100 + k) & 1023) % ${sentences.length}], ' ') || '</p>'
  from generate_series(1, ${times}) k)`;
/** Id of the provider's n-th row. */
const numberedRows = (table: string) =>
  `(select id, row_number() over (order by id) - 1 as n from ${table} where provider_id = :me)`;
/** Evenly spaced and ending now, so that the last hour holds the same number of rows at every size. */
const timestamps = (count: number, interval = '1 minute') =>
  `:at - (${count} - n) * interval '${interval}', :at - (${count} - n) * interval '${interval}'`;

export const courses = (
  count: number,
  interval?: string,
) => `insert into courses (provider_id, title, slug, level_id, form_of_teaching_id, teaching_language_id,
    time_of_day_id, duration_value, duration_unit_id, price_value, text_lead, text_description, text_audience, visit_city, created_at, updated_at)
  select :me, 'Course ' || n, 'course-' || n, 1 + n % 3, 1 + n % 2, 'no', 1 + n % 2, 1 + n % 5, 1, 1000 + n % 90 * 100,
    ${text('2')}, ${text('(12 + n % 24)')}, ${text('(3 + n % 6)')}, 'Oslo', ${timestamps(count, interval)}
  from generate_series(0, ${count - 1}) n`;

const dates = (
  count: number,
  courseCount: number,
  { interval, days }: { interval?: string; days: number } = { days: 1 },
) => `with before as (select nextval(pg_get_serial_sequence('course_dates', 'id')) as id)
  insert into course_dates (provider_id, course_id, parent_id, bundle_id, location_id, place_id, start_at, end_at, deadline_at,
    start_time_at, end_time_at, zone, teaching_language_id, capacity_max, status_id, created_at, updated_at)
  select :me, c.id, case when n % 20 = 5 then before.id + n end, b.id, l.id, case when n % 2 = 0 then p.ids[1 + n % array_length(p.ids, 1)] end,
    day, day + n % 3, day, time '09:00', time '15:30', 'Europe/Oslo', 'no', 20 + n % 10, case when n % 20 = 0 then 3 else 1 end,
    ${timestamps(count, interval)}
  from generate_series(0, ${count - 1}) n cross join before
    join ${numberedRows('courses')} c (id, m) on c.m = (n - (n % 20 = 5)::int) % ${courseCount}
    left join ${numberedRows('locations')} l (id, m) on l.m = n % 50
    left join ${numberedRows('bundles')} b (id, m) on n % 20 = 7 and b.m = n / 100
    cross join (select array_agg(id order by id) as ids from places) p
    cross join lateral (select date '2024-01-01' + (n * ${days} + :me * 7)::int % 1460 as day) d
  order by n`;

/** Inserts of the large provider, one per table. */
function statements(scaled: (count: number) => number) {
  const [courseCount, dateCount, orderCount] = [scaled(rows.courses), scaled(rows.courseDates), scaled(rows.orders)];
  const [participantCount, userCount, customerCount, voucherCount] = [
    scaled(rows.participants),
    scaled(rows.users),
    scaled(rows.customers),
    scaled(rows.vouchers),
  ];
  return [
    `insert into locations (provider_id, title, address, zipcode, city, short_text, created_at, updated_at)
      select :me, 'Room ' || n, 'Storgata ' || n, '0155', 'Oslo', 'Second floor', :at, :at from generate_series(1, 50) n`,
    `insert into instructors (provider_id, firstname, lastname, email, company, created_at, updated_at)
      select :me, 'Kari', 'Nordmann ' || n, 'kari' || n || '@school.example', 'The school', :at, :at from generate_series(1, 100) n`,
    `insert into customers (provider_id, title, orgnr, invoice_address, invoice_zipcode, invoice_city, created_at, updated_at)
      select :me, 'Customer ' || n, '9' || n, 'Storgata ' || n, '0155', 'Oslo', ${timestamps(customerCount)} from generate_series(1, ${customerCount}) n`,
    `insert into tags (provider_id, title, created_at, updated_at) select :me, 'Tag ' || n, :at, :at from generate_series(1, 40) n`,
    courses(courseCount),
    `insert into course_tags (provider_id, tag_id, course_id)
      select :me, t.id, c.id from ${numberedRows('courses')} c join ${numberedRows('tags')} t on t.n in (c.n % 40, (c.n / 40) % 40) or (t.n < 2 and c.n % 4 = 0)`,
    `insert into products (provider_id, course_id, title, price, vat_percentage, is_main_product, created_at, updated_at)
      select :me, c.id, 'Course fee', 1000 + c.n % 90 * 100, 25, true, :at, :at from ${numberedRows('courses')} c`,
    `insert into bundles (provider_id, title, created_at, updated_at)
      select :me, 'Bundle ' || n, :at, :at from generate_series(0, ${dateCount - 1} / 100) n`,
    dates(dateCount, courseCount),
    `insert into course_date_instructors (provider_id, course_date_id, instructor_id)
      select :me, d.id, i.id from ${numberedRows('course_dates')} d join ${numberedRows('instructors')} i on i.n = d.n % 100`,
    `insert into gatherings (provider_id, course_date_id, gathering_at, gathering_end_at, zone, theme, created_at, updated_at)
      select :me, d.id, d.start_at + time '09:00' + day * interval '1 day', d.start_at + time '15:30' + day * interval '1 day', 'Europe/Oslo',
        'Day ' || day + 1, d.created_at, d.updated_at
      from course_dates d join ${numberedRows('course_dates')} k on k.id = d.id and k.n % 10 = 0 cross join generate_series(0, 1) day
      where d.provider_id = :me`,
    `insert into course_users (provider_id, customer_id, username, email, firstname, lastname, phone, company, created_at, updated_at)
      select :me, c.id, 'user' || n || '@company.example', 'user' || n || '@company.example', (array['Ola', 'Kari', 'Per', 'Anne'])[n % 4 + 1], 'Nordmann ' || n, '99887766', 'Company AS', ${timestamps(userCount)}
      from generate_series(1, ${userCount}) n left join ${numberedRows('customers')} c (id, m) on c.m = n % ${2 * customerCount}`,
    `insert into orders (provider_id, customer_id, title, title_detailed, total_before_discounts, total_vat, your_reference, booker,
        invoice_address, invoice_zipcode, invoice_city, invoice_email, exported_at, created_at, updated_at)
      select :me, c.id, 'Course ' || n || ' #' || n, 'Course, Oslo', 3000, 750, 'Ref ' || n, 'Kari Nordmann', 'Storgata 1', '0155', 'Oslo',
        'invoice@company.example', case when n % 3 = 0 then :at - (${orderCount} - n) * interval '1 minute' end, ${timestamps(orderCount)}
      from generate_series(0, ${orderCount - 1}) n left join ${numberedRows('customers')} c (id, m) on c.m = n % ${Math.round(1.25 * customerCount)}`,
    `insert into order_lines (provider_id, order_id, product_id, quantity, vat_percentage, price_at_order, created_at, updated_at)
      select :me, o.id, p.id, 3, 25, 1000, :at, :at
      from ${numberedRows('orders')} o join ${numberedRows('products')} p on p.n = o.n % ${courseCount}`,
    `insert into bookings (provider_id, order_id, course_date_id, booker_name, booker_email, created_at, updated_at)
      select :me, o.id, d.id, 'Kari Nordmann', 'kari@company.example', :at, :at
      from ${numberedRows('orders')} o join ${numberedRows('course_dates')} d on d.n = o.n % ${dateCount}`,
    `insert into participants (provider_id, booking_id, course_id, course_date_id, user_id, status_id, status_updated_at, entry_source, created_at, updated_at)
      select :me, b.id, d.course_id, d.id, u.id, case when n % 15 = 0 then 4 else 1 end, :at, 'User', ${timestamps(participantCount)}
      from generate_series(0, ${participantCount - 1}) n
        join ${numberedRows('bookings')} k (id, m) on k.m = n % ${orderCount}
        join bookings b on b.provider_id = :me and b.id = k.id
        join course_dates d on d.provider_id = :me and d.id = b.course_date_id
        join ${numberedRows('course_users')} u (id, m) on u.m = n % ${userCount}
      order by n`,
    `insert into order_line_participants (provider_id, order_line_id, participant_id)
      select :me, l.id, p.id from participants p join bookings b on b.provider_id = :me and b.id = p.booking_id
        join order_lines l on l.provider_id = :me and l.order_id = b.order_id where p.provider_id = :me`,
    `insert into vouchers (provider_id, code, amount, spent_before, balance, created_at, updated_at)
      select :me, 'Gift ' || n, 1000, 500, 500, ${timestamps(voucherCount)} from generate_series(1, ${voucherCount}) n`,
  ];
}
