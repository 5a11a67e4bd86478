import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { classifyError, isPreparedStatementError, QueueTimeoutError } from '../core/database-errors.ts';
import type { Origin } from './preparing-client.ts';

/**
 * Times as of `performance.now()`: `lockUntil` bounds each wait for a lock, and at `abortAt` the connection is closed,
 * since many short statements on a slow network would otherwise hold the lock longer than `statement_timeout`.
 */
type Deadlines = { lockUntil: number; abortAt?: number };
type TransactionOptions = Deadlines & { origin?: Origin | undefined };

export const commit = (client: PoolClient): Promise<unknown> => client.query('commit');
export const rollback = (client: PoolClient): Promise<unknown> => client.query('rollback');

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
