import type { Client } from 'pg';

/** Digest of the columns, constraints, indexes, triggers and functions of a database. */
export async function readCatalog(client: Client) {
  const { rows } = await client.query<{ catalog: string }>(`select md5(concat(
    (select string_agg(concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default), ',' order by table_name, column_name)
      from information_schema.columns where table_schema = 'public'),
    (select string_agg(concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)), ',' order by conrelid::regclass::text, conname)
      from pg_constraint where connamespace = 'public'::regnamespace),
    (select string_agg(indexdef, ',' order by indexdef) from pg_indexes where schemaname = 'public'),
    (select string_agg(concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid)), ',' order by tgrelid::regclass::text, tgname)
      from pg_trigger where not tgisinternal),
    (select string_agg(prosrc, ',' order by proname, oidvectortypes(proargtypes)) from pg_proc where pronamespace = 'public'::regnamespace)
  )) as catalog`);
  return rows[0]!.catalog;
}
