import type { Client, Pool } from 'pg';

// The tables distributed by provider_id over several PostgreSQL servers, with the extension Citus: docs/citus.md.

/** Tables without a provider, or read before it is known: each server gets a copy. In the order of their references. */
export const referenceTables = [
  'service_state',
  'categories',
  'places',
  'providers',
  'admin_users',
  'api_keys',
  'partner_connections',
  'catalog_addresses',
];
/** Tables of the coordinator alone. */
export const localTables = ['backup_runs'];

/** Settings of the database on each server. */
const requiredSettings = {
  'citus.propagate_set_commands': 'local',
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.enable_unsafe_triggers': 'on',
  'citus.enable_local_reference_table_foreign_keys': 'off',
};

type Queryable = Pick<Client | Pool, 'query'>;

const queryRows = async <Row extends object>(client: Queryable, text: string, values: unknown[] = []) =>
  (await client.query<Row>(text, values)).rows;

export const notAvailable = 'The extension citus is not available on this PostgreSQL server: install it first';

/** True if a table of the service is distributed. */
export async function isDistributed(client: Queryable) {
  const [{ exists } = { exists: false }] = await queryRows<{ exists: boolean }>(
    client,
    `select to_regclass('pg_dist_partition') is not null as exists`,
  );
  return exists && (await queryRows(client, `${distributedTables} limit 1`)).length > 0;
}

/** The tables that are to be copied to each server or distributed, and are not yet. */
export async function findUndistributed(client: Queryable) {
  const existing = new Set((await queryRows<{ name: string }>(client, distributedTables)).map(({ name }) => name));
  const isNew = (name: string) => !existing.has(name);
  const distributed = sortByReferences(await queryRows<Reference>(client, references)).filter(isNew);
  return { isFirst: existing.size === 0, copied: referenceTables.filter(isNew), distributed };
}

/** The reasons why the database cannot be distributed yet, each with what to do. */
export async function findObstacles(client: Queryable, timezone: string): Promise<string[]> {
  const exists = async (from: string) => (await queryRows(client, `select from ${from}`)).length > 0;
  if (!(await exists(`pg_available_extensions where name = 'citus'`))) return [notAvailable];
  if (!(await exists(`pg_extension where extname = 'citus'`)))
    return ['The extension citus is not installed in this database: run `create extension citus` on each server'];
  if (!(await exists('pg_dist_node where shouldhaveshards')))
    return ['Citus has no worker: add each one by `select citus_add_node(…)`'];
  if (!(await exists('pg_dist_node where groupid = 0')))
    return ['The coordinator is not a node: run `select citus_set_coordinator_host(…)`'];
  const expected = { timezone, ...requiredSettings };
  const read = Object.keys(expected).map((name) => `'${name}', current_setting('${name}', true)`);
  const nodes = await queryRows<{ node: string; success: boolean; result: string }>(
    client,
    `select n.nodename || ':' || n.nodeport as node, r.success, r.result
      from run_command_on_all_nodes($1) r join pg_dist_node n using (nodeid) order by 1`,
    [`select json_build_object(${read.join(', ')})`],
  );
  return nodes.flatMap(({ node, success, result }) => {
    if (!success) return [`The settings of ${node} cannot be read: ${result}`];
    const found = JSON.parse(result) as Record<string, string | null>;
    return Object.entries(expected)
      .filter(([name, value]) => found[name] !== value)
      .map(([name, value]) => `${name} is ${found[name] ?? 'not set'} on ${node}: set it to ${value} for the database`);
  });
}

type Trigger = { name: string; table: string; definition: string; isOfFeed: boolean };

/** The first two objects are for servers of version 0.2. Citus cannot move shards of an unlogged table online. */
const preparations = [
  'drop index if exists tokens_mail',
  'drop trigger if exists audit_entries_shared_data on audit_entries',
  'alter table staged_lines set logged',
];

/**
 * Distributes the tables in one transaction, without their triggers, which would count each copied row again, and copies
 * the functions. Throws if a number of rows changes. Returns the tables that were not distributed before.
 */
export async function distribute(client: Client) {
  const { isFirst, copied, distributed } = await findUndistributed(client);
  const tables = [...copied, ...distributed];

  await client.query('begin');
  for (const [name, value] of Object.entries(requiredSettings)) await client.query(`set local ${name} = '${value}'`);
  if (isFirst) for (const statement of preparations) await client.query(statement);
  const triggers = await queryRows<Trigger>(client, selectTriggers, [tables]);
  if (tables.length + triggers.length === 0) {
    await client.query('rollback');
    return { copied, distributed };
  }
  const before = await countRows(client, tables);
  await client.query(copyFunctions);
  for (const { name, table } of triggers) await client.query(`drop trigger "${name}" on "${table}"`);
  for (const name of copied) await client.query('select create_reference_table($1::regclass)', [name]);
  for (const name of distributed) {
    const colocation = name === 'provider_state' ? 'none' : 'provider_state';
    const text = `select create_distributed_table($1::regclass, 'provider_id', colocate_with := $2)`;
    await client.query(text, [name, colocation]);
  }
  for (const statement of triggers.flatMap(toDistributedTrigger)) await client.query(statement);
  const after = await countRows(client, tables);
  const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
  if (changed.length > 0) {
    const [name = ''] = changed;
    await client.query('rollback');
    throw new Error(`${name} has ${after[name]} rows instead of ${before[name]}: nothing was distributed`);
  }
  await client.query('commit');
  return { copied, distributed };
}

/** Citus copies functions by itself if they were created after the extension. */
const copyFunctions = `select create_distributed_function(oid::regprocedure) from pg_proc
  where pronamespace = 'public'::regnamespace
    and oid not in (select objid from pg_dist_object where classid = 'pg_proc'::regclass)
    and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')`;

/** Three triggers per statement of the change feed become one per row; a reference table gets none of them. */
function toDistributedTrigger({ table, definition, isOfFeed }: Trigger): string[] {
  if (!isOfFeed) return [definition];
  const [, resource] = /record_created\('(\w+)'\)$/.exec(definition) ?? [];
  if (!resource) return [];
  return [
    `drop trigger if exists "${table}_record" on "${table}"`,
    `create trigger "${table}_record" after insert or update or delete on "${table}"
      for each row execute function record_changed_row('${resource}')`,
  ];
}

const distributedTables = `select c.relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
  where c.relnamespace = 'public'::regnamespace`;

type Reference = { name: string; to: string[] };
const isTenantTable = (
  relation: string,
) => `${relation}.relkind = 'r' and ${relation}.relnamespace = 'public'::regnamespace
  and ${relation}.relname not in (${[...referenceTables, ...localTables].map((name) => `'${name}'`).join(', ')})
  and exists (select from pg_attribute where attrelid = ${relation}.oid and attname = 'provider_id' and not attisdropped)`;
const references = `select c.relname as name, array(
    select o.relname::text from pg_constraint k join pg_class o on o.oid = k.confrelid and o.oid <> c.oid
    where k.conrelid = c.oid and k.contype = 'f' and ${isTenantTable('o')}) as to
  from pg_class c where ${isTenantTable('c')} order by c.relname <> 'provider_state', c.relname`;

/** Each table after those that it refers to. */
function sortByReferences(tables: Reference[]) {
  const sorted: string[] = [];
  while (sorted.length < tables.length) {
    const next = tables.filter(({ name, to }) => !sorted.includes(name) && to.every((one) => sorted.includes(one)));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    sorted.push(...next.map(({ name }) => name));
  }
  return sorted;
}

const isOfFeed = `t.tgname ~ '_record_(created|updated|deleted)$'`;
/** Of the tables, and those of the change feed that a later migration has created. */
const selectTriggers = `select t.tgname as name, c.relname as table, pg_get_triggerdef(t.oid) as definition,
    ${isOfFeed} as "isOfFeed"
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where not t.tgisinternal and c.relnamespace = 'public'::regnamespace and (c.relname = any($1) or ${isOfFeed})
  order by 2, 1`;

async function countRows(client: Client, tables: string[]) {
  const counts: Record<string, number> = {};
  for (const name of tables)
    counts[name] = (
      await queryRows<{ count: number }>(client, `select count(*)::int as count from "${name}"`)
    )[0]!.count;
  return counts;
}
