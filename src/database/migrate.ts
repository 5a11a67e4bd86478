import { join } from 'node:path';
import { projectRoot } from '../lib/project-root.ts';
import { drizzle } from 'drizzle-orm/node-postgres';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { Client, type ClientConfig } from 'pg';

const migrationsFolder = join(projectRoot, 'migrations');

/** Any number unique to this service: replicas that start at once queue up behind it. */
const lockKey = 7_291_543_018;

/**
 * Brings the database up to this build's tables; applies nothing when it is there already.
 * The ORM's migrator takes no lock of its own, so this takes one, on a connection that ends with it.
 */
export async function migrateDatabase(connection: ClientConfig) {
  const client = new Client({
    ...connection,
    application_name: 'course-booking-service migrate',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    // The migrator creates its schema even when nothing is to be applied, which takes more rights.
    if (await isMigrated(client)) return { applied: 0 };
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    const before = await appliedMigrations(client);
    await migrate(drizzle({ client }), { migrationsFolder });
    return { applied: (await appliedMigrations(client)) - before };
  } finally {
    await client.end();
  }
}

/** How many migrations this build brings. */
const expected = readMigrationFiles({ migrationsFolder }).length;

type Queryable = { query(text: string): Promise<{ rows: unknown[] }> };

/** Whether the database has every migration of this build; more (a newer build's) is fine. */
export const isMigrated = async (database: Queryable) => (await appliedMigrations(database)) >= expected;

async function appliedMigrations(database: Queryable) {
  const { rows } = await database.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  if (!(rows[0] as { there: boolean }).there) return 0;
  const applied = await database.query('select count(*)::int as count from drizzle.__drizzle_migrations');
  return (applied.rows[0] as { count: number }).count;
}
