import type { Client, Pool } from 'pg';
import { readAppliedMigrations } from '../../database/migration-history.ts';
import { quote, type BackupSequence, type Manifest } from './format.ts';
import { itemAt } from '../../core/errors.ts';

/** Condition of the relations in the schema of the service that do not belong to an extension. */
const isInSchema = (alias: string) =>
  `${alias}.relnamespace = 'public'::regnamespace and not exists (
    select from pg_depend where objid = ${alias}.oid and classid = 'pg_class'::regclass and deptype = 'e')`;

/** Tables of others in the schema have other owners, as `doctor` assumes too. */
const isOwn = (alias: string) =>
  `${isInSchema(alias)} and ${alias}.relowner = (select relowner from pg_class where oid = 'public.providers'::regclass)`;

export type CopiedTable = { name: string; columns: string[]; order: string | null };

/** The tables with their stored columns, and an order that is the same on every server. */
export async function readTables(client: Client) {
  const { rows } = await client.query<CopiedTable>(`
    select c.relname as name,
      (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select string_agg(quote_ident(a.attname) || case when a.attcollation = 0 then '' else ' collate "C"' end,
          ', ' order by array_position(i.indkey::int2[], a.attnum))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary) as order
    from pg_class c where c.relkind = 'r' and ${isOwn('c')} order by c.relname collate "C"`);
  return rows;
}

export const columnList = (columns: string[]) => columns.map(quote).join(', ');

export async function readSequences(client: Client): Promise<BackupSequence[]> {
  const { rows: names } = await client.query<{ name: string }>(
    `select relname as name from pg_class s where relkind = 'S' and ${isOwn('s')} order by relname collate "C"`,
  );
  if (names.length === 0) return [];
  const selects = names.map(
    ({ name }, n) =>
      `select ${n} as position, last_value::text as "lastValue", is_called as "isCalled" from ${quote(name)}`,
  );
  const { rows } = await client.query<Omit<BackupSequence, 'name'>>(`${selects.join(' union all ')} order by 1`);
  return rows.map(({ lastValue, isCalled }, n) => ({ name: itemAt(names, n).name, lastValue, isCalled }));
}

/** The moment of the snapshot, the server's version and the applied migrations. */
export async function readOrigin(
  client: Client,
): Promise<Pick<Manifest, 'createdAt' | 'serverVersion' | 'migrations'>> {
  const { rows } = await client.query<{ createdAt: string; serverVersion: string }>(
    `select to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
      current_setting('server_version') as "serverVersion"`,
  );
  return { ...itemAt(rows), migrations: await readAppliedMigrations(client) };
}

/** Eight hexadecimal digits that differ between databases, also of one server: files of several share a folder. */
export async function readDatabaseId(database: Pick<Pool, 'query'>) {
  const { rows } = await database.query<{ id: string }>(
    `select left(encode(sha256(format('%s/%s', (select system_identifier from pg_control_system()), oid)::bytea), 'hex'), 8)
      as id from pg_database where datname = current_database()`,
  );
  return itemAt(rows).id;
}

/** Foreign keys, whose check for each row would take longer than one for the whole table. */
export async function readForeignKeys(client: Client) {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1, 2`,
  );
  return rows;
}

export async function isEmptyDatabase(client: Client) {
  const { rows } = await client.query<{ empty: boolean }>(
    `select to_regnamespace('drizzle') is null and not exists (
        select from pg_class c where relkind in ('r', 'p', 'v', 'm', 'S', 'f') and ${isInSchema('c')}) as empty`,
  );
  return itemAt(rows).empty;
}
