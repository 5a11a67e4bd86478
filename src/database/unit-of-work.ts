import type { Socket } from 'node:net';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { classifyError, getErrorCode, isPreparedStatementError, QueueTimeoutError } from '../core/database-errors.ts';
import { itemAt, Problem } from '../core/errors.ts';
import type { Areas } from './areas.ts';
import { createAudited, type Audited, type AuditLog } from './audit-log.ts';
import { countFailedWrite, retryReason, type Counters } from './counters.ts';
import { createKeyedQueue } from './keyed-queue.ts';
import type { Origin } from './preparing-client.ts';
import { queryBuilderOn } from './reader.ts';
import { createUpdateChanged, type UpdateChanged } from './update-changed.ts';

/*
 * Steps of every write:
 * 1. Queue: at most one write per provider, and `slots` writes altogether, hold a database connection.
 * 2. `begin`, then the lock of the provider's row, which returns the transaction's timestamp.
 * 3. The caller's work, with the transaction and that timestamp.
 * 4. The audit entry and `commit`; `rollback` if the work failed or called `rollBack`.
 * Steps 2 to 4 are retried after a serialization failure, a deadlock, a lock timeout or a lost prepared statement.
 */

/** An open transaction that holds its lock. */
export type Tx = NodePgDatabase & { $client: PoolClient } & Audited & UpdateChanged;
/** `now` is the lock's timestamp, for the created_at, updated_at and deleted_at of all rows written. */
export type Write = { tx: Tx; now: string };
/** May run again. */
type TransactionWork<T> = (w: Write) => Promise<T>;

/** Writes a new provider; the work returns its id. */
export type WriteNewProvider = (work: TransactionWork<number>) => Promise<number>;

/** The only ways to write. */
export type UnitOfWork = {
  /** Writes rows of these providers in these areas. */
  write<T>(providerIds: number[], areas: Areas, work: TransactionWork<T>): Promise<T>;
  /** Writes data that all providers share. */
  writeShared<T>(work: TransactionWork<T>): Promise<T>;
  /** Locks the parent's row; the work must insert the new `provider_state` first, which is the new provider's lock. */
  writeNewProvider(parentId: number | null, work: TransactionWork<number>): Promise<number>;
};

/** `providerIds` get an audit entry; null stands for shared data. */
type TaskResult<T> = { result: T; providerIds: (number | null)[] };
type TransactionTask<T> = {
  queueKeys: number[];
  lock: Lock;
  work: TransactionWork<TaskResult<T>>;
};
type RunTask = <T>(task: TransactionTask<T>) => Promise<T>;

const sharedQueueKey = 0;

const toUnitOfWork = (run: RunTask): UnitOfWork => ({
  write(providerIds, areas, work) {
    const ids = [...new Set(providerIds)];
    return run({ queueKeys: ids, lock: lockProviders(ids, areas), work: auditedFor(ids, work) });
  },
  writeShared(work) {
    return run({ queueKeys: [sharedQueueKey], lock: lockShared, work: auditedFor([null], work) });
  },
  writeNewProvider(parentId, work) {
    const parents = parentId === null ? [] : [parentId];
    return run({
      queueKeys: parents,
      lock: parentId === null ? noLock : lockProviders(parents, ['school']),
      async work(w) {
        const newId = await work(w);
        return { result: newId, providerIds: [...parents, newId] };
      },
    });
  },
});

const auditedFor =
  <T>(providerIds: (number | null)[], work: TransactionWork<T>) =>
  async (w: Write): Promise<TaskResult<T>> => ({ result: await work(w), providerIds });

type UnitOfWorkOptions = { waitMs: number; workMs: number; slots: number; counters: Counters };

/**
 * Returns a function that creates the unit of work of an audit log, and the usage of its queue. `waitMs` bounds queue,
 * lock and retries together; a transaction is aborted `workMs` later. `tenantQueueKey` defaults to the first provider.
 */
export function createUnitOfWork(pool: Pool, { waitMs, workMs, slots, counters }: UnitOfWorkOptions) {
  const enqueue = createKeyedQueue({ slots, waiting: 1_000, waitMs });

  async function tryTask<T>(task: TransactionTask<T>, lockUntil: number, auditLog?: AuditLog): Promise<T> {
    const { result, change } = await runTransaction(
      pool,
      { lockUntil, abortAt: lockUntil + workMs, origin: toOrigin(task, auditLog) },
      (client) => runTask(client, task),
      // Pipelined: if the entry fails, the commit behind it rolls back.
      (client, { change }) =>
        change.changed ? Promise.all([auditLog?.record(client, change), commit(client)]) : rollback(client),
    ).catch(countFailedWrite(counters));
    auditLog?.onCommit(change);
    if (change.changed) addEvents(counters, change.events);
    return result;
  }

  const unitOfWork = (auditLog?: AuditLog, tenantQueueKey?: number): UnitOfWork =>
    toUnitOfWork((task) => {
      const lockUntil = performance.now() + waitMs;
      const run = () => withRetry(lockUntil, counters, () => tryTask(task, lockUntil, auditLog));
      return enqueue(task.queueKeys, run, { tenantQueueKey: tenantQueueKey ?? task.queueKeys[0] });
    });
  return { unitOfWork, queueUsage: enqueue.usage };
}

const toOrigin = ({ queueKeys: [provider] }: TransactionTask<unknown>, auditLog?: AuditLog) =>
  provider === undefined ? undefined : { provider, ...auditLog?.origin };

function addEvents({ committed }: Counters, events: Partial<Counters['committed']>) {
  for (const [event, count] of Object.entries(events)) committed[event as keyof typeof committed] += count;
}

/** Repeats transient failures, after a pause of 5 to 20 ms, until a time as of `performance.now()`. */
async function withRetry<T>(until: number, { retries }: Counters, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (classifyError(error)?.kind !== 'retry' || performance.now() + 20 > until) throw error;
      retries[retryReason(getErrorCode(error))] += 1;
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 15));
    }
  }
}

/** Writes inside an open transaction, neither queued nor retried; without a change the clock has still moved. */
export const nestedUnitOfWork = (client: PoolClient, auditLog?: AuditLog): UnitOfWork =>
  toUnitOfWork(async (task) => {
    const { result, change } = await runTask(client, task);
    await auditLog?.record(client, change);
    auditLog?.onCommit(change);
    return result;
  });

async function runTask<T>(client: PoolClient, { lock, work }: TransactionTask<T>) {
  const tx = toTx(client);
  const now = await lock(client);
  const { result, providerIds } = await work({ tx, now });
  return { result, change: { providerIds, now, ...tx.affected } };
}

/** One query builder per connection: it looks up each table's columns once. */
const builders = new WeakMap<PoolClient, NodePgDatabase>();

function toTx(client: PoolClient): Tx {
  const builder = builders.get(client) ?? queryBuilderOn(client);
  builders.set(client, builder);
  const tx = Object.create(builder) as NodePgDatabase;
  return Object.assign(tx, { $client: client }, createAudited(), createUpdateChanged(builder));
}

/** Takes a lock as the transaction's first statement; returns the transaction's timestamp. */
type Lock = (client: PoolClient) => Promise<string>;

/**
 * Locks `provider_state` rows in ascending order, which avoids deadlocks, and sets their clocks, also those of these
 * areas, to one timestamp. A separate statement: combined with an insert, ids would not follow commit order. The clock
 * never repeats or goes back, even if the system's does.
 */
const lockProviders =
  (providerIds: number[], areas: Areas): Lock =>
  async (client) => {
    const [one, ...others] = providerIds;
    const statement = others.length === 0 ? lockOne : lockSeveral;
    const values = [others.length === 0 ? one : providerIds, areas];
    const now = await takeLock(client, statement, values);
    if (now === null) throw Problem.notFound('School');
    return now;
  };

const lockOne = { name: 'lock_provider', text: 'select lock_provider($1, $2)::text as now' };
const lockSeveral = { name: 'lock_providers', text: 'select lock_providers($1, $2)::text as now' };

/** Locks the single row of `service_state`, for data that all providers share. */
const lockShared: Lock = async (client) => {
  const now = await takeLock(client, { text: 'select lock_shared()::text as now' });
  if (now === null) throw new Error('service_state has no row');
  return now;
};

async function takeLock(client: PoolClient, statement: { name?: string; text: string }, values: unknown[] = []) {
  const { rows } = await client.query<{ now: string | null }>({ ...statement, values });
  return itemAt(rows).now;
}

/** Timestamp only: for a new provider without a parent. */
const noLock: Lock = async (client) => {
  const { rows } = await client.query<{ now: string }>(`select clock_timestamp()::text as now`);
  return itemAt(rows).now;
};

/**
 * Times as of `performance.now()`: `lockUntil` bounds each wait for a lock, and at `abortAt` the connection is closed,
 * since many short statements on a slow network would otherwise hold the lock longer than `statement_timeout`.
 */
type Deadlines = { lockUntil: number; abortAt?: number };
type TransactionOptions = Deadlines & { origin?: Origin | undefined };

const commit = (client: PoolClient): Promise<unknown> => client.query('commit');
const rollback = (client: PoolClient): Promise<unknown> => client.query('rollback');

/** Runs `begin`, `work` and `finish` on one connection; rolls back if any of them throws. */
export async function runTransaction<T>(
  pool: Pool,
  { lockUntil, abortAt, origin }: TransactionOptions,
  work: (client: PoolClient) => Promise<T>,
  finish: (client: PoolClient, result: T) => Promise<unknown> = commit,
): Promise<T> {
  const client: PoolClient & { origin?: Origin | undefined } = await pool.connect();
  client.origin = origin;
  let discardReason: Error | undefined;
  let timeoutError: QueueTimeoutError | undefined;
  const abort = () => {
    timeoutError = new QueueTimeoutError('the transaction took too long');
    destroySocket(client);
  };
  const timer = abortAt === undefined ? undefined : setTimeout(abort, abortAt - performance.now());
  try {
    const lockTimeoutMs = Math.max(1, Math.round(lockUntil - performance.now()));
    const begin = client.query(`begin isolation level read committed; set local lock_timeout = ${lockTimeoutMs}`);
    // Pipelined with the lock: `begin` fails only if the connection does.
    const [, result] = await Promise.all([begin, work(client)]);
    await finish(client, result);
    return result;
  } catch (thrown) {
    const error = timeoutError ?? thrown;
    if (isPreparedStatementError(error)) discardReason = error as Error;
    // No rollback on a lost or silent connection: it would only wait for the next timeout.
    if (classifyError(error)?.kind === 'unavailable') discardReason = error as Error;
    else await rollback(client).catch((rollbackError: unknown) => (discardReason = rollbackError as Error));
    throw error;
  } finally {
    clearTimeout(timer);
    client.origin = undefined;
    client.release(discardReason);
  }
}

/** The driver's own `end` waits for pending responses. */
const destroySocket = (client: PoolClient) =>
  (client as PoolClient & { connection: { stream: Socket } }).connection.stream.destroy();
