import { sql, type SQL } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import { expect, onTestFinished, test } from 'vitest';
import { columnName } from '../../../src/database/tables/columns.ts';
import { courseDates } from '../../../src/database/tables/coursedates.ts';
import { courses } from '../../../src/database/tables/courses.ts';
import { instructors, locations } from '../../../src/database/tables/places.ts';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { switchCatalogOn } from '../../support/catalog.ts';
import { getEndpoints, includeNames, type Endpoint } from '../../support/isolation.ts';
import { withProfile } from '../../support/key-profiles.ts';
import { write } from '../../support/orders.ts';
import { createPublicCatalog } from '../../support/public-catalog.ts';
import { openTestApp, openTestDatabase, ownDatabase, send, type BuildApp } from '../../support/test-app.ts';
import { loadUnguarded } from '../../support/unguarded.ts';

// A school has one value and then another one in a column. A reader whose plain answers are equal is not shown the
// column; then each filter, order and search must give equal answers, too.

type Get = (url: string) => Promise<{ status: number; text: string }>;
type Kind = 'text' | 'number' | 'moment' | 'any';
/** `filtered` has a query for each value of each parameter that may match one of the two schools alone. */
type Reader = { name: string; get: Get; plain: string[]; filtered: { kind: Kind; url: string }[] };

const words = ['quokka', 'wombat'] as const;

const kindOf = (column: PgColumn): Kind => {
  const type = column.getSQLType();
  if (type === 'text' || type === 'jsonb') return 'text';
  return /^(timestamp|date)/.test(type) ? 'moment' : 'number';
};

/** The two values of a column; those of a foreign key are ids of the school. */
function valuesOf(column: PgColumn, customers: number[]): readonly [unknown, unknown] {
  const type = column.getSQLType();
  if (type === 'jsonb') return [`{"note":"${words[0]}"}`, `{"note":"${words[1]}"}`];
  if (type === 'boolean') return [false, true];
  if (type.startsWith('time(') || type === 'time') return ['08:00', '16:00'];
  const kind = kindOf(column);
  if (kind === 'text') return words;
  if (kind === 'moment') return ['2021-02-02 08:00', '2035-03-03 08:00'];
  return columnName(column) === 'customer_id' ? [customers[0], customers[1]] : [1, 4_321];
}

type Named = { name: string; in: string; schema: { type?: string; enum?: string[]; items?: Named['schema'] } };
const parametersOf = ({ operation }: Endpoint) =>
  ((operation.parameters ?? []) as unknown as Named[]).filter((one) => one.in === 'query');
/** Those that choose neither items nor their order, and those that the reader sets. */
const skipped = ['include', 'limit', 'page', 'paginate', 'partner_id', 'include_partners', 'course_ids', 'format'];

function filtersOf(endpoint: Endpoint, url: string, ids: number[]): Reader['filtered'] {
  const withValues = ({ name, schema: { items, ...schema } }: Named): [Kind, string, readonly unknown[]][] => {
    const { type, enum: values } = items ?? schema;
    const plain = name.replace('[]', '');
    if (skipped.includes(plain) || plain === 'delimiter') return [];
    if (plain === 'order_by') return ['asc', 'desc'].map((way) => ['any', `order_direction=${way}&order_by`, values!]);
    if (values) return [['any', plain, values]];
    if (type === 'boolean') return [['number', plain, ['true', 'false']]];
    if (/_(min|max)$/.test(plain)) return [['moment', plain, ['2030-01-01']]];
    return type === 'integer' ? [['number', plain, ids]] : [['text', plain, words]];
  };
  return parametersOf(endpoint)
    .flatMap(withValues)
    .flatMap(([kind, name, values]) => values.map((value) => ({ kind, url: `${url}&${name}=${String(value)}` })));
}

type Opened = Awaited<ReturnType<typeof openTestApp>>;
type School = Awaited<ReturnType<typeof createPublicCatalog>>;

/** A key that reads these endpoints, with the includes that it may name. */
async function keyReader(name: string, get: Get, endpoints: Endpoint[], { ids, publicIds }: School, scope: string) {
  const reader: Reader = { name, get, plain: [], filtered: [] };
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{\w+\}/, String(publicIds.courses[0]));
    const needed = path.startsWith('/v2/batch') ? `course_ids=${ids.courses.join()}` : 'limit=100';
    const url = `${path}?${[needed, scope].filter(Boolean).join('&')}`;
    const may = await Promise.all(
      includeNames(endpoint).map(async (one) => [one, (await get(`${url}&include=${one}`)).status] as const),
    );
    const included = may.filter(([, status]) => status === 200).map(([one]) => one);
    reader.plain.push(`${url}&include=${included.join()}`);
    reader.filtered.push(...filtersOf(endpoint, url, ids.customers));
    if (parametersOf(endpoint).some((one) => one.name === 'format'))
      reader.filtered.push(...filtersOf(endpoint, `${url}&format=csv`, ids.customers));
  }
  return reader;
}

const publicLists = ['courses', 'coursedates', 'nextcoursedates', 'locations', 'instructors'].map(
  (one) => `/v2/${one}`,
);

async function createReaders(testApp: Opened, friend: School) {
  const me = await testApp.createProvider();
  await approvePartner(testApp.database, me.id, friend.me.id);
  const reads = getEndpoints(testApp).filter(({ method, path }) => method === 'GET' && !path.endsWith('/{id}'));
  const partnered = reads.filter((one) => parametersOf(one).some(({ name }) => name === 'partner_id'));
  const ofPublic = reads.filter(({ path }) => publicLists.includes(path));
  const partner = `partner_id=${friend.me.id}`;
  const base = await switchCatalogOn(friend.me);
  const pages = ['', '/dates.json', '/feed.atom', '/calendar.ics'].map((path) => `${base}${path}`);
  const values: [Kind, string, readonly string[]][] = [
    ...['q', 'tag', 'category', 'place'].map((name): [Kind, string, readonly string[]] => ['text', name, words]),
    ['any', 'month', ['2021-02', '2035-03']],
    ['any', 'language', ['no', 'en']],
  ];
  const visited = pages.flatMap((page) =>
    values.flatMap(([kind, name, all]) => all.map((value) => ({ kind, url: `${page}?${name}=${value}` }))),
  );
  const keyOf = async (profile: 'read' | 'booking') => (await withProfile(testApp, me, profile)).get;
  const { get: byPublishable } = await withProfile(testApp, friend.me, 'publishable');
  return {
    each: [
      await keyReader('partner', me.get, partnered, friend, partner),
      await keyReader('read key', await keyOf('read'), partnered, friend, partner),
      await keyReader('booking key', await keyOf('booking'), partnered, friend, partner),
      await keyReader('publishable key', byPublishable, ofPublic, friend, ''),
      {
        ...{ name: 'visitor', plain: pages, filtered: visited },
        get: (url: string) => send(testApp.app, { method: 'GET', url }),
      },
    ] as Reader[],
    /** These read all columns at once. */
    others: [await keyReader('partner among own items', me.get, partnered, friend, 'include_partners=true')],
  };
}

async function read({ get }: Reader, urls: string[]) {
  const answers: string[] = [];
  for (const url of urls) {
    const { status, text } = await get(url);
    // A feed without dates, and an event, have the time of the last change of anything.
    answers.push(`${status} ${text.replace(/<updated>[^<]*|^(?:DTSTAMP|LAST-MODIFIED|SEQUENCE):.*$/gm, '')}`);
  }
  return answers;
}
const readEach = (readers: Reader[], urlsOf: (reader: Reader) => string[]) =>
  Promise.all(readers.map((reader) => read(reader, urlsOf(reader))));

/** A column of one row of the school: `set` stores one of its two values, and `reset` the one of before. */
async function openColumn({ database }: Opened, { me, ids }: School, table: PgTable, id: number, column: PgColumn) {
  const [name, type] = [columnName(column), sql.raw(column.getSQLType())];
  const where = sql`where provider_id = ${me.id} and id = ${id}`;
  const store = (value: SQL) =>
    write(me, (tx) => tx.execute(sql`update ${table} set ${sql.identifier(name)} = ${value} ${where}`));
  const { rows } = await database.pool.query<{ value: unknown }>(
    `select "${name}"::text as value from ${getTableConfig(table).name} where provider_id = $1 and id = $2`,
    [me.id, id],
  );
  const values = valuesOf(column, ids.customers);
  return {
    title: `${getTableConfig(table).name}.${name}`,
    kind: kindOf(column),
    set: (n: 0 | 1) => store(sql`${String(values[n])}::${type}`),
    reset: () => store(sql`${rows[0]!.value}::${type}`),
  };
}
type Column = Awaited<ReturnType<typeof openColumn>>;

/** The columns that hold both values, or those of them with these names. */
async function openColumns(testApp: Opened, school: School, names?: string[]) {
  const {
    courses: [course],
    dates: [date],
    locations: [location],
    instructors: [instructor],
  } = school.publicIds;
  const rows = [
    [courses, course],
    [courseDates, date],
    [locations, location],
    [instructors, instructor],
  ] as const;
  const found: Column[] = [];
  for (const [table, id] of rows)
    for (const column of getTableConfig(table).columns) {
      if (['provider_id', 'id'].includes(columnName(column)) || column.generated) continue;
      if (names && !names.includes(columnName(column))) continue;
      const opened = await openColumn(testApp, school, table, id!, column);
      const isBoth = await opened
        .set(1)
        .then(() => opened.set(0))
        .then(
          () => true,
          () => false,
        );
      await opened.reset();
      if (isBoth) found.push(opened);
    }
  return found;
}

/** The requests whose answers differ although the reader is not shown the column that differs. */
async function findDiffering(build?: BuildApp, names?: string[]) {
  const testApp = await openTestApp(openTestDatabase(await ownDatabase()), {}, build);
  onTestFinished(testApp.close);
  const school = await createPublicCatalog(testApp);
  const { each, others } = await createReaders(testApp, school);
  const differing: string[] = [];
  const masked = new Map<string, string[]>();
  const compare = async (
    title: string,
    readers: Reader[],
    urlsOf: (reader: Reader) => string[],
    set: (n: 0 | 1) => Promise<unknown>,
  ) => {
    const second = await readEach(readers, urlsOf);
    await set(0);
    const first = await readEach(readers, urlsOf);
    for (const [r, reader] of readers.entries())
      for (const [u, url] of urlsOf(reader).entries())
        if (first[r]![u] !== second[r]![u]) differing.push(`${reader.name}, ${title}: ${url}`);
  };
  const hiddenFromPartner: Column[] = [];
  for (const column of await openColumns(testApp, school, names)) {
    await column.set(0);
    const before = await readEach(each, ({ plain }) => plain);
    await column.set(1);
    const after = await readEach(each, ({ plain }) => plain);
    const blind = each.filter((_, n) => before[n]!.join() === after[n]!.join());
    const urlsOf = ({ filtered }: Reader) =>
      filtered.flatMap(({ kind, url }) => (kind === 'any' || kind === column.kind ? [url] : []));
    await compare(column.title, blind, urlsOf, column.set);
    await column.reset();
    for (const { name } of blind) masked.set(name, [...(masked.get(name) ?? []), column.title]);
    if (blind.includes(each[0]!)) hiddenFromPartner.push(column);
  }
  const setAll = async (n: 0 | 1) => {
    for (const column of hiddenFromPartner) await column.set(n);
  };
  await setAll(1);
  await compare('all', others, ({ filtered }) => filtered.map(({ url }) => url), setAll);
  return { differing, masked };
}

test('no filter, order or search tells a value that the answers do not show', async () => {
  const { differing, masked } = await findDiffering();
  expect(differing).toEqual([]);
  const columns = ['courses.reference', 'course_dates.reference', 'course_dates.capacity_min'];
  for (const reader of ['partner', 'read key', 'booking key', 'publishable key', 'visitor'])
    expect(masked.get(reader), reader).toEqual(expect.arrayContaining(columns));
}, 1_800_000);

test('without the limit to shown members they tell such values', async () => {
  const { buildApp } = await loadUnguarded(['shownMembers']);
  const { differing } = await findDiffering(buildApp, ['reference', 'capacity_min', 'created_at']);
  for (const part of ['&q=', '&reference=', '&under_minimum=true', 'order_by=created_at', 'format=csv&q='])
    expect(
      differing.some((one) => one.includes(part)),
      part,
    ).toBe(true);
  for (const reader of ['partner', 'partner among own items', 'read key', 'booking key', 'publishable key'])
    expect(
      differing.some((one) => one.startsWith(`${reader},`)),
      reader,
    ).toBe(true);
}, 1_800_000);
