import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from '../database.ts';
import { courseFields, courseHeadFields, dateFields, instructorFields, locationFields, tagFields } from './fields.ts';
import { runNode, moveTablesAside, withNode, type Peer, type PeerQuery } from './peer.ts';

const token = 'bench-bench-bench-bench';

/** Supports only single-column keys, so it reads copies of our tables; queried with the administrator's token. */
export const directus: Peer = {
  name: 'Directus 12.3.1',
  packages: { directus: '12.3.1' },
  oldestNode: 22,
  async serve({ folder, subject, data }, work) {
    // The extension sandbox needs a compiler, and there are no extensions.
    writeFileSync(join(folder, 'node_modules/isolated-vm/isolated-vm.js'), 'module.exports = {};');
    const env = {
      ...{ DB_CLIENT: 'pg', DB_CONNECTION_STRING: subject.url, SECRET: token, LOG_LEVEL: 'error', TELEMETRY: 'false' },
      ...{ ADMIN_EMAIL: 'admin@example.com', ADMIN_PASSWORD: token, ADMIN_TOKEN: token, ACCEPT_TERMS: 'true' },
      ...{ HOST: '127.0.0.1', PRESSURE_LIMITER_ENABLED: 'false' },
    };
    const program = (...args: string[]) => ({ folder, args: ['node_modules/directus/cli.js', ...args], env });
    await moveTablesAside(subject);
    await runNode(program('bootstrap'));
    await copyTables(subject);
    const start = (port: string) => ({ ...program('start'), env: { ...env, PORT: port } });
    const isReady = async (base: string) => (await fetch(`${base}/server/ping`)).ok;
    return withNode(start, isReady, async ({ base, pid }) => {
      const createQuery = (table: string, fields: string[], more = '') => ({
        url: `${base}/items/${table}?limit=75&sort=id&filter[provider_id][_eq]=${data.providerId}&filter[deleted_at][_null]=true&fields=${fields.join(',')}${more}`,
        ...{ method: 'GET' as const, headers: { authorization: `Bearer ${token}` } },
      });
      const counted = '&meta=filter_count';
      const coursedates: PeerQuery<'coursedates'> = {
        ...createQuery('course_dates', dateFields, counted),
        normalise: ({ data: rows, meta }) => ({
          total: meta.filter_count,
          items: rows.map((date: any) => ({ id: Number(date.id), start: date.start_at })),
        }),
      };
      const includes: PeerQuery<'includes'> = {
        ...createQuery(
          'course_dates',
          [...dateFields.filter((name) => name !== 'course_id' && name !== 'location_id'), ...nested],
          counted,
        ),
        normalise: ({ data, meta }) => ({
          total: meta.filter_count,
          items: data.map(({ id, course_id: course, location_id: location, instructors }: any) => ({
            ...{ id: Number(id), course: course.title, tags: tagTitles(course), location: location.title },
            instructors: instructors.map((one: any) => one.instructor_id.lastname),
          })),
        }),
      };
      const courses: PeerQuery<'courses'> = {
        ...createQuery('courses', [...courseFields, ...tags]),
        normalise: ({ data }) => ({
          items: data.map((course: any) => ({
            ...{ id: Number(course.id), title: course.title, text: course.text_description, tags: tagTitles(course) },
          })),
        }),
      };
      return work({ name: directus.name, pid, queries: { coursedates, includes, courses } });
    });
  },
};

const under = (path: string, fields: string[]) => fields.map((field) => `${path}.${field}`);
const tags = under('tags.tag_id', tagFields);
const nested = [
  ...[...under('course_id', [...courseHeadFields, ...tags]), ...under('location_id', locationFields)],
  ...under('instructors.instructor_id', instructorFields),
];
const tagTitles = (course: any) => course.tags.map((one: any) => one.tag_id.title);

/** Tables with their primary keys and foreign keys. */
const tables = {
  locations: {},
  instructors: {},
  tags: {},
  courses: {},
  course_dates: { course_id: 'courses', location_id: 'locations' },
  course_tags: { course_id: 'courses', tag_id: 'tags' },
  course_date_instructors: { course_date_id: 'course_dates', instructor_id: 'instructors' },
};

async function copyTables({ database }: Subject) {
  const run = (text: string) => database.pool.query(text);
  for (const [table, references] of Object.entries(tables)) {
    await run(`create table ${table} as table service.${table}`);
    const isLink = table === 'course_tags' || table === 'course_date_instructors';
    await run(`alter table ${table} add ${isLink ? 'id bigserial primary key' : 'primary key (id)'}`);
    await run(`create index on ${table} (provider_id, id)`);
    for (const [column, other] of Object.entries(references)) {
      await run(`alter table ${table} add foreign key (${column}) references ${other}`);
      await run(`create index on ${table} (${column})`);
    }
    await run(`insert into directus_collections (collection) values ('${table}')`);
  }
  // Many-to-many relations: alias field and junction table.
  await run(`insert into directus_fields (collection, field, special) values
    ('courses', 'tags', 'm2m'), ('course_dates', 'instructors', 'm2m')`);
  await run(`insert into directus_relations (many_collection, many_field, one_collection, one_field, junction_field) values
    ('course_tags', 'course_id', 'courses', 'tags', 'tag_id'),
    ('course_tags', 'tag_id', 'tags', null, 'course_id'),
    ('course_date_instructors', 'course_date_id', 'course_dates', 'instructors', 'instructor_id'),
    ('course_date_instructors', 'instructor_id', 'instructors', null, 'course_date_id')`);
  await run('analyze');
}
