import { sql } from 'drizzle-orm';
import type { Reader } from '../database/client.ts';

/** Files beside the zones that some systems ship in other forms, or as one's own. */
const noZones = '^(posix/|right/|(localtime|posixrules|Factory)$)';

/** The server reads them from files, which takes long, and they change with its version alone. */
const zonesOf = new WeakMap<Reader, Set<string>>();

/** Whether PostgreSQL, which does all arithmetic with zones, knows one by this name, as IANA writes it. */
export async function isZone({ db }: { db: Reader }, name: string): Promise<boolean> {
  const zones = zonesOf.get(db) ?? (await fetchZones(db));
  zonesOf.set(db, zones);
  return zones.has(name);
}

async function fetchZones(db: Reader) {
  const zones = await db
    .select({ name: sql<string>`name` })
    .from(sql`pg_timezone_names`)
    .where(sql`name !~ ${noZones}`);
  return new Set(zones.map(({ name }) => name));
}
