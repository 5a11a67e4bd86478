import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localTables, referenceTables } from '../../src/database/distribution.ts';
import { allProviders, oneProvider, tasks } from '../../src/runtime/housekeeping.ts';
import { findRefused, type NamedSql } from '../support/distributed-sql.ts';
import { outsideTenancy, readFunctions } from '../support/distributed-schema.ts';
import { sharedTestApp } from '../support/test-app.ts';

// The tables can be distributed by provider_id over several PostgreSQL servers (Citus), which has rules of its own.

const { database } = await sharedTestApp();
const lines = async (query: string) =>
  (await database.pool.query<{ line: string }>(query)).rows.map(({ line }) => line).sort();

const names = (tables: string[]) => tables.map((table) => `'${table}'`).join(', ');
const tables = `(select c.oid, c.relname, c.relpersistence from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p'))`;
/** Tables whose rows are distributed. */
const tenantTables = `(select * from ${tables} t where relname not in (${names([...referenceTables, ...localTables])}))`;
const providerColumn = (table: string) =>
  `(select attnum from pg_attribute where attrelid = ${table} and attname = 'provider_id' and not attisdropped)`;

/** Keys without `provider_id`, each with its reason. */
const keysWithoutProvider: Record<string, string> = {
  tokens_mail: 'servers of version 0.2 replace the token of a mail by it',
};

test('each primary key and unique index of a tenant table contains provider_id', async () => {
  const found = await lines(`select i.indexrelid::regclass::text as line
    from pg_index i join ${tenantTables} t on t.oid = i.indrelid
    where i.indisunique and ${providerColumn('t.oid')} <> all (i.indkey)`);
  expect(found).toEqual(Object.keys(keysWithoutProvider));
});

/** Tables that are not logged: `staged_lines` is made so when it is distributed. */
const unlogged = ['staged_lines'];

test('each tenant table has a primary key and a provider in each row, and is logged', async () => {
  const found = await lines(`select relname as line from ${tenantTables} t
    where relpersistence <> 'p'
      or not exists (select from pg_index where indrelid = t.oid and indisprimary)
      or not exists (select from pg_attribute where attrelid = t.oid and attname = 'provider_id' and attnotnull)`);
  expect(found).toEqual(unlogged);
});

test('each foreign key between tenant tables contains provider_id, and no shared table refers to them', async () => {
  const found = await lines(`select k.conname as line
    from pg_constraint k join ${tenantTables} t on t.oid = k.confrelid
    where k.contype = 'f' and (k.conrelid not in (select oid from ${tenantTables} own)
      or coalesce(array_position(k.conkey, ${providerColumn('k.conrelid')})
        <> array_position(k.confkey, ${providerColumn('k.confrelid')}), true))`);
  expect(found).toEqual([]);
});

test('names of keys leave room for the number of a shard, and do not end like one', async () => {
  const found = await lines(`select name as line from (
      select conname as name from pg_constraint where connamespace = 'public'::regnamespace
      union select relname from pg_class where relkind = 'i' and relnamespace = 'public'::regnamespace) named
    where length(name) > 55 or name ~ '_\\d+$'`);
  expect(found).toEqual([]);
});

async function readFunctionBodies(): Promise<NamedSql[]> {
  const { rows } = await database.pool.query<NamedSql>(
    `select proname as name, prosrc as text from pg_proc
      where pronamespace = 'public'::regnamespace and proname not in ('refuse_unlocked', 'area_of')`,
  );
  return rows;
}

/** The exported statements of all modules of SQL. */
async function readModules(): Promise<NamedSql[]> {
  const src = join(import.meta.dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(^|[/-])(sql|query)\.ts$/.test(file),
  );
  const modules = await Promise.all(files.map((file) => import(join(src, file)) as Promise<Record<string, unknown>>));
  return modules.flatMap((module) => Object.values(module)).filter(isNamedSql);
}
const isNamedSql = (value: unknown): value is NamedSql =>
  typeof value === 'object' && value !== null && 'text' in value && 'name' in value;

test('statements and functions keep the rules of a distributed database', async () => {
  const modules = await readModules();
  expect(modules.length).toBeGreaterThan(40);
  const housekeeping = tasks
    .filter(({ table }) => !localTables.includes(table))
    .flatMap(({ table, statement }) =>
      [allProviders, oneProvider].map((scope) => ({ name: `housekeeping of ${table}`, text: statement(scope) })),
    );
  const functions = await readFunctions(database);
  const found = [...modules, ...housekeeping, ...(await readFunctionBodies())].flatMap(({ name, text }) => {
    const reasons = findRefused(text, functions, outsideTenancy);
    return reasons.length === 0 ? [] : [[name, reasons] as const];
  });
  expect(found).toEqual([]);
});

test('statements that break the rules are found', async () => {
  const functions = await readFunctions(database);
  const find = (text: string) => findRefused(text, functions, outsideTenancy);
  const own = 'where provider_id = $1';
  expect(find(`update outbox set due_at = clock_timestamp() ${own}`)).toHaveLength(1);
  expect(find('update outbox set due_at = now() where id = 1')).toEqual(['update outbox: of no provider']);
  expect(
    find(`with x as (update outbox set due_at = now() ${own} returning due_at::text) select clock_timestamp()`),
  ).toEqual(['returning of update outbox: due_at']);
  expect(find(`update outbox set failed_at = case when $2 then now() end ${own}`)).toHaveLength(1);
  expect(find('insert into t as f (a) values (now()) on conflict (a) do update set a = now()')).toHaveLength(1);
  const locking = 'select provider_id, id from outbox limit 1 for update skip locked';
  expect(find(`delete from outbox where (provider_id, id) in (${locking})`)).toHaveLength(1);
  expect(find(`x := clock_timestamp(); update outbox set last_error = 'now()', due_at = now() + $2 ${own}`)).toEqual(
    [],
  );
  expect(find(`select 1 from outbox ${own} order by id for no key update`)).toEqual([]);
  expect(find('select 1 from service_state where id = 1 for no key update')).toEqual([]);
  expect(find('update backup_runs set finished_at = clock_timestamp()')).toEqual([]);
});
