import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { failureOf } from './errors.ts';
import { lockProviders, lockShared, noLock, type Lock } from './locks.ts';
import { workQueue } from './queue.ts';

/** A transaction that holds its lock. */
export type Tx = NodePgDatabase & { $client: PoolClient };
/** `at` is the lock's clock: the created_at, updated_at and deleted_at of every row that the work writes. */
type Work<T> = (tx: Tx, at: string) => Promise<T>;

/** Runs work in a transaction that has taken the provider's lock as its first statement. */
export type Write = <T>(work: Work<T>) => Promise<T>;

/** The ways to write; there is no other. */
export type Writers = {
  /** Rows of the given providers. */
  write<T>(providerIds: number[], work: Work<T>): Promise<T>;
  /** What all providers share. */
  writeShared<T>(work: Work<T>): Promise<T>;
  /** A provider that does not exist yet; inserting its `provider_state` first is its lock, after its parent's row. */
  writeNewProvider<T>(parentId: number | null, work: Work<T>): Promise<T>;
};

/** Switched off by the negative control of race tests alone. */
export type Locking = { lock: boolean; queue: boolean };

const casing = 'snake_case';
const bindTo = (client: PoolClient) => drizzle({ client, casing });
const parentLock = (parentId: number | null) => (parentId === null ? noLock : lockProviders([parentId]));

/** `waitMs` bounds a writer's whole wait: in the queue, for the lock, and over retries. */
export function openWriters(
  pool: Pool,
  { waitMs, slots, locking }: { waitMs: number; slots: number; locking: Locking },
) {
  const queued = workQueue({ slots, waiting: 1_000, waitMs });

  /** Serialization failures, deadlocks and lock time-outs are tried again while the time lasts. */
  async function persistently<T>(keys: number[], lock: Lock, work: Work<T>): Promise<T> {
    const until = performance.now() + waitMs;
    const attempt = async (): Promise<T> => {
      for (;;) {
        try {
          return await transaction(pool, until, async (client) =>
            work(bindTo(client), await (locking.lock ? lock : noLock)(client)),
          );
        } catch (error) {
          if (failureOf(error)?.kind !== 'retry' || performance.now() + 20 > until) throw error;
          await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 15));
        }
      }
    };
    return locking.queue ? queued(keys, attempt) : attempt();
  }

  const writers: Writers = {
    write(providerIds, work) {
      const ids = [...new Set(providerIds)];
      return persistently(ids, lockProviders(ids), work);
    },
    writeShared: (work) => persistently([0], lockShared, work),
    writeNewProvider: (parentId, work) => persistently(parentId === null ? [] : [parentId], parentLock(parentId), work),
  };
  return writers;
}

/** The same ways to write inside one transaction on one connection, so that all of it is there or nothing. */
export function writersWithin(client: PoolClient): Writers {
  const within = async <T>(lock: Lock, work: Work<T>) => work(bindTo(client), await lock(client));
  return {
    write: (providerIds, work) => within(lockProviders([...new Set(providerIds)]), work),
    writeShared: (work) => within(lockShared, work),
    writeNewProvider: (parentId, work) => within(parentLock(parentId), work),
  };
}

/** Begin, the work, commit; locks are waited for until then (as performance.now()). A connection that cannot even roll back is thrown away. */
export async function transaction<T>(pool: Pool, until: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const wait = Math.max(1, Math.round(until - performance.now()));
    const begun = client.query(`begin isolation level read committed; set local lock_timeout = ${wait}`);
    // The lock is sent right behind it; where a transaction cannot begin, nothing else can either.
    const [, result] = await Promise.all([begun, work(client)]);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection that is gone, or does not answer, would only be waited for once more.
    if (failureOf(error)?.kind === 'unavailable') broken = error as Error;
    else await client.query('rollback').catch((failed: unknown) => (broken = failed as Error));
    throw error;
  } finally {
    client.release(broken);
  }
}
