import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';
import { getErrorCode } from '../core/database-errors.ts';
import {
  compareMigrations,
  describeMigrationDifferences,
  readAppliedMigrations,
  readMigrations,
} from './migration-history.ts';
import { recordReleases } from './releases.ts';
import type { PoolOrClient } from './statements.ts';

/** Advisory lock for replicas that start at once; any number unique to this service. */
export const migrationLockKey = 7_291_543_018;

/** Applies missing migrations and returns their number. Its session has the lock. */
export async function migrateDatabase(connection: ClientConfig) {
  const client = new Client({
    ...connection,
    application_name: 'course-booking-service migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    if (await isMigrated(client)) return { applied: 0 };
    await client.query('select pg_advisory_lock($1)', [migrationLockKey]);
    await client.query(`set lock_timeout = '${attempts.lockTimeout}'; set statement_timeout = 0`);
    let applied = 0;
    while (await applyWithRetries(client)) applied += 1;
    return { applied };
  } finally {
    await client.end();
  }
}

const attempts = { count: 30, lockTimeout: '2s', pauseMs: 1_000 };

/** Retries at a locked table or a deadlock: older servers write meanwhile, and would wait behind a waiting lock. */
async function applyWithRetries(client: Client) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query('begin');
      const hasApplied = await applyNext(client);
      await client.query('commit');
      return hasApplied;
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      const isLockConflict = ['40P01', '55P03'].includes(getErrorCode(error));
      if (!isLockConflict || attempt === attempts.count) throw error;
      await sleep(attempts.pauseMs);
    }
  }
}

type Migrations = ReturnType<typeof readMigrations>;

/**
 * Applies the first migration that is later than the latest applied one; false without one. Each has a transaction of
 * its own, so that the locks of one do not last until the end of all. Throws if an earlier one is missing, or the
 * first one is not that of this build.
 */
async function applyNext(client: Client) {
  const applied = await readAppliedMigrations(client);
  const latest = Math.max(0, ...applied.map(({ createdAt }) => createdAt));
  const pending = readMigrations().filter(({ folderMillis }) => folderMillis > latest);
  const [next] = pending;
  if (!includesOwn([...applied, ...pending]))
    throw new Error(describeMigrationDifferences(compareMigrations(applied)).join('. '));
  if (next) await applyMigrations(client, [next]);
  if (pending.length <= 1) await recordReleases(client);
  return next !== undefined;
}

/** Applies migrations within the transaction of `client`. */
export async function applyMigrations(client: Client, migrations: Migrations) {
  await client.query(`create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
  for (const migration of migrations) {
    for (const statement of migration.sql) await client.query(statement);
    await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      migration.hash,
      migration.folderMillis,
    ]);
  }
  await setTenantStatistics(client);
}

const ownHashes = readMigrations().map(({ hash }) => hash);

/** False for those of another history, too: the first one is not that of this build. */
function includesOwn(migrations: { hash: string }[]) {
  const hashes = new Set(migrations.map(({ hash }) => hash));
  return migrations[0]?.hash === ownHashes[0] && ownHashes.every((hash) => hashes.has(hash));
}

/** True if all migrations of this build are applied; more, from a newer build, are fine. */
export const isMigrated = async (database: PoolOrClient) => includesOwn(await readAppliedMigrations(database));

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
