import type { PoolClient } from 'pg';
import type { CommittedEvent } from './counters.ts';
import { execute, type Queryable } from './statements.ts';
import { sharedDataProviderId, type Actor } from './tables/audit.ts';
import { formatTimestamp } from '../core/timestamps.ts';

/** Actor of one request, command or server start. `action` is a route or a command's name, never payload. */
export type AuditContext = {
  actor: Actor;
  actorId: number | null;
  action: string;
  itemIds?: readonly number[];
  /** Shown in the log of slow statements. */
  requestId?: string;
};

/** A transaction's share of its audit entry, and its events to count once it is committed. */
type AffectedItems = { changed: boolean; itemIds: number[]; events: CountedEvents };
type CountedEvents = Partial<Record<CommittedEvent, number>>;
/** The members of a transaction that make its audit entry and its counts. */
export type Audited = {
  affected: AffectedItems;
  /** Adds an item that the route does not name to the audit entry. Returns its id. */
  auditItem(itemId: number): number;
  /** Adds to a counter of the metrics if the transaction commits. */
  countEvents(event: CommittedEvent, count: number): void;
  /** Makes the transaction roll back, without an audit entry, once its work returns. Returns `result`. */
  rollBack(): void;
  rollBack<T>(result: T): T;
};
/** A provider id of null stands for shared data; `now` is the transaction's timestamp. */
type Change = Pick<AffectedItems, 'changed' | 'itemIds'> & { providerIds: (number | null)[]; now: string };

export function createAudited(): Audited {
  const affected: AffectedItems = { changed: true, itemIds: [], events: {} };
  return {
    affected,
    auditItem(itemId) {
      affected.itemIds.push(itemId);
      return itemId;
    },
    countEvents(event, count) {
      affected.events[event] = (affected.events[event] ?? 0) + count;
    },
    rollBack<T>(result?: T) {
      affected.changed = false;
      return result as T;
    },
  };
}

const insertEntries = {
  name: 'record_change',
  text: `insert into audit_entries (provider_id, at, actor, actor_id, action, item_ids)
    select coalesce(provider_id, ${sharedDataProviderId}), $6::timestamptz, $2, $3::bigint, $4, $5::bigint[]
    from unnest($1::bigint[]) provider_id`,
};

const insertEntry = {
  name: 'record_event',
  text: `insert into audit_entries (provider_id, at, actor, actor_id, action, item_ids) values ($1, now(), $2, $3, $4, $5)`,
};

/** Records an event that changes no data of the provider, such as a sign-on; without its lock. */
export const recordEntry = (
  on: Queryable,
  providerId: number,
  { actor, actorId, action, itemIds = [] }: AuditContext,
) => execute(on, insertEntry, [providerId, actor, actorId, action, itemIds]);

/** Writes one audit entry per provider and context, with its first committed change. */
export function createAuditLog({ actor, actorId, action, itemIds: routeItemIds = [], requestId }: AuditContext) {
  const loggedProviders = new Set<number | null>();
  return {
    origin: requestId === undefined ? {} : { reqId: requestId },
    /** Inserts the entries in the change's own transaction. */
    async record(client: PoolClient, { providerIds, changed, itemIds, now }: Change) {
      const unlogged = providerIds.filter((id) => !loggedProviders.has(id));
      if (!changed || unlogged.length === 0) return;
      const values = [unlogged, actor, actorId, action, [...routeItemIds, ...itemIds], now];
      await client.query({ ...insertEntries, values });
    },
    /** Called after the commit: until then a retry has to insert the entry again. */
    onCommit({ providerIds, changed }: Change) {
      if (changed) for (const id of providerIds) loggedProviders.add(id);
    },
  };
}
export type AuditLog = ReturnType<typeof createAuditLog>;

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
export async function listAuditEntries(
  { pool }: { pool: Queryable['$client'] },
  { providerId, since, limit }: AuditSelection,
) {
  const rows = await execute<AuditEntry>({ $client: pool }, listEntries, [providerId, since, limit]);
  return rows.map((row) => ({ ...row, at: formatTimestamp(row.at) }));
}
