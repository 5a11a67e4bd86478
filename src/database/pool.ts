import { Pool, types, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { preparingClient, type SlowStatement } from './preparing-client.ts';
import { batchQueries } from './query-batcher.ts';

// int8: ids stay below 2^53, and a string would fit no comparison.
types.setTypeParser(types.builtins.INT8, Number);

/** All times are in milliseconds. */
export type PoolOptions = {
  connection: PoolConfig;
  /** Time zone of every session, so that PostgreSQL does all date arithmetic in it. */
  timezone: string;
  poolSize: number;
  /** Idle time after which a connection is closed; 0 means never. Default 10 s. */
  idleMs?: number;
  /** Longest wait for a free connection. */
  acquireMs: number;
  statementMs: number;
  onError?: (error: Error) => void;
  /** Called once if a pooler turns out not to support prepared statements; from then on they are unnamed. */
  onUnprepared?: () => void;
};

export type OnSlowStatement = (statement: SlowStatement) => void;

/** A statement with its own time limit; the driver supports `query_timeout`, its types do not. */
export const withTimeout = (timeoutMs: number, text: string, values?: unknown[]) =>
  ({ text, values, query_timeout: timeoutMs }) as QueryConfig;

/** Opens a pool; `batched` sends the queries of one turn of the event loop over one connection. */
export function openPool(options: PoolOptions, onSlowStatement: OnSlowStatement) {
  const { connection, timezone, poolSize, idleMs = 10_000, acquireMs, statementMs } = options;
  const { onError = () => undefined, onUnprepared } = options;
  // As statements: transaction poolers reject start-up options.
  const settings = [
    `set timezone = '${timezone.replaceAll("'", "''")}'`,
    "set datestyle = 'ISO'",
    `set statement_timeout = ${statementMs}`,
    'set idle_in_transaction_session_timeout = 10000',
    // For memory and SSDs; with the default of 4 the planner scans whole tables for one page.
    'set random_page_cost = 1.1',
  ].join('; ');
  const config: PoolConfig & { pipeline: boolean } = {
    application_name: 'course-booking-service',
    ...connection,
    max: poolSize,
    pipeline: true,
    idleTimeoutMillis: idleMs,
    connectionTimeoutMillis: acquireMs,
    // For a silent database: statement_timeout works only while the server can receive.
    query_timeout: statementMs + 1_000,
    keepAlive: true,
    // Typed as returning nothing, but the pool waits for it.
    onConnect: ((client: PoolClient) => client.query(withTimeout(acquireMs, settings))) as unknown as () => void,
  };
  const pool = new Pool({ ...config, Client: preparingClient({ onUnprepared, onSlowStatement }) });
  // Without both listeners, a connection lost while idle would end the process.
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  return { pool, batched: batchQueries(pool) };
}
