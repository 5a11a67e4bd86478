import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { applyMigrations } from '../../src/database/migrate.ts';
import { readBaseline, type AppliedMigration } from '../../src/database/migration-history.ts';

/** The migrations before the baseline, as databases recorded them. */
export const earlierMigrations = readFileSync('test/snapshots/earlier-migrations.txt', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): AppliedMigration => {
    const [hash, createdAt] = line.split(' ');
    return { hash: hash!, createdAt: Number(createdAt) };
  });

/** Creates the tables of the baseline in an empty database, which records the first migrations before the baseline. */
export async function createEarlierTables(client: Client, count = earlierMigrations.length) {
  await applyMigrations(client, readBaseline());
  await client.query('truncate drizzle.__drizzle_migrations restart identity');
  for (const { hash, createdAt } of earlierMigrations.slice(0, count))
    await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      hash,
      createdAt,
    ]);
}
