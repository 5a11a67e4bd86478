import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import type { Audit, Note } from './audit.ts';
import { failureOf } from './errors.ts';
import { lockProviders, lockShared, noLock, type Lock } from './locks.ts';
import { NoTurn, workQueue } from './queue.ts';
import { builderOn } from './reading.ts';
import { inOrder } from './statements.ts';

/** A transaction that holds its lock. */
export type Tx = NodePgDatabase & { $client: PoolClient; note: Note };
/** `at` is the lock's clock: the created_at, updated_at and deleted_at of every row that the work writes. */
type Work<T> = (tx: Tx, at: string) => Promise<T | Last<T>>;
/** What is to be found out before the work, and needs no clock: it is asked right behind the lock, without waiting for it. */
type Ask = (tx: Tx) => Promise<unknown>;

/** Runs work in a transaction that has taken the provider's lock as its first statement. */
export type Write = <T>(work: Work<T>, ask?: Ask) => Promise<T>;
/** The same for work that makes a provider, whose id it answers. */
export type WriteNewProvider = (work: NewWork) => Promise<number>;
type NewWork = (tx: Tx, at: string) => Promise<number>;

/**
 * What a work answers whose last statements are sent and will be answered by this: the entry and the commit go right behind
 * them, in one piece. It may not refuse for what they answer, nor send more after: where the database refuses one nothing is
 * committed, else everything is, even if whoever sent them was cut off meanwhile.
 */
export class Last<T> {
  readonly answered: Promise<T>;

  constructor(answered: Promise<T>) {
    // Sent now, and once, by the query builder too.
    this.answered = answered.then((answer) => answer);
    // Whoever waits for it is told; a failure that comes before anybody does would end the process.
    this.answered.catch(() => undefined);
  }
}

/** The ways to write; there is no other. */
export type Writers = {
  /** Rows of the given providers. */
  write<T>(providerIds: number[], work: Work<T>, ask?: Ask): Promise<T>;
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
const parentLock = (parentId: number | null) => (parentId === null ? noLock : lockProviders([parentId]));

/** What was done, or is being done, and in whose audit log it is told. */
type Done<T> = { result: T | Last<T>; providerIds: (number | null)[] };
/** One piece of work: in whose turn and under which lock it is done. */
type Task<T> = { keys: number[]; lock: Lock; ask?: Ask | undefined; work: (tx: Tx, at: string) => Promise<Done<T>> };
type Perform = <T>(task: Task<T>) => Promise<T>;

const concerning =
  <T>(providerIds: (number | null)[], work: Work<T>) =>
  async (tx: Tx, at: string): Promise<Done<T>> => ({ result: await work(tx, at), providerIds });

const writersBy = (perform: Perform): Writers => ({
  write(providerIds, work, ask) {
    const ids = [...new Set(providerIds)];
    return perform({ keys: ids, lock: lockProviders(ids), ask, work: concerning(ids, work) });
  },
  writeShared: (work) => perform({ keys: [0], lock: lockShared, work: concerning([null], work) }),
  writeNewProvider(parentId, work) {
    const parents = parentId === null ? [] : [parentId];
    const making = async (tx: Tx, at: string) => {
      const made = await work(tx, at);
      return { result: made, providerIds: [...parents, made] };
    };
    return perform({ keys: parents, lock: parentLock(parentId), work: making });
  },
});

async function doneWith<T>(client: PoolClient, { lock, ask, work }: Task<T>) {
  const tx = bindTo(client);
  const [at] = await inOrder([lock(client), ask?.(tx)]);
  const { result, providerIds } = await work(tx, at);
  return { result, change: { at, providerIds, ...tx.note } };
}

const answerOf = <T>(result: T | Last<T>) => (result instanceof Last ? result.answered : result);

/**
 * `waitMs` bounds a writer's whole wait: in the queue, for the lock, and over retries. `workMs` later its transaction is
 * ended, however many statements it takes: with a slow way to the database they add up, and others wait for the lock.
 * Answers the ways to write whose changes are told to an audit log, or to none.
 */
export function openWriters(
  pool: Pool,
  { waitMs, workMs, slots, locking }: { waitMs: number; workMs: number; slots: number; locking: Locking },
) {
  const queued = workQueue({ slots, waiting: 1_000, waitMs });

  /** Serialization failures, deadlocks and lock time-outs are tried again while the time lasts. */
  async function persistently<T>(task: Task<T>, audit?: Audit): Promise<T> {
    const until = performance.now() + waitMs;
    const attempt = async (): Promise<T> => {
      for (;;) {
        try {
          return await once(task, { until, end: until + workMs }, audit);
        } catch (error) {
          if (failureOf(error)?.kind !== 'retry' || performance.now() + 20 > until) throw error;
          await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 15));
        }
      }
    };
    return locking.queue ? queued(task.keys, attempt) : attempt();
  }

  async function once<T>(task: Task<T>, times: Times, audit?: Audit): Promise<T> {
    const locked = locking.lock ? task : { ...task, lock: noLock };
    const { result, change } = await transaction(
      pool,
      times,
      (client) => doneWith(client, locked),
      // The commit goes right behind the entry, and both behind the work's last statements: where one fails, nothing is committed.
      (client, { result, change }) =>
        change.changed
          ? inOrder([answerOf(result), audit?.record(client, change), commit(client)])
          : client.query('rollback'),
    );
    audit?.kept(change);
    return answerOf(result);
  }

  return (audit?: Audit) => writersBy((task) => persistently(task, audit));
}

/**
 * The same ways to write inside one transaction on one connection, so that all of it is there or nothing. Work that turns
 * out to change nothing leaves no entry, but is not undone alone: its provider's clock has moved.
 */
export const writersWithin = (client: PoolClient, audit?: Audit): Writers =>
  writersBy(async (task) => {
    const { result, change } = await doneWith(client, task);
    const [answer] = await inOrder([answerOf(result), audit?.record(client, change)]);
    audit?.kept(change);
    return answer;
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
    // The lock is sent right behind it; where a transaction cannot begin, nothing else can either.
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
