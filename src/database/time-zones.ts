import { sql } from 'drizzle-orm';
import type { Reader } from './client.ts';

/** Files beside the zones that some systems ship in other forms, or as one's own. */
const noZones = '^(posix/|right/|(localtime|posixrules|Factory)$)';

/** The server reads them from files, which takes long, and they change with its version alone. */
const known = new WeakMap<Reader, Set<string>>();

/** The zones that PostgreSQL, which does all arithmetic with them, knows by the names that IANA gives them. */
export async function listTimeZones({ db }: { db: Reader }): Promise<Set<string>> {
  const zones = known.get(db) ?? (await fetchZones(db));
  known.set(db, zones);
  return zones;
}

export const isZone = async (database: { db: Reader }, name: string) => (await listTimeZones(database)).has(name);

/** A field that holds a name of no zone; what the schema refuses is left to it. */
export const zoneFaults = async (database: { db: Reader }, zone: unknown) =>
  typeof zone === 'string' && zone !== '' && !(await isZone(database, zone)) ? ['timezone'] : [];

async function fetchZones(db: Reader) {
  const zones = await db
    .select({ name: sql<string>`name` })
    .from(sql`pg_timezone_names`)
    .where(sql`name !~ ${noZones}`);
  return new Set(zones.map(({ name }) => name));
}
