import type { PoolClient } from 'pg';
import type { Actor } from './tables/audit.ts';

/**
 * One request, one command, one start of the server: who does it, and what, as a route or the name of a command. Never what
 * was sent with it.
 */
export type AuditContext = { actor: Actor; actorId: number | null; action: string; itemIds?: number[] };

/** What a transaction is to leave in the audit log. */
export type AffectedItems = { changed: boolean; itemIds: number[] };
type Noting = { note: AffectedItems };
/** A provider id of null stands for data that all providers share; `at` is the lock's clock. */
type Change = AffectedItems & { providerIds: (number | null)[]; at: string };

/** For work that turned out to change nothing: it is undone, lock and all, and leaves no entry. Answers what it is given. */
export function rollbackNoChange(tx: Noting): void;
export function rollbackNoChange<T>(tx: Noting, answer: T): T;
export function rollbackNoChange<T>({ note }: Noting, answer?: T): T | undefined {
  note.changed = false;
  return answer;
}

/** What was made or changed, where the route does not name it; answers the id. */
export function recordAffected({ note }: Noting, itemId: number): number {
  note.itemIds.push(itemId);
  return itemId;
}

const recordChange = {
  name: 'record_change',
  text: `insert into audit_entries (provider_id, at, actor, actor_id, action, item_ids)
    select provider_id, $6::timestamptz, $2, $3::bigint, $4, $5::bigint[] from unnest($1::bigint[]) provider_id`,
};

/** The audit log of one doing: it gets one entry for each provider, with the first change that is kept. */
export function createAuditLog({ actor, actorId, action, itemIds: named = [] }: AuditContext) {
  const loggedProviders = new Set<number | null>();
  return {
    /** Writes the entries in the change's own transaction, so that there is neither without the other. */
    async record(client: PoolClient, { providerIds, changed, itemIds, at }: Change) {
      const unlogged = providerIds.filter((id) => !loggedProviders.has(id));
      if (!changed || unlogged.length === 0) return;
      const values = [unlogged, actor, actorId, action, [...named, ...itemIds], at];
      await client.query({ ...recordChange, values });
    },
    /** Once the transaction is committed. */
    onCommit({ providerIds, changed }: Change) {
      if (changed) for (const id of providerIds) loggedProviders.add(id);
    },
  };
}
export type Audit = ReturnType<typeof createAuditLog>;
