import type { Pool, PoolClient, PoolConfig } from 'pg';
import { createAuditLog, type AuditContext, type AuditLog } from './audit-log.ts';
import { createCounters, countFailedWrite, type Counters } from './counters.ts';
import type { QueueUsage } from './keyed-queue.ts';
import { openPool, withTimeout, type PoolOptions } from './pool.ts';
import type { Origin, SlowStatement } from './preparing-client.ts';
import { queryBuilderOn, storeWithOrigin, type OpenSnapshot, type Reader, type UnlockedStore } from './reader.ts';
import { openStandby, type Standby } from './standby/index.ts';
import { runTransaction, createUnitOfWork, nestedUnitOfWork, type UnitOfWork } from './unit-of-work.ts';

export type { AuditContext } from './audit-log.ts';
export type { Origin } from './preparing-client.ts';
export type { Reader } from './reader.ts';
export type { Tx, Write, WriteNewProvider } from './unit-of-work.ts';

export type DatabaseOptions = PoolOptions & {
  /** A standby that lists are read from. */
  readConnection?: PoolConfig | undefined;
  /** Longest wait of a write, in milliseconds: in the queue, for the lock and over all retries. */
  writeMs: number;
};

/** Connections of the pool, and the queue of writes. */
type DatabaseUsage = {
  connections: { max: number; open: number; idle: number; waiting: number };
  writes: QueueUsage;
};

export type Database = UnitOfWork & {
  pool: Pick<Pool, 'query'>;
  db: Reader;
  /** Absent without a standby. */
  standby?: Standby;
  openSnapshot?: OpenSnapshot;
  counters: Counters;
  usage(): DatabaseUsage;
  /** Tokens, sessions, failed sign-ins and states of deliveries: written without the tenant lock. */
  unlocked: UnlockedStore;
  /** `unlocked`, whose slow statements are reported with their origin. */
  unlockedFor(origin: Origin): UnlockedStore;
  /** Calls `report` for each later statement of more than half a second. */
  onSlowStatement(report: (statement: SlowStatement) => void): void;
  /** Returns this database with an audit log for its writes. */
  withAudit(auditContext: AuditContext): Database;
  /** Returns this database with another tenant queue key for its writes in the queue. */
  queuedAs(tenantQueueKey: number): Database;
  /** Runs all writes of `work` in one transaction of at most a minute; only one process does so at a time. */
  atomically<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /** Runs `work` in a transaction, which holds the lock of this name; undefined while any process runs such work. */
  exclusively<T>(name: string, work: (client: PoolClient) => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
};

/** `application_name` of the connections of a backup. */
export const backupApplication = 'course-booking-service backup';

/** Advisory lock of `atomically`; any number unique to this service. */
const atomicLockKey = 7_291_543_019;

const minuteMs = 60_000;

export function openDatabase(options: DatabaseOptions): Database {
  const { poolSize, statementMs, writeMs } = options;
  const counters = createCounters();
  let reportSlow: (statement: SlowStatement) => void = () => undefined;
  const onSlowStatement = (statement: SlowStatement) => {
    counters.slowStatements += 1;
    reportSlow(statement);
  };
  const { pool, batched } = openPool(options, onSlowStatement);
  const { readConnection } = options;
  const primary = { primary: pool, failover: batched, onSlowStatement };
  const standby = readConnection && openStandby({ ...options, connection: readConnection }, primary);
  const slots = Math.max(1, Math.floor(poolSize / 2));
  const limits = { waitMs: writeMs, workMs: statementMs, slots };
  const { unitOfWork, queueUsage } = createUnitOfWork(pool, { ...limits, counters });
  const usage = () => ({
    connections: { max: poolSize, open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount },
    writes: queueUsage(),
  });
  const db = queryBuilderOn(batched);
  // Tenant queue keys share the audit log: a command writes one entry per provider.
  const databaseWith = (auditLog?: AuditLog, tenantQueueKey?: number): Database => ({
    ...unitOfWork(auditLog, tenantQueueKey),
    pool: batched,
    ...{ db, counters, usage },
    unlocked: db,
    unlockedFor: (origin) => storeWithOrigin(db, origin),
    onSlowStatement: (report) => void (reportSlow = report),
    ...(standby && { standby, openSnapshot: standby.openSnapshot }),
    withAudit: (auditContext) => databaseWith(createAuditLog(auditContext), tenantQueueKey),
    queuedAs: (key) => databaseWith(auditLog, key),
    atomically: (work) =>
      runTransaction(pool, { lockUntil: performance.now() + minuteMs }, async (client) => {
        await client.query('set local statement_timeout = 60000');
        await client.query(withTimeout(minuteMs + 1_000, 'select pg_advisory_xact_lock($1)', [atomicLockKey]));
        const txDb = queryBuilderOn(client);
        const nestedDatabase = (nestedLog?: AuditLog): Database => ({
          ...databaseWith(nestedLog),
          ...nestedUnitOfWork(client, nestedLog),
          withAudit: (auditContext) => nestedDatabase(createAuditLog(auditContext)),
          queuedAs: () => nestedDatabase(nestedLog),
          pool: client,
          ...{ db: txDb, unlocked: txDb },
        });
        return work(nestedDatabase(auditLog));
      }).catch(countFailedWrite(counters)),
    exclusively: (name, work) =>
      runTransaction(pool, { lockUntil: performance.now() + writeMs }, async (client) =>
        (await tryLock(client, name)) ? work(client) : undefined,
      ).catch(countFailedWrite(counters)),
    async close() {
      await Promise.all([pool.end(), standby?.close()]);
    },
  });
  return databaseWith();
}

/** Takes an advisory lock until the transaction ends; false if another transaction has it. */
export async function tryLock(client: Pick<PoolClient, 'query'>, name: string) {
  const { rows } = await client.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [name],
  );
  return rows[0]!.locked;
}
