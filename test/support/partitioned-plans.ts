import { Client } from 'pg';
import { sharedTables } from './tables.ts';
import { connectionTo } from './test-app.ts';

/** The school that stands for all. */
const providerId = 1;

type Plan = { Schema?: string; 'Relation Name'?: string; Plans?: Plan[] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const isPlanned = (text: string) => /^\s*(select|insert|update|delete|with)\b/i.test(text);

/** A list of schools, and a subselect that names the school by a row of another table. */
const listOfSchools = /(provider_id"?) = any\(\(select (\$\d+)::bigint\[\]\)::bigint\[\]\)/g;
const inSubselect = /( from "?\w+"?(?: \w+)? where \(?)("?\w+"?\."?provider_id"?) = (?="?\w+"?\."?provider_id)/g;
/** The parameters that are a school or a list of schools, and a school that is a part of the text. */
const school = /provider_id"? = \$(\d+)(?!::bigint\[\])/g;
const written = /(provider_id"? = )\d+/g;
const partners = /provider_id"? in \(([$\d, ]+)\)/g;
const schools = /\(\$(\d+)::bigint\[\]\)\[1\]|provider_id"? = any\(\$(\d+)(?:::bigint\[\])?\)/g;

const findNumbers = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((found) => found[1] ?? found[2]!);

/**
 * Names the school by a value, as the planner needs it to find the partition: in place of its parameter, of a list of one
 * school, and in subselects. There an array limits the subselect alone; the planner would apply an equality to the other
 * table too.
 */
function nameByValue(text: string) {
  const listed = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(listOfSchools, '$1 = ($2::bigint[])[1]')
    .replaceAll(written, `$1${providerId}`);
  const named = /^\s*select\b/i.test(text)
    ? listed.replaceAll(inSubselect, `$1$2 = any('{${providerId}}') and $2 = `)
    : listed;
  const partnerNumbers = findNumbers(named, partners).flatMap((list) => list.match(/\d+/g) ?? []);
  const values = new Map([
    ...[...findNumbers(named, school), ...partnerNumbers].map((number) => [number, `'${providerId}'`] as const),
    ...findNumbers(named, schools).map((number) => [number, `'{${providerId}}'`] as const),
  ]);
  // The others are numbered without gaps, as PostgreSQL expects.
  const left = new Map<string, string>();
  return named.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const value = values.get(number);
    if (value !== undefined) return value;
    if (!left.has(number)) left.set(number, `$${left.size + 1}`);
    return left.get(number)!;
  });
}

/** Plans statements on empty tables with two partitions, one for the rows of a school. */
export async function openPartitionedTables(database: string) {
  const client = new Client(connectionTo(database));
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> all ($1)`,
    [sharedTables],
  );
  // A partitioned table has no unique index without the school.
  await client.query('drop index if exists tokens_mail');
  await client.query('create schema partitioned; create schema own; create schema others');
  for (const { name } of tables)
    await client.query(`
      create table partitioned.${name} (like public.${name} including defaults including identity including indexes)
        partition by list (provider_id);
      create table own.${name} partition of partitioned.${name} for values in (${providerId});
      create table others.${name} partition of partitioned.${name} default`);
  await client.query('set search_path = partitioned, public');

  return {
    /** The tables of which a statement reads or changes rows of other schools; none for a statement without a plan. */
    async findUnnamedTables(text: string): Promise<string[]> {
      if (!isPlanned(text)) return [];
      const explain = `explain (generic_plan, verbose, format json) ${nameByValue(text)}`;
      const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explain);
      const others = nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan).filter(({ Schema }) => Schema === 'others');
      return [...new Set(others.map((node) => node['Relation Name']!))].sort();
    },
    close: () => client.end(),
  };
}
