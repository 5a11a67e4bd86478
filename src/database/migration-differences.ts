import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationsFolder, readMigrations } from './migrate.ts';

/** A migration as the database and a backup record it: `createdAt` identifies it, `hash` is of its SQL. */
export type AppliedMigration = { hash: string; createdAt: number };

export type MigrationDifferences = {
  /** Names of migrations that were applied with other contents than this build has. */
  changed: string[];
  /** The first migration of this build in whose place the database has another one. */
  replaced?: string;
  /** Applied migrations that this build does not have. */
  newer: number;
};

let names: string[] | undefined;

function readMigrationNames() {
  const journal = JSON.parse(readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[];
  };
  return journal.entries.map(({ tag }) => tag);
}

/** Compares applied migrations, the oldest first, with those of this build. */
export function compareMigrations(applied: AppliedMigration[]): MigrationDifferences {
  names ??= readMigrationNames();
  const own = readMigrations();
  const common = applied.slice(0, own.length);
  const replacedAt = common.findIndex(({ createdAt }, n) => createdAt !== own[n]!.folderMillis);
  const matching = replacedAt < 0 ? common : common.slice(0, replacedAt);
  const changed = names.filter((_, n) => n < matching.length && matching[n]!.hash !== own[n]!.hash);
  return {
    ...{ changed, newer: applied.length - common.length },
    ...(replacedAt >= 0 && { replaced: names[replacedAt]! }),
  };
}

/** One sentence for each difference that a restore would meet. */
export const describeMigrationDifferences = ({ changed, replaced }: MigrationDifferences) => [
  ...(changed.length === 0
    ? []
    : [
        `${changed.length === 1 ? 'The migration' : 'The migrations'} ${changed.join(', ')} ${changed.length === 1 ? 'was' : 'were'} applied with other contents than this version has`,
      ]),
  ...(replaced === undefined ? [] : [`Another migration was applied in the place of ${replaced}`]),
];

/** The differences of a database; none without migrations. */
export async function findMigrationDifferences(database: Queryable) {
  const { rows } = await database.query("select to_regclass('drizzle.__drizzle_migrations') is not null as there");
  if (!(rows[0] as { there: boolean }).there) return [];
  return describeMigrationDifferences(compareMigrations(await readAppliedMigrations(database)));
}

type Queryable = { query(text: string): Promise<{ rows: unknown[] }> };

export async function readAppliedMigrations(database: Queryable): Promise<AppliedMigration[]> {
  const { rows } = await database.query(
    'select hash, created_at as "createdAt" from drizzle.__drizzle_migrations order by id',
  );
  return (rows as { hash: string; createdAt: string }[]).map(({ hash, createdAt }) => ({
    hash,
    createdAt: Number(createdAt),
  }));
}
