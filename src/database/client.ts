import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { types, type Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg';
import { createAuditLog, type Audit, type AuditContext } from './audit-log.ts';
import { queryBuilder } from './query-builder/index.ts';
import { createUnitOfWork, transaction, nestedUnitOfWork, type Locking, type UnitOfWork } from './unit-of-work.ts';

export type { AuditContext as Doing } from './audit-log.ts';
export type { Tx, Write, WriteNewProvider } from './unit-of-work.ts';

// int8: an id between 2^31 and 2^53 is legal, and a string would be wrong everywhere.
types.setTypeParser(types.builtins.INT8, Number);

/** What may be done without a lock. */
export type Reader = Pick<NodePgDatabase, 'select' | 'selectDistinct' | '$count' | '$with' | 'with'>;

export type DatabaseOptions = {
  connection: PoolConfig;
  /** Every session's time zone, so that PostgreSQL does all arithmetic with it. */
  timezone: string;
  poolSize: number;
  /** After how long an idle connection is closed; 0 is never. Ten seconds unless given. */
  idleMs?: number;
  /** Whether statements are planned once a connection; some transaction poolers cannot keep them. */
  prepare?: boolean;
  /** How long a request waits for a free connection. */
  acquireMs: number;
  statementMs: number;
  /** How long a writer waits altogether. */
  writeMs: number;
  onError?: (error: Error) => void;
  /** Called once when a pooler turned out to keep no prepared statements, and unnamed ones are sent from now on. */
  onUnprepared?: () => void;
  locking?: Locking;
};

export type Database = UnitOfWork & {
  pool: Pick<Pool, 'query'>;
  db: Reader;
  /** The same database, whose changes go to the audit log. */
  withAudit(auditContext: AuditContext): Database;
  /** A database whose writes wait in the queue under this fairness key. */
  queuedAs(fairnessKey: number): Database;
  /** Runs work whose every write goes into one transaction; two processes doing so take turns. */
  atomically<T>(work: (database: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Any number unique to this service. */
const atomicKey = 7_291_543_019;

const minute = 60_000;

/** A statement with its own time to wait for the answer; the driver knows the option, its types do not. */
const within = (milliseconds: number, text: string, values?: unknown[]) =>
  ({ text, values, query_timeout: milliseconds }) as QueryConfig;

export function openDatabase(options: DatabaseOptions): Database {
  const { connection, timezone, poolSize, idleMs = 10_000, acquireMs, statementMs, writeMs } = options;
  const { prepare = true, onError = () => undefined, locking = { lock: true, queue: true }, onUnprepared } = options;
  // By statements, not as start-up options: a transaction pooler refuses those.
  const settings = [
    `set timezone = '${timezone.replaceAll("'", "''")}'`,
    "set datestyle = 'ISO'",
    `set statement_timeout = ${statementMs}`,
    'set idle_in_transaction_session_timeout = 10000',
    // What is asked for is in memory or on a disk without a head; at 4 whole tables are read instead of a page's rows.
    'set random_page_cost = 1.1',
  ].join('; ');
  const config: PoolConfig & { pipeline: boolean } = {
    application_name: 'course-booking-service',
    ...connection,
    max: poolSize,
    // What need not wait for the answer before it is sent right behind.
    pipeline: true,
    idleTimeoutMillis: idleMs,
    connectionTimeoutMillis: acquireMs,
    // For a database that has gone silent: statement_timeout needs one that still hears us.
    query_timeout: statementMs + 1_000,
    keepAlive: true,
    // Typed as returning nothing, but the pool waits for it.
    onConnect: ((client: PoolClient) => client.query(within(acquireMs, settings))) as unknown as () => void,
  };
  const { pool, batched } = queryBuilder.openPool(config, { prepare, onUnprepared });
  // Without both, a connection cut while idle or between two statements would end the process.
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));

  const slots = Math.max(1, Math.floor(poolSize / 2));
  const writers = createUnitOfWork(pool, { waitMs: writeMs, workMs: statementMs, slots, locking });
  const db = queryBuilder.on(batched);
  // Databases for other fairness keys share the audit: a command writes one entry for each provider.
  const databaseWith = (audit?: Audit, fairnessKey?: number): Database => ({
    ...writers(audit, fairnessKey),
    pool: batched,
    db,
    withAudit: (auditContext) => databaseWith(createAuditLog(auditContext), fairnessKey),
    queuedAs: (key) => databaseWith(audit, key),
    atomically: (work) =>
      transaction(pool, { until: performance.now() + minute }, async (client) => {
        await client.query('set local statement_timeout = 60000');
        await client.query(within(minute + 1_000, 'select pg_advisory_xact_lock($1)', [atomicKey]));
        const inside = queryBuilder.on(client);
        const databaseWithin = (one?: Audit): Database => ({
          ...databaseWith(one),
          ...nestedUnitOfWork(client, one),
          withAudit: (auditContext) => databaseWithin(createAuditLog(auditContext)),
          queuedAs: () => databaseWithin(one),
          pool: client,
          db: inside,
        });
        return work(databaseWithin(audit));
      }),
    close: () => pool.end(),
  });
  return databaseWith();
}
