import { Client } from 'pg';
import { expect, test } from 'vitest';
import { buildDataset } from './bench/dataset.ts';
import { statementsOf, type Sent } from './support/statements.ts';
import { connectionTo, openTestDatabase, openWorld, ownDatabase, send, sharedWorld } from './support/world.ts';

// Large enough for the planner to see a difference: 1,000 courses, 10,000 course dates, 15,000 participants, 5,000 orders.
const size = 0.05;

type Plan = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
};
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** What the parameters of the lists hold here, by their names; those of which the data has nothing ask for nothing. */
function questions(ids: Record<string, number>, { hour, day }: Record<string, string>) {
  const { course, date, customer, tag, deep } = ids;
  const values: Record<string, (string | number)[]> = {
    limit: [75],
    page: [2, 20],
    since_id: [deep!],
    ...Object.fromEntries(
      ['created_at', 'updated_at', 'exported_at'].map((name) => [`${name}_min`, [hour!, day!, '2000-01-01']]),
    ),
    ...Object.fromEntries(['created_at', 'updated_at', 'exported_at'].map((name) => [`${name}_max`, ['2020-01-01']])),
    ...{ start_date_at_min: ['now'], start_date_at_max: ['2024-01-05'] },
    ...{ end_date_at_min: ['2027-12-27'], end_date_at_max: ['2024-01-05'] },
    ...{
      course_id: [course!],
      course_ids: [course!],
      coursedate_id: [date!],
      customer_id: [customer!],
      user_id: [course!],
      tag_ids: [tag!],
    },
    ...{ status_id: [3], has_participants: ['true', 'false'], exported: ['true'], order_by: ['startdate'] },
    ...{ order_direction: ['desc'], include_deleted: ['true'], user_data: ['true'], paginate: ['1'] },
    ...{ description_language: ['en'], tag_match: [`all&tag_ids=${tag!}`] },
    // The school has no partners.
    ...{ include_partners: [], partner_id: [] },
    ...{ email: ['user17@company.example'], firstname: ['Ola'], lastname: ['Nordmann 12'], username: ['user12'] },
  };
  return values;
}

test('no list scans a table of a large school, nor sorts the whole of it', { timeout: 300_000 }, async () => {
  const name = await ownDatabase();
  const world = await openWorld(openTestDatabase(name, { statementMs: 120_000 }));
  const once = new Client(connectionTo(name));
  await once.connect();
  await once.query(
    "set plan_cache_mode = 'force_generic_plan'; set random_page_cost = 1.1; set timezone = 'Europe/Oslo'",
  );
  try {
    const { apiKey, providerId } = await buildDataset(world.database, size);
    const { pool } = world.database;
    const one = async (text: string) =>
      (await pool.query<{ value: string }>(text, [providerId])).rows.map(({ value }) => value)[0]!;
    const ids = {
      course: Number(await one('select min(id) + 7 as value from courses where provider_id = $1')),
      date: Number(await one('select min(id) + 7 as value from course_dates where provider_id = $1')),
      customer: Number(await one('select min(id) + 7 as value from customers where provider_id = $1')),
      tag: Number(await one('select min(id) as value from tags where provider_id = $1')),
      deep: Number(await one('select max(id) - 200 as value from course_dates where provider_id = $1')),
    };
    const last = (span: string) =>
      one(
        `select to_char(max(updated_at) - interval '1 ${span}', 'YYYY-MM-DD HH24:MI:SS') as value from orders where provider_id = $1`,
      );
    // The last day is what a planner thinks to be spread among all ids.
    const values = questions(ids, { hour: await last('hour'), day: await last('day') });

    const tenants = await pool.query<{ name: string; rows: number }>(
      `select c.relname as name, c.reltuples as rows from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id'
        where c.relkind = 'r' and c.relpages > 20`,
    );
    const large = new Map<string, number>();
    for (const { name: table } of tenants.rows) {
      large.set(table, Number(await one(`select count(*) as value from ${table} where provider_id = $1`)));
    }
    expect([...large.keys()].sort()).toEqual(
      expect.arrayContaining(['course_dates', 'courses', 'orders', 'participants']),
    );

    const indexes = new Map(
      (
        await pool.query<{ name: string; columns: string[] }>(
          `select i.indexrelid::regclass::text as name, array(
              select pg_get_indexdef(i.indexrelid, n, false) from generate_series(1, i.indnkeyatts) n) as columns
            from pg_index i where i.indrelid::regclass::text = any($1)`,
          [[...large.keys()]],
        )
      ).rows.map(({ name, columns }) => [name, columns]),
    );

    const document = (world.app as unknown as { swagger(): Document }).swagger();
    const found: string[] = [];
    let asked = 0;
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (!path.startsWith('/v2/') || !get?.parameters?.some(({ name }) => name === 'limit')) continue;
      const address = path.replace('{course_id}', String(ids.course));
      const each = get.parameters.flatMap(({ name, schema }) =>
        (name === 'include[]' ? schema.items!.enum! : valuesOf(values, name.replace('[]', ''))).map(
          (value) => `${name}=${value}`,
        ),
      );
      const always = required[path]?.(ids) ?? [];
      for (const question of ['', ...each, ...both(each), ...besideRange(each, values)]) {
        const besides = always.filter((one) => !question.startsWith(one.split('=')[0]!));
        const url = `${address}?${[...besides, question].filter(Boolean).join('&')}`;
        const ask = async () => {
          const { status } = await send(world.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } });
          expect([url, status]).toEqual([url, 200]);
        };
        // A text gets its name when it comes again.
        const sent = [...(await statementsOf(ask)), ...(await statementsOf(ask))];
        asked += 1;
        for (const statement of sent.filter(({ text }) => /^(with|select(?! count))/.test(text))) {
          const faults = faultsOf(await planOf(statement), large, statement.text.startsWith('with "probe') ? few : 0);
          // What has a name is planned once for all providers, in the end.
          const forAll = statement.name ? await planForAllOf(statement) : undefined;
          if (forAll) {
            const more = [...faultsOf(forAll, large), ...gapsOf(forAll, indexes)];
            faults.push(...more.map((fault) => `for all, ${fault}`));
          }
          found.push(...faults.map((fault) => `${path} ${question}: ${fault}`));
        }
      }
    }
    // All of them in a range are found another way than few of them, and few another way than without a range.
    const participantsBy = async (question: string) => {
      const url = `/v2/participants?${question}`;
      const { text } = await send(world.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } });
      return JSON.parse(text) as { id: number }[];
    };
    const lastId = Number(await one('select max(id) as value from participants where provider_id = $1'));
    for (const paging of [
      '',
      'page=3',
      'limit=250&page=60',
      `since_id=${lastId - 60}`,
      `since_id=${lastId - 300}&page=2`,
    ]) {
      const items = await participantsBy(paging);
      expect(items.length).toBeGreaterThan(50);
      expect(await participantsBy(`updated_at_min=2000-01-01&${paging}`)).toEqual(items);
    }
    const day = `updated_at_min=${values['updated_at_min']![1]}`;
    const [first] = await participantsBy(`${day}&limit=1`);
    for (const paging of ['limit=250', 'limit=250&page=2', 'limit=10&page=7']) {
      const items = await participantsBy(`since_id=${first!.id - 1}&${paging}`);
      expect(items.length).toBeGreaterThanOrEqual(10);
      expect(await participantsBy(`${day}&${paging}`)).toEqual(items);
    }
    expect(await participantsBy(`${day}&since_id=${lastId - 20}`)).toHaveLength(20);
    // One more than are read and sorted, and as many.
    for (const offset of [4_999, 5_000]) {
      const moment = await one(
        `select to_char(updated_at, 'YYYY-MM-DD HH24:MI:SS.US') as value from participants where provider_id = $1
          order by id desc offset ${offset} limit 1`,
      );
      const items = await participantsBy(`updated_at_min=${moment}&updated_at_max=2100-01-01&limit=1`);
      expect(items.map(({ id }) => id)).toEqual([lastId - offset]);
    }
    expect(asked).toBeGreaterThan(80);
    expect(found).toEqual([]);

    async function planOf({ text, values }: Sent) {
      const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
        text: `explain (analyze, timing off, format json) ${text}`,
        values,
      });
      return rows[0]!['QUERY PLAN'][0]!.Plan;
    }

    async function planForAllOf({ text, values }: Sent) {
      const bound = values.map((value) => literalOf(Array.isArray(value) ? `{${value.join()}}` : String(value)));
      await once.query(`prepare planned as ${text}`);
      try {
        const { rows } = await once.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
          `explain (analyze, timing off, format json) execute planned${bound.length > 0 ? `(${bound.join()})` : ''}`,
        );
        return rows[0]!['QUERY PLAN'][0]!.Plan;
      } finally {
        await once.query('deallocate planned');
      }
    }
  } finally {
    await once.end();
    await world.close();
  }
});

test('every table of the providers is planned for a large one', async () => {
  const { database } = await sharedWorld();
  // A provider has one row of its state, and few keys.
  const { rows } = await database.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id'
      where c.relkind = 'r' and c.relname not in ('provider_state', 'api_keys')
        and a.attoptions is distinct from array['n_distinct=20'] and c.relnamespace = 'public'::regnamespace`,
  );
  expect(rows).toEqual([]);
});

/** What a list will not answer without. */
const required: Record<string, (ids: Record<string, number>) => string[]> = {
  '/v2/batch/coursedates': ({ course }) => [`course_ids=${course}`],
  '/v2/search-users': () => ['lastname=Nordmann 1'],
};

type Parameter = { name: string; schema: { items?: { enum?: string[] } } };
type Document = { paths: Record<string, { get?: { parameters?: Parameter[] } }> };

/** An order beside a filter is where plans go wrong. */
const both = (each: string[]) =>
  each.includes('order_by=startdate')
    ? each.filter((one) => !one.startsWith('order_')).map((one) => `${one}&order_by=startdate&order_direction=desc`)
    : [];

function valuesOf(values: Record<string, (string | number)[]>, name: string) {
  const found = values[name];
  if (found === undefined) throw new Error(`${name} is documented, and has no value here`);
  return found;
}

/** So many in a range are read and sorted. */
const few = 5_000;

/** So is a range of nearly all, or of the last day, beside another filter or a place to go on from. */
const besideRange = (each: string[], values: Record<string, (string | number)[]>) => {
  const ranges = values['updated_at_min']!.slice(1).map((value) => `updated_at_min=${value}`);
  const others = each.filter((one) => !/^(updated_at|limit|include|order_)/.test(one));
  return each.includes(ranges[0]!) ? ranges.flatMap((range) => others.map((one) => `${one}&${range}`)) : [];
};

/** Who touches more than half of a table for a page goes through all that the school has; `large` tells the rows of each. */
function faultsOf(plan: Plan, large: Map<string, number>, mayBeSorted = 0) {
  const most = (table: string) => (large.get(table) ?? Infinity) / 2;
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table = '', 'Rows Removed by Filter': dropped = 0 } = node;
    const sorted = type.endsWith('Sort') ? rowsOf(node.Plans![0]!) : 0;
    const rows = Math.max(...nodesOf(node).map((below) => large.get(below['Relation Name'] ?? '') ?? 0));
    return [
      ...(type === 'Seq Scan' && large.has(table) ? [`scans ${table}`] : []),
      ...(dropped * node['Actual Loops'] > most(table) ? [`reads ${dropped} rows of ${table} for nothing`] : []),
      ...(rows > 0 && sorted > Math.max(rows / 2, mayBeSorted) ? [`sorts ${sorted} of ${rows} rows`] : []),
    ];
  });
}

/** Behind a column without a condition an index is read from end to end, however few rows come out of it. */
function gapsOf(plan: Plan, indexes: Map<string, string[]>) {
  return nodesOf(plan).flatMap(({ 'Index Name': name = '', 'Index Cond': condition }) => {
    const columns = indexes.get(name);
    if (!columns || condition === undefined) return [];
    const has = columns.map((column) => new RegExp(`\\b${column.replaceAll('"', '')}\\b`).test(condition));
    return has.lastIndexOf(true) > has.indexOf(false) && has.includes(false)
      ? [`reads all of ${name} (${condition})`]
      : [];
  });
}

const literalOf = (text: string) => `'${text.replaceAll("'", "''")}'`;

const rowsOf = (node: Plan) => node['Actual Rows'] * node['Actual Loops'];
