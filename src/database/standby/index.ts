import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { classifyError } from '../../core/database-errors.ts';
import { openPool, type OnSlowStatement, type PoolOptions } from '../pool.ts';
import type { OpenSnapshot } from '../reader.ts';
import { notStandby, toConnectionFault, toLagFault, toQueryFault, type StandbyFault } from './faults.ts';
import { createOpenSnapshot, standbyConnectMs, standbyStatementMs } from './snapshot.ts';

type StandbyState = {
  /** True if it answers and replays a primary. */
  isUp: boolean;
  fault?: StandbyFault;
  /** Absent if it is down, or not a standby. */
  lag?: { bytes: number; seconds: number };
};

export type Standby = {
  openSnapshot: OpenSnapshot;
  /** Lists that were read from it. */
  countLists(): number;
  /** Reads the state; never throws. */
  examine(): Promise<StandbyState>;
  close(): Promise<void>;
};

/** A standby with a larger lag gets a warning. */
const standbyLagSeconds = 10;

/** An error of a list counts as a fault for so long. */
const errorMs = 60_000;

/** Longest wait for the primary's position, without which the lag is unknown. */
const positionMs = 250;

type Row = {
  isStandby: boolean;
  bytes: number | null;
  seconds: number | null;
  isPaused: boolean;
  isReceiving: boolean;
};

/** `pg_is_wal_replay_paused` fails on a primary. */
const selectState = `select pg_is_in_recovery() as "isStandby",
    case when pg_is_in_recovery() then pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn())::float8 end as bytes,
    extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as seconds,
    case when pg_is_in_recovery() then pg_is_wal_replay_paused() end as "isPaused",
    exists (select from pg_stat_wal_receiver) as "isReceiving"`;

/** Opens the standby with the options of the primary; `failover` runs what fails on it. */
export function openStandby(
  options: PoolOptions,
  {
    primary,
    failover,
    onSlowStatement,
  }: { primary: Pool; failover: Pick<Pool, 'query'>; onSlowStatement: OnSlowStatement },
): Standby {
  const statementMs = Math.min(options.statementMs, standbyStatementMs);
  const { pool } = openPool({ ...options, acquireMs: standbyConnectMs, statementMs }, onSlowStatement);
  let lists = 0;
  let lastError: { error: unknown; at: number } | undefined;
  const onError = (error: unknown) => {
    // The primary fails at the others too.
    if (['unavailable', 'retry'].includes(classifyError(error)?.kind ?? ''))
      lastError = { error, at: performance.now() };
  };
  const measureLag = createLagMeasurement();

  async function examine(): Promise<StandbyState> {
    // First, so that a standby that replays at once is not behind.
    const position = await Promise.race([readPosition(primary), sleep(positionMs, null, { ref: false })]);
    const found = await queryWithin<Row>(pool, selectState, [position]).catch(toConnectionFault);
    if ('hint' in found) return { isUp: false, fault: found };
    if (!found.isStandby) return { isUp: false, fault: notStandby };
    const lag = measureLag(found);
    const isBehind = lag !== undefined && lag.seconds >= standbyLagSeconds;
    const hasErrors = lastError !== undefined && performance.now() - lastError.at < errorMs;
    const fault = isBehind ? toLagFault(lag, found) : hasErrors ? toQueryFault(lastError!.error) : undefined;
    return { isUp: true, ...(fault && { fault }), ...(lag && { lag }) };
  }
  return {
    openSnapshot: createOpenSnapshot(pool, failover, { onError, onRead: () => (lists += 1) }),
    countLists: () => lists,
    examine,
    close: () => pool.end(),
  };
}

/**
 * The age of the last transaction that was replayed grows also while nothing is written, so the lag is at most the time
 * since the standby had everything.
 */
function createLagMeasurement() {
  let currentAt = -Infinity;
  return function measureLag({ bytes, seconds }: Row) {
    if (bytes === null) return undefined;
    const now = performance.now();
    if (bytes <= 0 || (seconds === null && currentAt === -Infinity)) currentAt = now;
    const longest = (now - currentAt) / 1_000;
    return { bytes: Math.max(0, bytes), seconds: Math.max(0, Math.min(seconds ?? Infinity, longest)) };
  };
}

/** Null if the primary does not respond; requests and `/ready` report why. */
const readPosition = (primary: Pool) =>
  queryWithin<{ position: string }>(primary, 'select pg_current_wal_lsn()::text as position', []).then(
    ({ position }) => position,
    () => null,
  );

async function queryWithin<R extends object>(pool: Pool, text: string, values: unknown[]) {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    const { rows } = await client.query<R>({ text, values, query_timeout: standbyConnectMs } as QueryConfig);
    client.release();
    return rows[0]!;
  } catch (error) {
    client?.release(true);
    throw error;
  }
}
