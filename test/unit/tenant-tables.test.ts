import { expect, test } from 'vitest';
import { allStatements, readStatementNames } from '../support/all-statements.ts';
import { tasks } from '../support/housekeeping.ts';
import { sharedTables } from '../support/tables.ts';
import { sharedTestApp } from '../support/test-app.ts';
import { findUnnamedWrites, type NamedSql } from '../support/unnamed-writes.ts';

const { database } = await sharedTestApp();
const lines = async (query: string) =>
  (await database.pool.query<{ line: string }>(query)).rows.map(({ line }) => line).sort();

const names = (tables: string[]) => tables.map((table) => `'${table}'`).join(', ');
const tables = `(select c.oid, c.relname, c.relpersistence from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p'))`;
/** Tables whose rows belong to a provider. */
const tenantTables = `(select * from ${tables} t where relname not in (${names(sharedTables)}))`;
const providerColumn = (table: string) =>
  `(select attnum from pg_attribute where attrelid = ${table} and attname = 'provider_id' and not attisdropped)`;

/** Keys without `provider_id`, each with its reason. */
const keysWithoutProvider: Record<string, string> = {
  tokens_mail: 'the id of a mail is unique among all providers',
};

test('each primary key and unique index of a tenant table contains provider_id', async () => {
  const found = await lines(`select i.indexrelid::regclass::text as line
    from pg_index i join ${tenantTables} t on t.oid = i.indrelid
    where i.indisunique and ${providerColumn('t.oid')} <> all (i.indkey)`);
  expect(found).toEqual(Object.keys(keysWithoutProvider));
});

/** Tables that are not logged: a crash ends an import, and with it its lines. */
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

async function readFunctionBodies(): Promise<NamedSql[]> {
  const { rows } = await database.pool.query<NamedSql>(
    `select proname as name, prosrc as text from pg_proc
      where pronamespace = 'public'::regnamespace and proname not in ('refuse_unlocked', 'find_unlocked')`,
  );
  return rows;
}

test('statements and functions update and delete rows of named providers', async () => {
  const names = [...readStatementNames(), ...tasks.map(({ deleteSome }) => deleteSome.name)];
  expect([...allStatements.keys()].toSorted()).toEqual(names.toSorted());
  const found = [...allStatements.values(), ...(await readFunctionBodies())].flatMap(({ name, text }) =>
    findUnnamedWrites(text).map((write) => `${name}: ${write}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['update outbox set due_at = now() where id = 1', ['update outbox']],
  ["delete from tags where title = 'provider_id'", ['delete tags']],
  ['with x as (update outbox set due_at = now() where id = $1 returning provider_id) select 1', ['update outbox']],
  ['x := now(); delete from outbox where id = $1; update tags set slug = $2 where provider_id = $1', ['delete outbox']],
  ['update outbox set due_at = now() where provider_id = $1 and id = $2 returning id', []],
  ['insert into outbox (id) values (1) on conflict (id) do update set due_at = now()', []],
  ['select 1 from outbox where id = $1 for no key update', []],
  ['update backup_runs set finished_at = clock_timestamp()', []],
])('the writes of no provider are found in: %s', (text, found) => {
  expect(findUnnamedWrites(text)).toEqual(found);
});
