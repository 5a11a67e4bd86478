import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Subject } from '../database.ts';
import { courseFields, courseHeadFields, dateFields, instructorFields, locationFields, tagFields } from './fields.ts';
import { moveTablesAside, withNode, type Peer, type PeerQuery } from './peer.ts';

/** Creates its own tables from content types, into which our rows are copied; queried with a full-access token. */
export const strapi: Peer = {
  name: 'Strapi 5.54.0',
  packages: { '@strapi/strapi': '5.54.0', pg: '8.23.1' },
  oldestNode: 20,
  async serve({ folder, subject, data }, work) {
    await moveTablesAside(subject);
    await writeProject(folder, subject);
    const start = (port: string) => ({ folder, args: ['start.js'], env: { PORT: port, DATABASE_URL: subject.url } });
    const isReady = async (base: string) => (await fetch(`${base}/_health`)).ok;
    return withNode(start, isReady, async ({ base, pid }) => {
      await copyRows(subject);
      const headers = { authorization: `Bearer ${readFileSync(join(folder, 'token'), 'utf8')}` };
      const createQuery = (path: string, more: string[]) => ({
        ...{ method: 'GET' as const, headers },
        url: `${base}/api/${path}?filters[provider_id][$eq]=${data.providerId}&filters[deleted_at][$null]=true&sort=id&pagination[pageSize]=75&${more.join('&')}`,
      });
      const coursedates: PeerQuery<'coursedates'> = {
        ...createQuery('course-dates', [fields('', dateFields)]),
        normalise: ({ data, meta }) => ({
          total: meta.pagination.total,
          items: data.map((date: any) => ({ id: date.id, start: date.start_at })),
        }),
      };
      const includes: PeerQuery<'includes'> = {
        ...createQuery('course-dates', [fields('', dateFields), ...nested]),
        normalise: ({ data, meta }) => ({
          total: meta.pagination.total,
          items: data.map(({ id, course, location, instructors }: any) => ({
            ...{ id, course: course.title, tags: tagTitles(course), location: location.title },
            instructors: instructors.map((one: any) => one.lastname),
          })),
        }),
      };
      const courses: PeerQuery<'courses'> = {
        ...createQuery('courses', [fields('', courseFields), tags(''), 'pagination[withCount]=false']),
        normalise: ({ data }) => ({
          items: data.map((course: any) => ({
            ...{ id: course.id, title: course.title, text: course.text_description, tags: tagTitles(course) },
          })),
        }),
      };
      return work({ name: strapi.name, pid, queries: { coursedates, includes, courses } });
    });
  },
};

/** Strapi's name of a field. */
const named = (field: string) => ({ created_at: 'createdAt', updated_at: 'updatedAt' })[field] ?? field;
const fields = (within: string, names: string[]) =>
  `${within === '' ? 'fields' : `${within}[fields]`}=${names.map(named).join(',')}`;
const tags = (within: string) => fields(`${within}${within === '' ? 'populate' : '[populate]'}[tags]`, tagFields);
const nested = [
  ...[fields('populate[course]', courseHeadFields), tags('populate[course]')],
  ...[fields('populate[location]', locationFields), fields('populate[instructors]', instructorFields)],
];
const tagTitles = (course: any) => course.tags.map(({ title }: any) => title);

type ContentType = { name: string; table: string; fields: string[]; relations?: Record<string, [string, string]> };
const contentTypes: ContentType[] = [
  { name: 'tag', table: 'tags', fields: tagFields },
  { name: 'location', table: 'locations', fields: locationFields },
  { name: 'instructor', table: 'instructors', fields: instructorFields },
  { name: 'course', table: 'courses', fields: courseFields, relations: { tags: ['manyToMany', 'tag'] } },
  {
    ...{ name: 'course-date', table: 'course_dates', fields: dateFields },
    relations: {
      course: ['manyToOne', 'course'],
      location: ['manyToOne', 'location'],
      instructors: ['manyToMany', 'instructor'],
    },
  },
];
/** A table's fields without the built-in ones. */
const ownFields = ({ fields: all }: ContentType) => [
  'provider_id',
  ...all.filter((name) => !['id', 'created_at', 'updated_at'].includes(name)),
];
const uid = (name: string) => `api::${name}.${name}`;

const types: Record<string, string> = {
  ...{ bigint: 'integer', integer: 'integer', smallint: 'integer', text: 'text', boolean: 'boolean', date: 'date' },
  ...{ 'time without time zone': 'time', 'timestamp with time zone': 'datetime', numeric: 'decimal' },
  ...{ 'double precision': 'float', jsonb: 'json' },
};

const configuration = {
  'config/server.js':
    "module.exports = ({ env }) => ({ host: '127.0.0.1', port: env.int('PORT'), app: { keys: ['bench'] } });",
  'config/admin.js': `module.exports = {
    auth: { secret: 'bench' }, apiToken: { salt: 'bench' }, transfer: { token: { salt: 'bench' } }, serveAdminPanel: false,
    secrets: { encryptionKey: 'bench-bench-bench-bench-bench-32' } };`,
  'config/database.js': `module.exports = ({ env }) => ({ connection: {
    client: 'postgres', connection: { connectionString: env('DATABASE_URL') } } });`,
  'config/middlewares.js': `module.exports =
    ['errors', 'security', 'cors', 'poweredBy', 'query', 'body', 'session', 'favicon', 'public'].map((name) => 'strapi::' + name);`,
  'src/index.js': `module.exports = { async bootstrap({ strapi }) {
    const token = { name: 'bench', description: '', type: 'full-access', lifespan: null };
    const { accessKey } = await strapi.service('admin::api-token').create(token);
    require('node:fs').writeFileSync('token', accessKey); } };`,
  'start.js': `const { createStrapi } = require('@strapi/strapi');
    createStrapi({ appDir: __dirname, distDir: __dirname }).start();`,
};

/** Content type, route, controller and service per table, as Strapi's generator writes them. */
async function writeProject(folder: string, { database }: Subject) {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  mkdirSync(join(folder, 'public/uploads'), { recursive: true });
  for (const [path, text] of Object.entries(configuration)) write(path, text);
  for (const contentType of contentTypes) {
    const { name, table, relations = {} } = contentType;
    const { rows } = await database.pool.query<{ column: string; type: string }>(
      `select column_name as column, data_type as type from information_schema.columns
        where table_schema = 'service' and table_name = $1 and column_name = any($2)`,
      [table, ownFields(contentType)],
    );
    const attributes = {
      ...Object.fromEntries(rows.map(({ column, type }) => [column, { type: types[type] }])),
      ...Object.fromEntries(
        Object.entries(relations).map(([field, [relation, other]]) => [
          field,
          { type: 'relation', relation, target: uid(other) },
        ]),
      ),
    };
    const info = { singularName: name, pluralName: `${name}s`, displayName: name };
    const description = { contentType: 'collectionType', collectionName: table, info, options: {}, attributes };
    write(`src/api/${name}/content-types/${name}/schema.json`, JSON.stringify(description, null, 2));
    for (const part of ['router', 'controller', 'service']) {
      const factory = `createCore${part.charAt(0).toUpperCase()}${part.slice(1)}`;
      write(
        `src/api/${name}/${part === 'router' ? 'route' : part}s/${name}.js`,
        `module.exports = require('@strapi/strapi').factories.${factory}('${uid(name)}');`,
      );
    }
  }
}

/** Strapi separates a trailing number with an underscore. */
const columnOf = (field: string) => field.replace(/([a-z])(\d)/g, '$1_$2');

async function copyRows({ database }: Subject) {
  const run = (text: string) => database.pool.query(text);
  for (const contentType of contentTypes) {
    const copied = [...ownFields(contentType), 'created_at', 'updated_at'];
    await run(`insert into ${contentType.table} (id, document_id, published_at, ${copied.map(columnOf).join(', ')})
      select id, 'document' || id, now(), ${copied.join(', ')} from service.${contentType.table}`);
    await run(`create index on ${contentType.table} (provider_id, id)`);
  }
  await run('insert into courses_tags_lnk (course_id, tag_id) select course_id, tag_id from service.course_tags');
  await run(`insert into course_dates_instructors_lnk (course_date_id, instructor_id)
    select course_date_id, instructor_id from service.course_date_instructors`);
  for (const one of ['course', 'location']) {
    await run(`insert into course_dates_${one}_lnk (course_date_id, ${one}_id)
      select id, ${one}_id from service.course_dates where ${one}_id is not null`);
  }
  await run('analyze');
}
