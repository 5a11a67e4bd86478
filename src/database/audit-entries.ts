import { formatTimestamp } from '../core/timestamps.ts';
import type { Database } from './client.ts';
import { execute, type Queryable } from './statements.ts';
import { listEntries } from './audit-entries-sql.ts';

/** Ids only; `action` is a route or the name of a command. */
export type AuditEntry = {
  entry_id: number;
  at: string;
  /** Null for shared data. */
  provider_id: number | null;
  actor: string;
  actor_id: number | null;
  action: string;
  /** Items named by the route, then others that were created or changed. */
  item_ids: number[];
};

export type AuditSelection = { providerId: number | null; since: string | null; limit: number };

const toQueryable = ({ pool }: Database): Queryable => ({ $client: pool });

/** Newest first; a `since` without offset is in the service's time zone. */
export async function listAuditEntries(database: Database, { providerId, since, limit }: AuditSelection) {
  const rows = await execute<AuditEntry>(toQueryable(database), listEntries, [providerId, since, limit]);
  return rows.map((row) => ({ ...row, at: formatTimestamp(row.at) }));
}
