import {
  readAppliedMigrations,
  readMigrationNames,
  readMigrations,
  type AppliedMigration,
} from './migration-history.ts';
import type { PoolOrClient } from './statements.ts';

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
