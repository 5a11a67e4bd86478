import { sql } from 'drizzle-orm';
import type { Reader } from './client.ts';
import { queryBuilder } from './query-builder/index.ts';

/** Entries of the zoneinfo folder that are not IANA names. */
const notIana = '^(posix/|right/|(localtime|posixrules|Factory)$)';

/** Cached: the server reads the zones from files, which is slow. */
const cache = new WeakMap<Reader, Set<string>>();

/** The IANA time zone names that PostgreSQL supports. */
export async function loadTimeZones({ db }: { db: Reader }): Promise<Set<string>> {
  const root = queryBuilder.getRoot(db);
  const zones = cache.get(root) ?? (await queryTimeZones(db));
  cache.set(root, zones);
  return zones;
}

const isTimeZone = async (database: { db: Reader }, name: string) => (await loadTimeZones(database)).has(name);

/** `['timezone']` if the zone is unknown, else empty; other types than text are reported by the schema. */
export const findInvalidTimezone = async (database: { db: Reader }, zone: unknown) =>
  typeof zone === 'string' && zone !== '' && !(await isTimeZone(database, zone)) ? ['timezone'] : [];

async function queryTimeZones(db: Reader) {
  const zones = await db
    .select({ name: sql<string>`name` })
    .from(sql`pg_timezone_names`)
    .where(sql`name !~ ${notIana}`);
  return new Set(zones.map(({ name }) => name));
}
