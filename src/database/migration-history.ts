import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { projectRoot } from '../core/project.ts';
import type { PoolOrClient } from './statements.ts';
import { itemAt } from '../core/errors.ts';

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
type AppliedMigration = { hash: string; createdAt: number };

/** The migrations from this build's first one on, or all without it: older builds have others before it. */
export function fromFirstMigration<M extends { hash: string }>(applied: M[]): M[] {
  const first = itemAt(readMigrations());
  const start = applied.findIndex(({ hash }) => hash === first.hash);
  return applied.slice(Math.max(0, start));
}

/** The applied migrations of this history, the oldest first; none in a database without their table. */
export async function readAppliedMigrations(database: PoolOrClient): Promise<AppliedMigration[]> {
  const { rows: found } = await database.query<{ there: boolean }>(
    "select to_regclass('drizzle.__drizzle_migrations') is not null as there",
  );
  if (!itemAt(found).there) return [];
  const { rows } = await database.query<{ hash: string; createdAt: string }>(
    'select hash, created_at as "createdAt" from drizzle.__drizzle_migrations order by id',
  );
  return fromFirstMigration(rows).map(({ hash, createdAt }) => ({ hash, createdAt: Number(createdAt) }));
}

type MigrationDifferences = {
  /** Names of migrations that were applied with other contents than this build has. */
  changed: string[];
  /** The first migration of this build in whose place the database has another one. */
  replaced?: string;
  /** True if the replaced one is not applied in another place either. */
  isMissing?: true;
  /** Applied migrations that this build does not have. */
  newer: number;
};

let names: string[] | undefined;

/** Compares applied migrations, the oldest first, with those of this build. */
export function compareMigrations(applied: AppliedMigration[]): MigrationDifferences {
  names ??= readMigrationNames();
  const own = readMigrations();
  const common = applied.slice(0, own.length);
  const replacedAt = common.findIndex(({ createdAt }, n) => createdAt !== own[n]!.folderMillis);
  const matching = replacedAt < 0 ? common : common.slice(0, replacedAt);
  const changed = names.filter((_, n) => n < matching.length && matching[n]!.hash !== own[n]!.hash);
  const isMissing = replacedAt >= 0 && applied.every(({ hash }) => hash !== own[replacedAt]!.hash);
  return {
    ...{ changed, newer: applied.length - common.length },
    ...(replacedAt >= 0 && { replaced: names[replacedAt]! }),
    ...(isMissing && { isMissing }),
  };
}

/** One sentence for each difference that a restore would meet. */
export const describeMigrationDifferences = ({ changed, replaced, isMissing }: MigrationDifferences) => [
  ...(changed.length === 0
    ? []
    : [
        `${changed.length === 1 ? 'The migration' : 'The migrations'} ${changed.join(', ')} ${changed.length === 1 ? 'was' : 'were'} applied with other contents than this version has`,
      ]),
  ...(replaced === undefined
    ? []
    : [
        isMissing
          ? `The migration ${replaced} is missing: another one was applied in its place`
          : `Another migration was applied in the place of ${replaced}`,
      ]),
];

/** The differences of a database; none without migrations. */
export const findMigrationDifferences = async (database: PoolOrClient) =>
  describeMigrationDifferences(compareMigrations(await readAppliedMigrations(database)));

/** True if the first migration is not that of this build, which then leaves the database as it is. */
export const isOfOtherHistory = ({ replaced }: MigrationDifferences) =>
  replaced !== undefined && replaced === names![0];

export async function assertKnownHistory(database: PoolOrClient) {
  const differences = compareMigrations(await readAppliedMigrations(database));
  if (isOfOtherHistory(differences)) throw new Error(describeMigrationDifferences(differences).join('. '));
}
