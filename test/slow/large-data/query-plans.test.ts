import { Client } from 'pg';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/client.ts';
import { createKey } from '../../../src/domains/school/auth/key-service.ts';
import { createContext } from '../../../src/domains/school/schools/service.ts';
import { buildDataset } from '../../bench/dataset.ts';
import { collectFilterValues, buildListUrls, type ListUrl } from '../../support/list-urls.ts';
import { compositeRows, recordStatements, type RecordedStatement } from '../../support/record-statements.ts';
import {
  connectionTo,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  settings,
  sharedTestApp,
} from '../../support/test-app.ts';

// Large enough for the planner to see a difference: 1,000 courses, 10,000 course dates, 15,000 participants, 5,000 orders.
// QUERY_PLANS_SIZE=1 has 300,000 participants.
const size = Number(process.env['QUERY_PLANS_SIZE'] ?? 0.05);

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

test(
  'no list query scans or sorts a large table, and named statements use generic plans',
  { timeout: size < 1 ? 900_000 : 3_600_000 },
  async () => {
    const name = await ownDatabase();
    const testApp = await openTestApp(openTestDatabase(name, { statementMs: 120_000 }));
    const once = new Client(connectionTo(name));
    await once.connect();
    await once.query(
      "set plan_cache_mode = 'force_generic_plan'; set random_page_cost = 1.1; set timezone = 'Europe/Oslo'",
    );
    try {
      const { apiKey, providerId } = await buildDataset(testApp.database, size);
      await addLocationsAndMails(testApp.database, providerId);
      const { pool } = testApp.database;
      const one = async (text: string) =>
        (await pool.query<{ value: string }>(text, [providerId])).rows.map(({ value }) => value)[0]!;
      const filterValues = await collectFilterValues(testApp.database, providerId);
      const tenants = await pool.query<{ name: string; rows: number }>(
        `select c.relname as name, c.reltuples as rows from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id'
        where c.relkind = 'r' and c.relpages > 20`,
      );
      const large = new Map<string, number>();
      for (const { name: table } of tenants.rows) {
        large.set(table, Number(await one(`select count(*) as value from ${table} where provider_id = $1`)));
      }
      expect([...large.keys()].sort()).toEqual(
        expect.arrayContaining(['course_dates', 'courses', 'orders', 'outbox', 'participants', 'vouchers']),
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

      const found: string[] = [];
      const named = new Map<string, RecordedStatement>();
      const all = buildListUrls(testApp.app, filterValues);
      const { apiKey: publishableKey } = await createKey(await createContext(testApp.database, settings, providerId), {
        profile: 'publishable',
      });
      // With it, as with partners, ranges and the next dates read all rows that match.
      const isBounded = ({ path, query }: ListUrl) => path !== '/v2/nextcoursedates' && !query.includes('updated_at');
      const calls = [
        ...all.map((one) => ({ ...one, key: apiKey })),
        ...all.filter(isBounded).map((one) => ({ ...one, key: publishableKey })),
      ];
      let publicLists = 0;
      for (const { path, query, url, key } of calls) {
        const request = async () => {
          const { status } = await send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': key } });
          const isRefused = status === 403 && key === publishableKey;
          if (status === 200 && key === publishableKey) publicLists += 1;
          if (!isRefused) expect([url, status]).toEqual([url, 200]);
        };
        // A statement gets its name on its second execution.
        const sent = lastOfEach([...(await recordStatements(request)), ...(await recordStatements(request))]);
        for (const statement of sent.filter(({ text }) => /^(with|select(?! count))/.test(text))) {
          const part = query.includes('page=20') ? 2 : 5;
          const mayBeRead = statement.text.startsWith('with "probe') ? few : 0;
          // Selectivity of tags, searches and ranges is known when the statement is built.
          const isRead = /tag_|\bq=/.test(query) || query.match(/_(min|max)=/g)?.length === 2;
          const mayBeDropped = isRead ? mayBeRead : 0;
          const errors = planErrors(await planOf(statement), large, { mayBeRead, mayBeDropped, part });
          // Named statements get a generic plan, shared by all providers.
          const forAll = statement.name ? await planForAllOf(statement) : undefined;
          // With the most ids: for a page without items a plan for its values is always the cheapest.
          const known = named.get(statement.name!);
          const isLarger = known === undefined || String(statement.values).length > String(known.values).length;
          if (compositeRows.test(statement.text) && isLarger) named.set(statement.name!, statement);
          if (forAll) {
            const more = [...planErrors(forAll, large, { part }), ...indexGaps(forAll, indexes)];
            errors.push(...more.map((fault) => `for all, ${fault}`));
          }
          found.push(...errors.map((fault) => `${path} ${query}: ${fault}`));
        }
      }
      // Three strategies: many rows of a range, few of them, and no range.
      const participantsBy = async (query: string) => {
        const url = `/v2/participants?${query}`;
        const { text } = await send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } });
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
      const day = `updated_at_min=${filterValues.values['updated_at_min']![1]}`;
      const [first] = await participantsBy(`${day}&limit=1`);
      for (const paging of ['limit=250', 'limit=250&page=2', 'limit=10&page=7']) {
        const items = await participantsBy(`since_id=${first!.id - 1}&${paging}`);
        expect(items.length).toBeGreaterThanOrEqual(10);
        expect(await participantsBy(`${day}&${paging}`)).toEqual(items);
      }
      expect(await participantsBy(`${day}&since_id=${lastId - 20}`)).toHaveLength(20);
      // Courses with a frequent tag are found by scanning the id order.
      const coursesBy = async (query: string) => {
        const pages = await Promise.all(
          [1, 2, 3, 4].map(async (page) => {
            const url = `/v2/courses?limit=250&page=${page}&${query}`;
            const { text } = await send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } });
            return JSON.parse(text) as { id: number; tags: { id: number }[] }[];
          }),
        );
        return pages.flat();
      };
      const courses = await coursesBy('');
      const tagged = courses.filter(({ tags }) => tags.some(({ id }) => id === filterValues.ids.tag));
      expect(tagged.length).toBeGreaterThan(200);
      const sameCourses = async (query: string) => (await coursesBy(query)).slice(0, tagged.length);
      expect(await sameCourses(`tag_ids=${filterValues.ids.tag}`)).toEqual(tagged);
      const datesBy = async (query: string, page = 3) => {
        const url = `/v2/coursedates?page=${page}&${query}${query.includes('limit=') ? '' : '&limit=250'}`;
        const { text } = await send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } });
        return JSON.parse(text) as { items: { coursedate_id: number }[]; pagination: { total_items: number } };
      };
      const ofTagged = await pool.query<{ id: number }>(
        `select d.id from course_dates d join course_tags t on t.provider_id = d.provider_id and t.course_id = d.course_id
        where d.provider_id = $1 and t.tag_id = $2 and d.deleted_at is null order by d.starts_at, d.id`,
        [providerId, filterValues.ids.tag],
      );
      const byTag = await datesBy(`tag_ids=${filterValues.ids.tag}&order_by=startdate`);
      const expectedIds = ofTagged.rows.slice(500, 750).map(({ id }) => id);
      expect(byTag.items.map((item) => item.coursedate_id)).toEqual(expectedIds);
      expect(byTag.pagination.total_items).toBe(ofTagged.rows.length);
      // In reverse order as well: the last ones were created last.
      const madeLast = day.replace('updated', 'created');
      const { items: firstOfDay } = await datesBy(`${madeLast}&limit=1`, 1);
      expect(await datesBy(madeLast)).toEqual(await datesBy(`since_id=${firstOfDay[0]!.coursedate_id - 1}`));
      const later = `since_id=${firstOfDay[0]!.coursedate_id + 500}`;
      expect(await datesBy(`${madeLast}&${later}`)).toEqual(await datesBy(later));
      for (const order of [
        'order_by=id',
        'order_by=startdate',
        'order_direction=desc',
        'order_by=startdate&order_direction=desc',
      ]) {
        const paged = await datesBy(`${madeLast}&${order}`);
        expect(paged.items).toHaveLength(250);
        expect(await datesBy(`${madeLast}&start_date_at_min=2000-01-01&${order}`)).toEqual(paged);
        expect(await datesBy(`updated_at_min=2000-01-01&${order}`)).toEqual(await datesBy(order));
      }
      const fromFirstMigration = await sameCourses(`tag_ids=${filterValues.ids.tag}&since_id=${tagged[0]!.id}`);
      expect(fromFirstMigration.slice(0, tagged.length - 1)).toEqual(tagged.slice(1));
      // One row above the sort threshold, and exactly at it.
      for (const offset of [4_999, 5_000]) {
        const moment = await one(
          `select to_char(updated_at, 'YYYY-MM-DD HH24:MI:SS.US') as value from participants where provider_id = $1
          order by id desc offset ${offset} limit 1`,
        );
        const items = await participantsBy(`updated_at_min=${moment}&updated_at_max=2100-01-01&limit=1`);
        expect(items.map(({ id }) => id)).toEqual([lastId - offset]);
      }
      const findReads = async (url: string, table: string, part: string) => {
        const sent = await recordStatements(() =>
          send(testApp.app, { method: 'GET', url, headers: { 'x-api-key': apiKey } }),
        );
        const nodes = nodesOf(await planOf(sent.find(({ text }) => text.includes(part))!));
        return nodes.filter((node) => node['Relation Name'] === table && node['Actual Loops'] > 0);
      };
      // The next dates are skipped by an index-only scan.
      const skipped = await findReads('/v2/nextcoursedates?limit=100&page=4', 'course_dates', '"starts_at" asc');
      expect(skipped.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
        ['Index Only Scan', 'course_dates_upcoming'],
      ]);
      // Rows before the id are not read, however many of the range they are.
      const url = `/v2/participants?updated_at_min=2000-01-01&since_id=${lastId - 20}`;
      expect((await findReads(url, 'participants', 'with "probe_0"')).map(actualRows)).toEqual([20, 20]);
      expect(all.length).toBeGreaterThan(80);
      expect(publicLists).toBeGreaterThan(40);
      expect(found).toEqual([]);

      await once.query('reset plan_cache_mode');
      // Planner costs scaled to a tenth stand for a table ten times as large.
      if (size < 1) await once.query('set cpu_operator_cost = 0.00025');
      const plannedAnew: string[] = [];
      for (const statement of named.values()) {
        await once.query(`prepare planned as ${statement.text}`);
        for (let n = 0; n < 8; n += 1) await once.query(executed(statement));
        const { rows } = await once.query<{ plans: number }>(
          "select custom_plans::int as plans from pg_prepared_statements where name = 'planned'",
        );
        // PostgreSQL uses custom plans for the first five executions.
        if (rows[0]!.plans > 5) plannedAnew.push(statement.text);
        await once.query('deallocate planned');
      }
      expect(named.size).toBeGreaterThan(40);
      expect(plannedAnew).toEqual([]);
      // Too few rows for the ratio: a tenth is one page. At a hundred times the size the statement would be replanned.
      expect([...named.values()].filter(({ text }) => / (limit|offset) \$/.test(text))).toEqual([]);

      async function planOf({ text, values }: RecordedStatement) {
        const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
          text: `explain (analyze, timing off, format json) ${text}`,
          values,
        });
        return rows[0]!['QUERY PLAN'][0]!.Plan;
      }

      async function planForAllOf(statement: RecordedStatement) {
        await once.query(`prepare planned as ${statement.text}`);
        try {
          const { rows } = await once.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
            `explain (analyze, timing off, format json) ${executed(statement)}`,
          );
          return rows[0]!['QUERY PLAN'][0]!.Plan;
        } finally {
          await once.query('deallocate planned');
        }
      }
    } finally {
      await once.end();
      await testApp.close();
    }
  },
);

test('every tenant table is part of the plan test', async () => {
  const { database } = await sharedTestApp();
  // A provider has one row of state, at most one of limits, and few keys.
  const { rows } = await database.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id'
      where c.relkind = 'r' and c.relname not in ('provider_state', 'provider_limits', 'api_keys')
        and a.attoptions is distinct from array['n_distinct=20'] and c.relnamespace = 'public'::regnamespace`,
  );
  expect(rows).toEqual([]);
});

/** Locations of gatherings alone, and of nothing; a receipt of each participant, and notices. */
async function addLocationsAndMails(database: Database, providerId: number) {
  await database.write([providerId], ['catalog', 'dates', 'people'], async ({ tx, now }) => {
    const query = (text: string) => tx.$client.query({ text, values: [providerId, now] });
    await query(`insert into locations (provider_id, title, created_at, updated_at)
      select $1::bigint, 'Hall ' || n, $2::timestamptz, $2 from generate_series(1, 100) n`);
    await query(`update gatherings set updated_at = $2, location_id =
      (select min(id) from locations where provider_id = $1 and title = 'Hall 1') + id % 50 where provider_id = $1`);
    await query(`insert into outbox (provider_id, purpose, user_id, address, participant_id, created_at, due_at, attempts, sent_at, failed_at)
      select $1, case when id % 9 = 0 then 'notice_booked' else 'receipt' end, case when id % 9 > 0 then user_id end,
        case when id % 9 = 0 then 'hall@school.example' end, id, created_at, $2, 1,
        case when id % 50 > 1 then $2::timestamptz end, case when id % 50 = 1 then $2::timestamptz end
      from participants where provider_id = $1 order by id`);
  });
  await database.pool.query('vacuum analyze');
}

/** The last two of equal texts: those of a CSV file repeat with later positions. */
function lastOfEach(sent: RecordedStatement[]) {
  const seen = new Map<string, number>();
  return sent.toReversed().filter(({ text }) => {
    seen.set(text, (seen.get(text) ?? 0) + 1);
    return seen.get(text)! <= 2;
  });
}

/** Sort threshold of range filters. */
const few = 5_000;

/** True if a plan reads more than half of a table for a page, or sorts too many rows; `large` has the row counts. */
function planErrors(plan: Plan, large: Map<string, number>, { mayBeRead = 0, mayBeDropped = 0, part = 5 }) {
  const most = (table: string) => (large.get(table) ?? Infinity) / 2;
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table = '', 'Rows Removed by Filter': dropped = 0 } = node;
    const sorted = type.endsWith('Sort') ? actualRows(node.Plans![0]!) : 0;
    const rows = Math.max(...nodesOf(node).map((below) => large.get(below['Relation Name'] ?? '') ?? 0));
    return [
      ...(type === 'Seq Scan' && large.has(table) && !endsEarly(node, large.get(table)!, mayBeRead)
        ? [`scans ${table}`]
        : []),
      ...(dropped * node['Actual Loops'] > Math.max(most(table), mayBeDropped)
        ? [`reads ${dropped} rows of ${table} for nothing`]
        : []),
      ...(rows > 0 && sorted > Math.max(rows / part, mayBeRead) ? [`sorts ${sorted} of ${rows} rows`] : []),
    ];
  });
}

/** True if a scan is not executed, or a probe's limit ends it before it has read the table. */
function endsEarly(node: Plan, rows: number, mayBeRead: number) {
  const { 'Actual Loops': loops, 'Actual Rows': found, 'Rows Removed by Filter': dropped = 0 } = node;
  const read = (found + dropped) * loops;
  return mayBeRead > 0 && read <= mayBeRead + 1 && read < rows;
}

/** An index condition without its leading column reads the whole index, however few rows match. */
function indexGaps(plan: Plan, indexes: Map<string, string[]>) {
  return nodesOf(plan).flatMap(({ 'Index Name': name = '', 'Index Cond': condition }) => {
    const columns = indexes.get(name);
    if (!columns || condition === undefined) return [];
    const has = columns.map((column) => new RegExp(`\\b${column.replaceAll('"', '')}\\b`).test(condition));
    return has.lastIndexOf(true) > has.indexOf(false) && has.includes(false)
      ? [`reads all of ${name} (${condition})`]
      : [];
  });
}

/** Executes the prepared statement with its recorded values. */
function executed({ values }: RecordedStatement) {
  const bound = values.map((value) => literalOf(Array.isArray(value) ? `{${value.join()}}` : String(value)));
  return `execute planned${bound.length > 0 ? `(${bound.join()})` : ''}`;
}

const literalOf = (text: string) => `'${text.replaceAll("'", "''")}'`;

const actualRows = (node: Plan) => node['Actual Rows'] * node['Actual Loops'];
