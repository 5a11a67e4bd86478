import type { App } from '../../src/app.ts';
import type { Database } from '../../src/database/client.ts';
import { dereference } from './openapi.ts';
import { sampleValues } from './query-parameters.ts';

// Every list with each documented parameter, for the benchmark's data set.

/** A query of a list. */
export type ListUrl = { path: string; query: string; url: string };

type Values = Record<string, (string | number)[]>;
type Ids = Record<
  'course' | 'date' | 'customer' | 'tag' | 'otherTag' | 'deep' | 'location' | 'instructor' | 'order' | 'participant',
  number
>;
type FilterValues = { ids: Ids; values: Values; firstHours: Map<string, string> };
type Parameter = Parameters<typeof sampleValues>[0] & { deprecated?: boolean };
type Document = { paths: Record<string, { get?: { parameters?: Parameter[] } }> };

/** Ids and timestamps of the large provider, and parameter values by name. */
export async function collectFilterValues({ pool }: Database, providerId: number) {
  const one = async (text: string) =>
    (await pool.query<{ value: string }>(text, [providerId])).rows.map(({ value }) => value)[0]!;
  const ids: Ids = {
    course: Number(await one('select min(id) + 7 as value from courses where provider_id = $1')),
    date: Number(await one('select min(id) + 7 as value from course_dates where provider_id = $1')),
    customer: Number(await one('select min(id) + 7 as value from customers where provider_id = $1')),
    tag: Number(await one('select min(id) as value from tags where provider_id = $1')),
    location: Number(await one('select min(location_id) + 7 as value from course_dates where provider_id = $1')),
    instructor: Number(await one('select min(id) + 7 as value from instructors where provider_id = $1')),
    order: Number(await one('select min(id) + 7 as value from orders where provider_id = $1')),
    participant: Number(await one('select min(id) + 7 as value from participants where provider_id = $1')),
    // Every fourth course has both tags.
    otherTag: Number(await one('select min(id) + 1 as value from tags where provider_id = $1')),
    deep: Number(await one('select max(id) - 200 as value from course_dates where provider_id = $1')),
  };
  const last = (span: string) =>
    one(
      `select to_char(max(updated_at) - interval '1 ${span}', 'YYYY-MM-DD HH24:MI:SS') as value from orders where provider_id = $1`,
    );
  const firstHours = new Map<string, string>();
  for (const [table, column] of await findTimestamps(pool))
    firstHours.set(
      table,
      await one(
        `select to_char(coalesce(min(${column}), now()) + interval '1 hour', 'YYYY-MM-DD HH24:MI:SS') as value from ${table} where provider_id = $1`,
      ),
    );
  // The planner assumes that the last day's rows are spread evenly over all ids.
  return { ids, values: valuesFor(ids, await last('hour'), await last('day')), firstHours };
}

/** The tables of a provider, each with the column of the last change, or of the creation if rows do not change. */
async function findTimestamps(pool: Database['pool']) {
  const { rows } = await pool.query<{ name: string; column: string }>(
    `select table_name as name, max(column_name) filter (where column_name <> 'provider_id') as column
      from information_schema.columns where table_schema = 'public' and column_name in ('created_at', 'updated_at', 'provider_id')
      group by 1 having 'provider_id' = any (array_agg(column_name::text)) and count(*) > 1`,
  );
  return rows.map(({ name, column }) => [name, column] as const);
}

/** Last parts of paths that are not the name of a table. */
const tableNames: Record<string, string> = {
  coursedates: 'course_dates',
  mails: 'outbox',
  interests: 'course_interests',
  employees: 'course_users',
};
const tableOf = (path: string) => {
  const last = path.split('/').at(-1)!;
  return tableNames[last] ?? last.replaceAll('-', '_');
};

const timestamps = ['created_at', 'updated_at', 'exported_at', 'paid_at'];

/** Facts that the document lacks: rows, texts and times of the data, and omitted parameters. */
function valuesFor({ course, tag, otherTag, deep, ...ids }: Ids, hour: string, day: string): Values {
  const [email, first, last] = [['user17@company.example'], ['now'], ['2024-01-05']];
  return {
    ...{ limit: [75], page: [2, 20], since_id: [deep] },
    ...Object.fromEntries(timestamps.map((name) => [`${name}_min`, [hour, day, '2000-01-01']])),
    ...{ start_date_at_min: first, start_date_at_max: last, end_date_at_min: ['2027-12-27'], end_date_at_max: last },
    ...{ course_id: [course], course_ids: [course], coursedate_id: [ids.date], customer_id: [ids.customer] },
    ...{ user_id: [course], tag_ids: [tag], location_id: [ids.location], instructor_id: [ids.instructor] },
    ...{ order_id: [ids.order], booking_id: [ids.order], participant_id: [ids.participant] },
    ...{ email, recipient: [...email, 'hall@school.example'], firstname: ['Ola'], lastname: ['Nordmann 12'] },
    ...{ username: ['user12'], orgnr: ['917'], code: ['gift 17'], external_id: ['E-17'] },
    ...{ purpose: ['receipt'], q: ['n', 'customer 17', 'course', 'ola 29', 'x'] },
    ...{ format: ['csv'], delimiter: [], spreadsheet: [] },
    ...{ description_language: ['en'], tag_match: [`all&tag_ids=${tag},${otherTag}`] },
    // A path parameter.
    id: [],
    // The school has no partners, and a cursor of the change feed is no value of a column.
    ...{ include_partners: [], partner_id: [], since: [], types: [] },
  };
}

/** Parameters that a list requires. */
const required: Record<string, (ids: Ids) => string[]> = {
  '/v2/batch/coursedates': ({ course }) => [`course_ids=${course}`],
  // In any order of the list a page has some of these.
  '/v2/search-users': () => ['firstname=Kari'],
};

/** All queries from the OpenAPI document: each parameter alone, with an order, and with a range. */
export function buildListUrls(app: App, { ids, values, firstHours }: FilterValues): ListUrl[] {
  const document = dereference<Document>((app as unknown as { swagger(): object }).swagger());
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    if (!path.startsWith('/v2/') || !get?.parameters?.some(({ name }) => name === 'limit')) return [];
    const firstHour = firstHours.get(tableOf(path));
    const valuesOf = (parameter: Parameter) => {
      const name = parameter.name.replace('[]', '');
      const isEnd = timestamps.some((timestamp) => name === `${timestamp}_max`);
      return isEnd && firstHour ? [firstHour] : (values[name] ?? sampleValues(parameter));
    };
    const address = path.replace('{course_id}', String(ids.course)).replace('{id}', String(ids.customer));
    const parameters = get.parameters.filter(({ deprecated }) => deprecated !== true);
    const each = parameters.flatMap((parameter) => {
      return valuesOf(parameter).map((value) => `${parameter.name}=${value}`);
    });
    const always = required[path]?.(ids) ?? [];
    const all = ['', ...each, ...both(each), ...besideRange(each, values)];
    // A page leaves a cursor from which later pages start, so the last pages come first.
    return all
      .sort((a, b) => pageNumber(b) - pageNumber(a))
      .map((query) => {
        const besides = always.filter((one) => !query.startsWith(one.split('=')[0]!));
        return { path, query, url: `${address}?${[...besides, query].filter(Boolean).join('&')}` };
      });
  });
}

const pageNumber = (query: string) => Number(/^page=(\d+)/.exec(query)?.[1] ?? 0);

/** Combinations of order and filter often get bad plans. */
const both = (each: string[]) =>
  ['startdate', 'updated_at'].flatMap((column) =>
    each.includes(`order_by=${column}`)
      ? each
          .filter((one) => !/^(order_|since_id)/.test(one))
          .map((one) => `${one}&order_by=${column}&order_direction=desc`)
      : [],
  );

/** So do ranges of nearly all rows or of the last day, combined with another filter or since_id. */
const besideRange = (each: string[], values: Values) => {
  const ranges = values['updated_at_min']!.slice(1).map((value) => `updated_at_min=${value}`);
  const others = each.filter((one) => !/^(updated_at|limit|include|order_|format)/.test(one));
  return each.includes(ranges[0]!) ? ranges.flatMap((range) => others.map((one) => `${one}&${range}`)) : [];
};
