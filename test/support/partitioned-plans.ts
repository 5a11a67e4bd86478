import { Client } from 'pg';
import type { RecordedStatement } from './record-statements.ts';
import { sharedTables } from './shared-tables.ts';
import { connectionTo } from './test-app.ts';

type Plan = { Schema?: string; 'Relation Name'?: string; Plans?: Plan[] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The look-up of a key finds the school, so it names none. */
const isPlanned = (text: string) =>
  /^\s*(select|insert|update|delete|with)\b/i.test(text) && !text.includes('from find_key(');

/** A list of schools, and a subselect that names the school by a row of another table. */
const listOfSchools = /(provider_id"?) = any\(\(select (\$\d+)::bigint\[\]\)::bigint\[\]\)/g;
const inSubselect = /( from "?\w+"?(?: \w+)? where \(?)("?\w+"?\."?provider_id"?) = (?="?\w+"?\."?provider_id)/g;

/**
 * Names the school by a value, as the planner needs it to find the partition: in place of a list of one school, and in
 * subselects. There an array limits the subselect alone; the planner would apply an equality to the other table too.
 */
function nameByValue(text: string, providerId: number) {
  const named = text.replaceAll(listOfSchools, '$1 = ($2::bigint[])[1]');
  return /^\s*select\b/i.test(text) ? named.replaceAll(inSubselect, `$1$2 = any('{${providerId}}') and $2 = `) : named;
}

/** Plans statements on empty tables with two partitions, one for the rows of a school. */
export async function openPartitionedTables(database: string, providerId: number) {
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

  /** The tables of which a statement reads or changes rows of other schools. */
  async function findUnnamed({ text, values }: Pick<RecordedStatement, 'text' | 'values'>): Promise<string[]> {
    const explain = `explain (verbose, format json) ${nameByValue(text, providerId)}`;
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explain, values);
    return nodesOf(rows[0]!['QUERY PLAN'][0]!.Plan)
      .filter(({ Schema }) => Schema === 'others')
      .map((node) => node['Relation Name']!);
  }

  return {
    /** The statements that name no single school for one of their tables, each with these tables. */
    async findUnnamedStatements(statements: Pick<RecordedStatement, 'text' | 'values'>[]) {
      const distinct = new Map(statements.filter(({ text }) => isPlanned(text)).map((one) => [one.text, one]));
      const found: { text: string; tables: string[] }[] = [];
      for (const statement of distinct.values()) {
        const tables = await findUnnamed(statement);
        if (tables.length > 0) found.push({ text: statement.text.replaceAll(/\s+/g, ' '), tables });
      }
      return found;
    },
    close: () => client.end(),
  };
}
