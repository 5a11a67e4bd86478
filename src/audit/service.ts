import { dateTimeOrNull } from '../lib/timestamps.ts';
import type { Database } from '../database/client.ts';
import { execute, type Queryable } from '../database/statements.ts';
import { clearEntries, listEntries } from './sql.ts';

/** Who changed what: ids alone, and a route or a command as `action`. */
export type AuditEntry = {
  entry_id: number;
  at: string;
  /** Null for what all providers share. */
  provider_id: number | null;
  actor: string;
  actor_id: number | null;
  action: string;
  /** What the route names, then what was made or changed. */
  item_ids: number[];
};

export type AuditSelection = { providerId: number | null; since: string | null; limit: number };

const getLog = ({ pool }: Database): Queryable => ({ $client: pool });

/** The newest entries first; `since` is read in the service's time zone. */
export async function auditEntries(database: Database, { providerId, since, limit }: AuditSelection) {
  const rows = await execute<AuditEntry>(getLog(database), listEntries, [providerId, since, limit]);
  return rows.map((row) => ({ ...row, at: dateTimeOrNull(row.at)! }));
}

const clearedAtOnce = 1_000;

/** Deletes what is a year old. */
export async function clearAuditLog(database: Database) {
  while ((await execute(getLog(database), clearEntries, [clearedAtOnce])).length === clearedAtOnce);
}
