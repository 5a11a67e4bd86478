import type { Client } from 'pg';
import { applyMigrations } from '../../src/database/migrate.ts';
import { readMigrations } from '../../src/database/migration-history.ts';

/** The first migrations, those of the oldest build whose databases are upgraded. */
export const readBaseline = () => readMigrations().slice(0, 3);

/** The oldest build whose databases are upgraded. */
export const baselineCommit = 'c57acafe49d8';

/** Records an older migration that this build does not have. */
export const recordOlder = (client: Client) =>
  client.query(`insert into drizzle.__drizzle_migrations (id, hash, created_at) values (0, repeat('a', 64), 1)`);

/** Creates the tables of the baseline, and records only an older migration that this build does not have. */
export async function createOtherHistory(client: Client) {
  await applyMigrations(client, readBaseline());
  await client.query('truncate drizzle.__drizzle_migrations');
  await recordOlder(client);
}

/** Describes such a database. */
export const otherHistory = 'The migration 0000_tables is missing: another one was applied in its place';
