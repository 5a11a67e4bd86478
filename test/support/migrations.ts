import type { Client } from 'pg';
import { applyMigrations } from '../../src/database/migrate.ts';
import { readMigrations } from '../../src/database/migration-history.ts';

/** The first migrations, those of the oldest build whose databases are upgraded. */
export const readBaseline = () => readMigrations().slice(0, 3);

/** The oldest build whose databases are upgraded. */
export const baselineCommit = 'c57acafe49d8';

/** Creates the tables of the baseline, and records an older migration that this build does not have. */
export async function createOtherHistory(client: Client, { isRecorded = false } = {}) {
  await applyMigrations(client, readBaseline());
  if (!isRecorded) await client.query('truncate drizzle.__drizzle_migrations');
  await client.query(`insert into drizzle.__drizzle_migrations (id, hash, created_at) values (0, repeat('a', 64), 1)`);
}

/** Describes such a database, depending on whether the baseline is recorded too. */
export const otherHistory = {
  alone: 'The migration 0000_tables is missing: another one was applied in its place',
  recorded: 'Another migration was applied in the place of 0000_tables',
};
