import type { PoolClient } from 'pg';
import type { CommittedEvent } from './counters.ts';
import { json, statement } from './statement.ts';
import type { Queryable } from './statements.ts';
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

// Text: each write and each sign-on waits for an insert.
const takesEntry = { actor: 'text', actorId: 'int?', action: 'text', itemIds: 'int[]' } as const;

const insertEntries = statement(
  'record_change',
  {
    takes: { ...takesEntry, schools: { rows: { id: 'int?' } }, now: 'moment' },
    acrossSchools: 'a change may concern several schools or the shared data',
  },
  `insert into audit_entries (provider_id, at, actor, actor_id, action, item_ids)
    select coalesce(id, ${sharedDataProviderId}), :now, :actor, :actorId, :action, array(:itemIds) from :schools`,
);

const insertEntry = statement(
  'record_event',
  { takes: { ...takesEntry, providerId: 'int' } },
  `insert into audit_entries (provider_id, at, actor, actor_id, action, item_ids)
    values (:providerId, now(), :actor, :actorId, :action, array(:itemIds))`,
);

/** Records an event that changes no data of the provider, such as a sign-on; without its lock. */
export const recordEntry = (
  on: Queryable,
  providerId: number,
  { actor, actorId, action, itemIds = [] }: AuditContext,
) => insertEntry(on, { providerId, actor, actorId, action, itemIds });

/** Writes one audit entry per provider and context, with its first committed change. */
export function createAuditLog({ actor, actorId, action, itemIds: routeItemIds = [], requestId }: AuditContext) {
  const loggedProviders = new Set<number | null>();
  return {
    origin: requestId === undefined ? {} : { reqId: requestId },
    /** Inserts the entries in the change's own transaction. */
    async record(client: PoolClient, { providerIds, changed, itemIds, now }: Change) {
      const unlogged = providerIds.filter((id) => !loggedProviders.has(id));
      if (!changed || unlogged.length === 0) return;
      const schools = unlogged.map((id) => ({ id }));
      const entry = { actor, actorId, action, itemIds: [...routeItemIds, ...itemIds] };
      await insertEntries({ $client: client }, { ...entry, schools, now });
    },
    /** Called after the commit: until then a retry has to insert the entry again. */
    onCommit({ providerIds, changed }: Change) {
      if (changed) for (const id of providerIds) loggedProviders.add(id);
    },
  };
}
export type AuditLog = ReturnType<typeof createAuditLog>;

type AuditSelection = { providerId: number | null; since: string | null; limit: number };

/** The provider of shared data is null. Items named by the route come first. */
const listEntries = statement(
  'list_audit_entries',
  {
    takes: { providerId: 'int?', since: 'moment?', limit: 'int' },
    returns: {
      ...{ entry_id: 'int', at: 'text', provider_id: 'int?', actor: 'text', actor_id: 'int?', action: 'text' },
      item_ids: json<number[]>(),
    },
  },
  `select id as entry_id, at::text, nullif(provider_id, ${sharedDataProviderId}) as provider_id, actor, actor_id, action,
      to_json(item_ids) as item_ids
    from audit_entries
    where (:providerId::bigint is null or provider_id = :providerId) and (:since::timestamptz is null or at >= :since)
    order by id desc limit :limit`,
);

/** Newest first; a `since` without offset is in the service's time zone. */
export async function listAuditEntries({ unlocked }: { unlocked: Queryable }, selection: AuditSelection) {
  return (await listEntries(unlocked, selection)).map((row) => ({ ...row, at: formatTimestamp(row.at) }));
}
