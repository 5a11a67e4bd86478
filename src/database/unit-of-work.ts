import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import type { Audit, AffectedItems } from './audit-log.ts';
import { getFailure, isPreparingFault } from './errors.ts';
import { lockProviders, lockShared, noLock, type Lock } from './tenant-lock.ts';
import { QueueTimeoutError, createKeyedQueue } from './keyed-queue.ts';
import { queryBuilder } from './query-builder/index.ts';
import { settleInOrder } from './statements.ts';

/** A transaction that holds its lock. */
export type Tx = NodePgDatabase & { $client: PoolClient; note: AffectedItems };
/** `at` is the lock's clock: the created_at, updated_at and deleted_at of every row that the work writes. */
type Work<T> = (tx: Tx, now: string) => Promise<T>;

/** Runs work in a transaction that has taken the provider's lock as its first statement. */
export type Write = <T>(work: Work<T>) => Promise<T>;
/** The same for work that makes a provider, whose id it answers. */
export type WriteNewProvider = (work: NewWork) => Promise<number>;
type NewWork = (tx: Tx, now: string) => Promise<number>;

/** The ways to write; there is no other. */
export type UnitOfWork = {
  /** Rows of the given providers. */
  write<T>(providerIds: number[], work: Work<T>): Promise<T>;
  /** What all providers share. */
  writeShared<T>(work: Work<T>): Promise<T>;
  /** A provider that does not exist yet; inserting its `provider_state` first is its lock, after its parent's row. */
  writeNewProvider(parentId: number | null, work: NewWork): Promise<number>;
};

/** Switched off by the negative control of race tests alone. */
export type Locking = { lock: boolean; queue: boolean };

/** One query builder for each connection: it finds out the names of a table's columns once. */
const builders = new WeakMap<PoolClient, NodePgDatabase>();

function bindTo(client: PoolClient): Tx {
  const builder = builders.get(client) ?? queryBuilder.on(client);
  builders.set(client, builder);
  const bound = Object.create(builder) as NodePgDatabase;
  return Object.assign(bound, { $client: client, note: { changed: true, itemIds: [] } });
}
const parentLock = (parentId: number | null) => (parentId === null ? noLock : lockProviders([parentId]));

/** In whose turn and under which lock something is done. */
type QueueTurn = { keys: number[]; lock: Lock };
/** What was done, and in whose audit log it is told. */
type TransactionResult<T> = { result: T; providerIds: (number | null)[] };
type TransactionTask<T> = QueueTurn & { work: (tx: Tx, now: string) => Promise<TransactionResult<T>> };
type RunTransaction = <T>(task: TransactionTask<T>) => Promise<T>;

const concerning =
  <T>(providerIds: (number | null)[], work: Work<T>) =>
  async (tx: Tx, now: string): Promise<TransactionResult<T>> => ({ result: await work(tx, now), providerIds });

const unitOfWorkBy = (runTransaction: RunTransaction): UnitOfWork => ({
  write(providerIds, work) {
    const ids = [...new Set(providerIds)];
    return runTransaction({ keys: ids, lock: lockProviders(ids), work: concerning(ids, work) });
  },
  writeShared(work) {
    return runTransaction({ keys: [0], lock: lockShared, work: concerning([null], work) });
  },
  writeNewProvider(parentId, work) {
    const parents = parentId === null ? [] : [parentId];
    const making = async (tx: Tx, now: string) => {
      const created = await work(tx, now);
      return { result: created, providerIds: [...parents, created] };
    };
    return runTransaction({ keys: parents, lock: parentLock(parentId), work: making });
  },
});

async function runTask<T>(client: PoolClient, { lock, work }: TransactionTask<T>) {
  const tx = bindTo(client);
  const at = await lock(client);
  const { result, providerIds } = await work(tx, at);
  return { result, change: { providerIds, at, ...tx.note } };
}

/**
 * `waitMs` bounds a writer's whole wait: in the queue, for the lock, and over retries. `workMs` later its transaction is
 * ended, however many statements it takes: with a slow way to the database they add up, and others wait for the lock.
 * Returns the writers, whose changes go to the audit log that is given. They wait in turn with other fairness keys; without
 * one, the first provider is the key.
 */
export function createUnitOfWork(
  pool: Pool,
  { waitMs, workMs, slots, locking }: { waitMs: number; workMs: number; slots: number; locking: Locking },
) {
  const queued = createKeyedQueue({ slots, waiting: 1_000, waitMs });

  const unlocked = <T extends QueueTurn>(turn: T): T => (locking.lock ? turn : { ...turn, lock: noLock });

  /** Serialization failures, deadlocks, lock time-outs and lost prepared statements are tried again while the time lasts. */
  async function withRetry<T>(
    keys: number[],
    fairnessKey: number | undefined,
    once: (times: Times) => Promise<T>,
  ): Promise<T> {
    const until = performance.now() + waitMs;
    const attempt = async (): Promise<T> => {
      for (;;) {
        try {
          return await once({ until, end: until + workMs });
        } catch (error) {
          if (getFailure(error)?.kind !== 'retry' || performance.now() + 20 > until) throw error;
          await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 15));
        }
      }
    };
    return locking.queue ? queued(keys, attempt, { fairnessKey }) : attempt();
  }

  async function runTransaction<T>(task: TransactionTask<T>, times: Times, audit?: Audit): Promise<T> {
    const { result, change } = await transaction(
      pool,
      times,
      (client) => runTask(client, unlocked(task)),
      // The commit goes right behind the entry, and where one fails, nothing is committed.
      (client, { change }) =>
        change.changed ? settleInOrder([audit?.record(client, change), commit(client)]) : client.query('rollback'),
    );
    audit?.onCommit(change);
    return result;
  }

  return (audit?: Audit, fairnessKey?: number) =>
    unitOfWorkBy((task) =>
      withRetry(task.keys, fairnessKey ?? task.keys[0], (times) => runTransaction(task, times, audit)),
    );
}

/**
 * The same ways to write inside one transaction on one connection, so that all of it is there or nothing. Work that turns
 * out to change nothing leaves no entry, but is not undone alone: its provider's clock has moved.
 */
export const nestedUnitOfWork = (client: PoolClient, audit?: Audit): UnitOfWork =>
  unitOfWorkBy(async (task) => {
    const { result, change } = await runTask(client, task);
    await audit?.record(client, change);
    audit?.onCommit(change);
    return result;
  });

const commit = (client: PoolClient): Promise<unknown> => client.query('commit');

/** As performance.now(): until when locks are waited for, and when it is cut off, where it is. */
type Times = { until: number; end?: number };

/** At once, whatever it waits for; the driver's own way waits for answers. The driver has had these since its beginning. */
const cutOff = (client: PoolClient) =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();

/**
 * Begin, the work, and its conclusion, which is to commit unless given. A connection that cannot even roll back is thrown
 * away.
 */
export async function transaction<T>(
  pool: Pool,
  { until, end }: Times,
  work: (client: PoolClient) => Promise<T>,
  conclude: (client: PoolClient, result: T) => Promise<unknown> = commit,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let late: QueueTimeoutError | undefined;
  const giveUp = () => {
    late = new QueueTimeoutError('the transaction took too long');
    cutOff(client);
  };
  const timer = end === undefined ? undefined : setTimeout(giveUp, end - performance.now());
  try {
    const wait = Math.max(1, Math.round(until - performance.now()));
    const begun = client.query(`begin isolation level read committed; set local lock_timeout = ${wait}`);
    // The lock is sent right behind it: a begin fails with its connection.
    const [, result] = await Promise.all([begun, work(client)]);
    await conclude(client, result);
    return result;
  } catch (thrown) {
    const error = late ?? thrown;
    if (isPreparingFault(error)) broken = error as Error;
    // A connection that is gone, or does not answer, would only be waited for once more.
    if (getFailure(error)?.kind === 'unavailable') broken = error as Error;
    else await client.query('rollback').catch((failed: unknown) => (broken = failed as Error));
    throw error;
  } finally {
    clearTimeout(timer);
    client.release(broken);
  }
}
