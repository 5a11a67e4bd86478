import { sql } from 'drizzle-orm';
import type { Reader } from './client.ts';

/** Entries of the zoneinfo folder that are not IANA names. */
const notIana = '^(posix/|right/|(localtime|posixrules|Factory)$)';

/** Kept: the server reads the zones from files, which is slow. */
let known: Set<string> | undefined;

/** The IANA time zone names that PostgreSQL supports. */
export const loadTimeZones = async ({ db }: { db: Reader }): Promise<Set<string>> =>
  (known ??= await queryTimeZones(db));

/** `['timezone']` if the zone is unknown, else empty; other types than text are reported by the schema. */
export const findInvalidTimezone = async (database: { db: Reader }, zone: unknown) =>
  typeof zone === 'string' && zone !== '' && !(await loadTimeZones(database)).has(zone) ? ['timezone'] : [];

async function queryTimeZones(db: Reader) {
  const zones = await db
    .select({ name: sql<string>`name` })
    .from(sql`pg_timezone_names`)
    .where(sql`name !~ ${notIana}`);
  return new Set(zones.map(({ name }) => name));
}
