import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { Client, type ClientConfig } from 'pg';
import { projectRoot } from '../core/project-root.ts';
import { getErrorCode } from '../core/database-errors.ts';
import { recordReleases } from './releases.ts';

export const migrationsFolder = join(projectRoot, 'migrations');

/** Advisory lock for replicas that start at once; any number unique to this service. */
export const migrationLockKey = 7_291_543_018;

/** Applies missing migrations and returns their number. Drizzle's migrator takes no lock, so this does, for its session. */
export async function migrateDatabase(connection: ClientConfig) {
  const client = new Client({
    ...connection,
    application_name: 'course-booking-service migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // The migrator would create its schema even without migrations to apply, which needs more rights.
    if (await isMigrated(client)) return { applied: 0 };
    await client.query('select pg_advisory_lock($1)', [migrationLockKey]);
    const before = await countApplied(client);
    await applyWithRetries(client);
    await recordReleases(client);
    return { applied: (await countApplied(client)) - before };
  } finally {
    await client.end();
  }
}

const attempts = { count: 30, lockTimeout: '2s', pauseMs: 1_000 };

/**
 * Retries if a table's lock is not free or the transaction was chosen to end a deadlock: servers of the version before
 * write meanwhile, and a statement that waits for a lock makes their requests wait behind it.
 */
async function applyWithRetries(client: Client) {
  await client.query(`set lock_timeout = '${attempts.lockTimeout}'; set statement_timeout = 0`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await migrate(drizzle({ client }), { migrationsFolder });
      return;
    } catch (error) {
      const isLockConflict = ['40P01', '55P03'].includes(getErrorCode(error));
      if (!isLockConflict || attempt === attempts.count) throw error;
      await sleep(attempts.pauseMs);
    }
  }
}

/** All migrations of this build, in order. */
export const readMigrations = () => readMigrationFiles({ migrationsFolder });
const expectedCount = readMigrations().length;

/** Applies these migrations to an empty database, within the transaction of `client`; a restore needs no newer ones. */
export async function applyMigrations(client: Client, migrations: ReturnType<typeof readMigrations>) {
  // As Drizzle's migrator creates it.
  await client.query(`create schema if not exists drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
  for (const { sql, hash, folderMillis } of migrations) {
    for (const statement of sql) await client.query(statement);
    await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      hash,
      folderMillis,
    ]);
  }
}

type Queryable = { query(text: string): Promise<{ rows: unknown[] }> };

/** True if all migrations of this build are applied; more, from a newer build, are fine. */
export const isMigrated = async (database: Queryable) => (await countApplied(database)) >= expectedCount;

/** Applied migrations, and those of this build. */
export const countMigrations = async (database: Queryable) => ({
  applied: await countApplied(database),
  expected: expectedCount,
});

async function countApplied(database: Queryable) {
  const { rows } = await database.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  if (!(rows[0] as { there: boolean }).there) return 0;
  const applied = await database.query('select count(*)::int as count from drizzle.__drizzle_migrations');
  return (applied.rows[0] as { count: number }).count;
}
