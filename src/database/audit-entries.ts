import { formatTimestamp } from '../core/timestamps.ts';
import type { Database } from './client.ts';
import { execute } from './statements.ts';
import { sharedDataProviderId } from './tables/audit.ts';

/** Ids only; `action` is a route or the name of a command. */
type AuditEntry = {
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

type AuditSelection = { providerId: number | null; since: string | null; limit: number };

const listEntries = {
  name: 'list_audit_entries',
  text: `select id as entry_id, at::text, nullif(provider_id, ${sharedDataProviderId}) as provider_id, actor, actor_id, action, to_json(item_ids) as item_ids
    from audit_entries
    where ($1::bigint is null or provider_id = $1) and ($2::timestamptz is null or at >= $2)
    order by id desc limit $3`,
};

/** Newest first; a `since` without offset is in the service's time zone. */
export async function listAuditEntries(database: Database, { providerId, since, limit }: AuditSelection) {
  const rows = await execute<AuditEntry>({ $client: database.pool }, listEntries, [providerId, since, limit]);
  return rows.map((row) => ({ ...row, at: formatTimestamp(row.at) }));
}
