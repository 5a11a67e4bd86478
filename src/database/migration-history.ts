import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { projectRoot } from '../core/project-root.ts';
import type { PoolOrClient } from './statements.ts';

const migrationsFolder = join(projectRoot, 'migrations');

/** All migrations of this build, in order. */
export const readMigrations = () => readMigrationFiles({ migrationsFolder });

export function readMigrationNames() {
  const journal = JSON.parse(readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[];
  };
  return journal.entries.map(({ tag }) => tag);
}

/** A migration as the database and a backup record it: `createdAt` identifies it, `hash` is of its SQL. */
export type AppliedMigration = { hash: string; createdAt: number };

/** The migrations before the baseline: a database at the last of them has the tables of the baseline. */
const earlier = {
  ...{ count: 51, firstCreatedAt: 1_795_268_102_864 },
  /** Of all their hashes, in order. */
  hash: '2f701b72da9dee5eb95ab0c1d59829f3c483a1ef518100fe3e690118daa236e2',
};

/** Number of the first migrations, which make the tables that the earlier ones made. */
const baselineCount = 3;

/** The last build that has the earlier migrations. */
export const lastEarlierCommit = 'be9e1a9840ba';
export const lastEarlierBuild = `version 0.3.0-dev of commit ${lastEarlierCommit}`;

const beginsWithEarlier = (applied: AppliedMigration[]) => applied[0]?.createdAt === earlier.firstCreatedAt;

function hasEarlier(applied: AppliedMigration[]) {
  const hashes = applied.slice(0, earlier.count).map((migration) => migration.hash);
  return hash('sha256', hashes.join('')) === earlier.hash;
}

/** True if some of the earlier migrations, which this build does not have, are missing or have other contents. */
export const isBeforeBaseline = (applied: AppliedMigration[]) => beginsWithEarlier(applied) && !hasEarlier(applied);

/** True if the tables are those of the baseline, and its migrations are not recorded. */
export const isAtLastEarlier = (applied: AppliedMigration[]) =>
  applied.length === earlier.count && beginsWithEarlier(applied) && !isBeforeBaseline(applied);

export const readBaseline = () => readMigrations().slice(0, baselineCount);

/** The applied migrations as they would be if the baseline had created the database. */
export function toMigrationsSinceBaseline(applied: AppliedMigration[]): AppliedMigration[] {
  if (isAtLastEarlier(applied)) return readBaseline().map(({ hash, folderMillis: createdAt }) => ({ hash, createdAt }));
  return beginsWithEarlier(applied) && !isBeforeBaseline(applied) ? applied.slice(earlier.count) : applied;
}

/** The applied migrations, the oldest first; none in a database without their table. */
export async function readAppliedMigrations(database: PoolOrClient): Promise<AppliedMigration[]> {
  const table = await database.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  if (!(table.rows[0] as { there: boolean }).there) return [];
  const { rows } = await database.query(
    'select hash, created_at as "createdAt" from drizzle.__drizzle_migrations order by id',
  );
  return (rows as { hash: string; createdAt: string }[]).map(({ hash, createdAt }) => ({
    hash,
    createdAt: Number(createdAt),
  }));
}
