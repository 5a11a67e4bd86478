import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Socket } from 'node:net';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { Audit, Note } from './audit.ts';
import { failureOf } from './errors.ts';
import { lockProviders, lockShared, noLock, type Lock, type LockKey } from './locks.ts';
import { NoTurn, workQueue } from './queue.ts';
import { builderOn } from './reading.ts';
import { inOrder, runAll, type Bound } from './statements.ts';

/** A transaction that holds its lock. */
export type Tx = NodePgDatabase & { $client: PoolClient; note: Note };
/** `at` is the lock's clock: the created_at, updated_at and deleted_at of every row that the work writes. */
type Work<T> = (tx: Tx, at: string) => Promise<T>;

/** Runs work in a transaction that has taken the provider's lock as its first statement. */
export type Write = <T>(work: Work<T>) => Promise<T>;
/**
 * The same for statements of which none needs another's answer; each stamps what it writes with `lockedAt`. The lock, they, the entry and the
 * commit go in one piece: where the database refuses one nothing is committed, else everything is, even if whoever sent them
 * was cut off meanwhile. `newIn` is the table whose new row the entry tells, the last one inserted. Answers the rows of each.
 */
export type WriteAtOnce = (statements: Bound[], newIn: PgTable) => Promise<QueryResultRow[][]>;
/** The same for work that makes a provider, whose id it answers. */
export type WriteNewProvider = (work: NewWork) => Promise<number>;
type NewWork = (tx: Tx, at: string) => Promise<number>;

/** The ways to write; there is no other. */
export type Writers = {
  /** Rows of the given providers. */
  write<T>(providerIds: number[], work: Work<T>): Promise<T>;
  /** Rows of one provider. */
  writeAtOnce(providerId: number, ...piece: Parameters<WriteAtOnce>): ReturnType<WriteAtOnce>;
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
  const builder = builders.get(client) ?? builderOn(client);
  builders.set(client, builder);
  const bound = Object.create(builder) as NodePgDatabase;
  return Object.assign(bound, { $client: client, note: { changed: true, itemIds: [] } });
}
const parentLock = (parentId: number | null, key?: LockKey) =>
  parentId === null ? noLock : lockProviders([parentId], key);

/** In whose turn and under which lock something is done. */
type Turn = { keys: number[]; lock: Lock };
/** What was done, and in whose audit log it is told. */
type Done<T> = { result: T; providerIds: (number | null)[] };
type Task<T> = Turn & { work: (tx: Tx, at: string) => Promise<Done<T>> };
type Piece = Turn & { providerIds: number[]; statements: Bound[]; newIn: PgTable };
type Performing = { perform<T>(task: Task<T>): Promise<T>; send(piece: Piece): Promise<QueryResultRow[][]> };

const concerning =
  <T>(providerIds: (number | null)[], work: Work<T>) =>
  async (tx: Tx, at: string): Promise<Done<T>> => ({ result: await work(tx, at), providerIds });

const writersBy = ({ perform, send }: Performing, key?: LockKey): Writers => ({
  write(providerIds, work) {
    const ids = [...new Set(providerIds)];
    return perform({ keys: ids, lock: lockProviders(ids, key), work: concerning(ids, work) });
  },
  writeAtOnce(providerId, statements, newIn) {
    const ids = [providerId];
    return send({ keys: ids, lock: lockProviders(ids, key), providerIds: ids, statements, newIn });
  },
  writeShared(work) {
    if (key) throw new Error('a key opens one provider');
    return perform({ keys: [0], lock: lockShared, work: concerning([null], work) });
  },
  writeNewProvider(parentId, work) {
    const parents = parentId === null ? [] : [parentId];
    const making = async (tx: Tx, at: string) => {
      const made = await work(tx, at);
      return { result: made, providerIds: [...parents, made] };
    };
    return perform({ keys: parents, lock: parentLock(parentId, key), work: making });
  },
});

async function doneWith<T>(client: PoolClient, { lock, work }: Task<T>) {
  const tx = bindTo(client);
  const { result, providerIds } = await work(tx, await lock(client));
  return { result, change: { providerIds, ...tx.note } };
}

/** Everything is sent before the first wait, `end` last. */
async function sentOver(client: PoolClient, { lock, statements, ...told }: Piece, audit?: Audit, end?: typeof commit) {
  const change = { ...told, changed: true, itemIds: [] };
  const sent = [
    lock(client),
    runAll({ $client: client }, statements),
    audit?.record(client, change),
    end?.(client),
  ] as const;
  const [, rows] = await inOrder(sent);
  return { result: rows, change };
}

/**
 * `waitMs` bounds a writer's whole wait: in the queue, for the lock, and over retries. `workMs` later its transaction is
 * ended, however many statements it takes: with a slow way to the database they add up, and others wait for the lock.
 * Answers the ways to write whose changes are told to an audit log, or to none; with a key its provider is only locked while it opens that.
 */
export function openWriters(
  pool: Pool,
  { waitMs, workMs, slots, locking }: { waitMs: number; workMs: number; slots: number; locking: Locking },
) {
  const queued = workQueue({ slots, waiting: 1_000, waitMs });

  const unlocked = <T extends Turn>(turn: T): T => (locking.lock ? turn : { ...turn, lock: noLock });

  /** Serialization failures, deadlocks and lock time-outs are tried again while the time lasts. */
  async function persistently<T>(keys: number[], once: (times: Times) => Promise<T>): Promise<T> {
    const until = performance.now() + waitMs;
    const attempt = async (): Promise<T> => {
      for (;;) {
        try {
          return await once({ until, end: until + workMs });
        } catch (error) {
          if (failureOf(error)?.kind !== 'retry' || performance.now() + 20 > until) throw error;
          await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 15));
        }
      }
    };
    return locking.queue ? queued(keys, attempt) : attempt();
  }

  async function perform<T>(task: Task<T>, times: Times, audit?: Audit): Promise<T> {
    const { result, change } = await transaction(
      pool,
      times,
      (client) => doneWith(client, unlocked(task)),
      // The commit goes right behind the entry, and where one fails, nothing is committed.
      (client, { change }) =>
        change.changed ? inOrder([audit?.record(client, change), commit(client)]) : client.query('rollback'),
    );
    audit?.kept(change);
    return result;
  }

  async function send(piece: Piece, times: Times, audit?: Audit) {
    const sending = (client: PoolClient) => sentOver(client, unlocked(piece), audit, commit);
    const { result, change } = await transaction(pool, times, sending, async () => undefined);
    audit?.kept(change);
    return result;
  }

  return (audit?: Audit, key?: LockKey) =>
    writersBy(
      {
        perform: (task) => persistently(task.keys, (times) => perform(task, times, audit)),
        send: (piece) => persistently(piece.keys, (times) => send(piece, times, audit)),
      },
      key,
    );
}

/**
 * The same ways to write inside one transaction on one connection, so that all of it is there or nothing. Work that turns
 * out to change nothing leaves no entry, but is not undone alone: its provider's clock has moved.
 */
export const writersWithin = (client: PoolClient, audit?: Audit): Writers =>
  writersBy({
    async perform(task) {
      const { result, change } = await doneWith(client, task);
      await audit?.record(client, change);
      audit?.kept(change);
      return result;
    },
    async send(piece) {
      const { result, change } = await sentOver(client, piece, audit);
      audit?.kept(change);
      return result;
    },
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
  let late: NoTurn | undefined;
  const giveUp = () => {
    late = new NoTurn('the transaction took too long');
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
    // A connection that is gone, or does not answer, would only be waited for once more.
    if (failureOf(error)?.kind === 'unavailable') broken = error as Error;
    else await client.query('rollback').catch((failed: unknown) => (broken = failed as Error));
    throw error;
  } finally {
    clearTimeout(timer);
    client.release(broken);
  }
}
