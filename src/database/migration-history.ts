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

/**
 * The migrations from the first one of this build on; all where that one is missing. Before it a database may have those
 * of a build whose tables the first ones make.
 */
export function sinceFirst<M extends { hash: string }>(applied: M[]): M[] {
  const [first] = readMigrations();
  return applied.slice(
    Math.max(
      0,
      applied.findIndex(({ hash }) => hash === first!.hash),
    ),
  );
}

/** The applied migrations of this history, the oldest first; none in a database without their table. */
export async function readAppliedMigrations(database: PoolOrClient): Promise<AppliedMigration[]> {
  const table = await database.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  if (!(table.rows[0] as { there: boolean }).there) return [];
  const { rows } = await database.query(
    'select hash, created_at as "createdAt" from drizzle.__drizzle_migrations order by id',
  );
  const applied = rows as { hash: string; createdAt: string }[];
  return sinceFirst(applied).map(({ hash, createdAt }) => ({ hash, createdAt: Number(createdAt) }));
}
