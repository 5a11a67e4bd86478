import { courses } from './dataset.ts';
import type { Subject } from './database.ts';
import { medians } from './cost.ts';
import type { Goal } from './goals.ts';
import { assertStatus, runLoad, warmUp } from './load.ts';
import { createSchool } from './schools.ts';
import { withServer } from './server.ts';
import { measureStale } from './stale.ts';

const [dateCount, courseCount] = [400, 40];

const numbered = (table: string) =>
  `(select id, row_number() over (order by id) - 1 as n from ${table} where provider_id = :me)`;

/** Courses with texts of 1 to 3 kB, and dates of the next year. */
const statements = (slug: string) => [
  `insert into catalog_settings (provider_id, is_enabled, slug, theme, fields, created_at, updated_at)
    values (:me, true, '${slug}', '{}', '{}', :at, :at)`,
  `insert into catalog_names (name, provider_id, created_at) values ('${slug}', :me, :at)`,
  `insert into locations (provider_id, title, address, zipcode, city, created_at, updated_at)
    select :me, 'Room ' || n, 'Storgata ' || n, '0155', (array['Oslo', 'Bergen', 'Bodø'])[1 + n % 3], :at, :at
    from generate_series(1, 10) n`,
  courses(courseCount),
  `insert into products (provider_id, course_id, title, price, vat_percentage, is_main_product, created_at, updated_at)
    select :me, c.id, 'Course fee', 1000 + c.n * 100, 25, true, :at, :at from ${numbered('courses')} c`,
  `insert into course_dates (provider_id, course_id, location_id, start_at, end_at, deadline_at, start_time_at, end_time_at,
      zone, teaching_language_id, capacity_max, created_at, updated_at)
    select :me, c.id, l.id, day, day + n % 3, day, '09:00', '15:30', 'Europe/Oslo', 'no', 20, :at, :at
    from generate_series(0, ${dateCount - 1}) n
      join ${numbered('courses')} c (id, m) on c.m = n % ${courseCount} join ${numbered('locations')} l (id, m) on l.m = n % 10
      cross join lateral (select current_date + 7 + n as day) d`,
];

export type CatalogFigures = { name: string; perSecond: number; p99: number; bytes: number };

/** Pages and answers of a school with 400 coming dates from memory, compressed, as `GET` without a key. */
export async function measureCatalog(
  subject: Subject,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<CatalogFigures[]> {
  const slug = `bench-${process.pid}`;
  const { providerId } = await createSchool(subject, 'The catalog', statements(slug));
  const { rows } = await subject.database.pool.query<{ course: string; date: string }>(
    'select max(course_id) as course, max(id) as date from course_dates where provider_id = $1',
    [providerId],
  );
  const { course, date } = rows[0]!;
  const below = `/catalog/${slug}`;
  return withServer(subject, {}, async ({ base }) => {
    /** The address after the redirect to the current slug. */
    const resolve = async (path: string) => new URL((await fetch(`${base}${below}${path}`)).url).pathname;
    const paths = {
      start: below,
      course: await resolve(`/courses/${course}`),
      date: await resolve(`/dates/${date}`),
      'dates.json': `${below}/dates.json`,
      calendar: `${below}/calendar.ics`,
    };
    const headers = { 'accept-encoding': 'gzip', 'accept-language': 'en' };
    const figures: CatalogFigures[] = [];
    for (const [name, path] of Object.entries(paths)) {
      const load = { url: base + path, method: 'GET' as const, headers, connections: 8, status: '200' as const };
      await warmUp(load, { rounds });
      const runs = [];
      for (let round = 0; round < rounds; round += 1) {
        const run = await runLoad({ ...load, seconds });
        assertStatus('200', run);
        runs.push({ perSecond: run.perSecond, p99: run.p99 });
      }
      const response = await fetch(load.url, { headers });
      figures.push({ name, ...medians(runs), bytes: Number(response.headers.get('content-length')) });
    }
    return figures;
  });
}

/** Does what `measureStale` does for the pages and feeds of a school of its own. */
export async function measureStaleCatalog(subject: Subject, seconds: number) {
  const slug = `stale-${process.pid}`;
  const [settings, names] = statements(slug);
  const school = await createSchool(subject, 'The catalog with writers', [settings!, names!]);
  const paths = ['', '/dates.json', '/calendar.ics', '/feed.atom'];
  return measureStale(subject, school, seconds, () => paths.map((path) => `/catalog/${slug}${path}`));
}

const largest: Record<string, number> = { start: 60_000, date: 20_000 };

export const catalogGoals = (figures: CatalogFigures[]): Goal[] =>
  figures.flatMap(({ name, perSecond, bytes }) => [
    { name: `catalog, ${name}, a second from memory`, must: 2_000, measured: perSecond },
    ...(name in largest
      ? [{ name: `catalog, ${name}, bytes`, must: largest[name]!, atMost: true as const, measured: bytes }]
      : []),
  ]);
