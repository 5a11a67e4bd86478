import type { Subject } from './database.ts';
import type { Dataset } from './dataset.ts';

export type Case = { name: string; path: string };

const everyInclude = [
  ...['course', 'course.products', 'course.customer', 'location', 'gatherings'],
  ...['place', 'teaching_language', 'status', 'instructors', 'subinstances', 'bundle', 'provider'],
];
const toQuery = (names: string[]) => names.map((name) => `include[]=${name}`).join('&');

/** Benchmark requests. `within` limits page numbers to the first share of the course dates. */
export async function listCases({ database }: Subject, { providerId }: Dataset, { within = 1 } = {}): Promise<Case[]> {
  const queryValue = async (text: string) =>
    (await database.pool.query<{ value: string }>(text, [providerId])).rows[0]!.value;
  const deepId = await queryValue(
    'select id::text as value from course_dates where provider_id = $1 order by id offset (select count(*) * 9 / 10 from course_dates where provider_id = $1) limit 1',
  );
  const recent = await queryValue(
    "select to_char(max(updated_at) - interval '1 day', 'YYYY-MM-DD HH24:MI:SS') as value from participants where provider_id = $1",
  );
  const tags = await queryValue(
    "select string_agg(id::text, ',') as value from (select id from tags where provider_id = $1 order by id limit 2) t",
  );
  const dates = Number(await queryValue('select count(*)::text as value from course_dates where provider_id = $1'));
  const pages = Math.floor((dates * within) / 75);
  const [middle, deepest] = [Math.min(100, Math.ceil(pages / 2)), Math.min(2_500, pages)];
  return [
    { name: 'courses', path: '/v2/courses?limit=75' },
    { name: 'courses, 250', path: '/v2/courses?limit=250' },
    { name: 'coursedates', path: '/v2/coursedates' },
    {
      name: 'coursedates, three includes',
      path: `/v2/coursedates?${toQuery(['course', 'location', 'instructors'])}`,
    },
    { name: 'coursedates, every include', path: `/v2/coursedates?${toQuery(everyInclude)}` },
    { name: 'participants', path: '/v2/participants' },
    { name: 'orders', path: '/v2/orders?user_data=true' },
    {
      name: 'orders with participants',
      path: '/v2/orders?user_data=true&include[]=lines.database_relations.participants',
    },
    { name: 'nextcoursedates', path: '/v2/nextcoursedates' },
    { name: 'courses, tag_ids all', path: `/v2/courses?tag_ids=${tags}&tag_match=all` },
    { name: 'coursedates, has_participants', path: '/v2/coursedates?has_participants=true' },
    { name: 'participants, updated near now', path: `/v2/participants?updated_at_min=${encodeURIComponent(recent)}` },
    { name: 'coursedates, since_id deep', path: `/v2/coursedates?since_id=${deepId}` },
    { name: `coursedates, page ${deepest}`, path: `/v2/coursedates?page=${deepest}` },
    { name: `coursedates, page ${middle}`, path: `/v2/coursedates?page=${middle}` },
  ];
}
