import type { PoolOrClient } from './statements.ts';

/** One row per provider, at most one, and few. */
const tablesOfFewRows = ['provider_state', 'provider_limits', 'api_keys'];

/**
 * Makes generic plans assume a tenant with a twentieth of all rows: by the true number of providers they would be for a
 * few rows, and then may walk through all of a large one's. Changes tables that a migration created; the lock is that of
 * ANALYZE.
 */
export const setTenantStatistics = (database: PoolOrClient) =>
  database.query(`do $$
    declare
      tenant_table regclass;
    begin
      for tenant_table in
        select c.oid from pg_class c
          join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id' and not a.attisdropped
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
          and c.relowner = (select relowner from pg_class where oid = to_regclass('public.providers'))
          and c.relname <> all ('{${tablesOfFewRows.join()}}')
          and not coalesce(a.attoptions @> '{n_distinct=20}', false)
        order by c.relname
      loop
        execute format('alter table %s alter column provider_id set (n_distinct = 20)', tenant_table);
      end loop;
    end $$`);
