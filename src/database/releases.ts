import type { PoolOrClient } from './statements.ts';

/** Minor releases up to this one, oldest first: those of the changelog. */
export const releases = ['0.1', '0.2'];

/** Number of later releases whose database a server accepts, since it still runs while those are installed. */
const supportedNewer = 2;

/** Stores the releases of this build in the database that it has migrated. */
export async function recordReleases(database: PoolOrClient) {
  await database.query('update service_state set releases = $1 where cardinality(releases) < cardinality($1::text[])', [
    releases,
  ]);
}

/** Throws if more than two releases after this one have migrated the database. */
export async function assertReleaseIsSupported(database: PoolOrClient) {
  const newer = (await findReleases(database)).slice(releases.length);
  if (newer.length <= supportedNewer) return;
  throw new Error(
    `the database was migrated by version ${newer.at(-1)}, ${newer.length} releases after this one, ${releases.at(-1)}; ` +
      `a server runs on a database of at most ${supportedNewer} later releases: install ${newer.at(-1)}`,
  );
}

async function findReleases(database: PoolOrClient): Promise<string[]> {
  // An empty database has no such column.
  const { rows } = await database.query(
    `select from pg_attribute where attrelid = to_regclass('service_state') and attname = 'releases'`,
  );
  if (rows.length === 0) return [];
  const stored = await database.query('select releases from service_state');
  return (stored.rows[0] as { releases: string[] } | undefined)?.releases ?? [];
}
