import { getErrorCode } from '../core/database-errors.ts';

/** Numbers since the start of the process that only grow; the metrics read them. */
export const createCounters = () => ({
  /** Transactions that were tried again, by the reason. */
  retries: { serialization_failure: 0, deadlock: 0, lock_timeout: 0, prepared_statement: 0 },
  /** Domain events of committed transactions. */
  committed: { bookings: 0, promotions: 0 },
  slowStatements: 0,
  /** Lists that were queried. */
  lists: 0,
  /** When a write last failed since the database's disk was full, as of `performance.now()`. */
  diskFullAt: -Infinity,
});

export type Counters = ReturnType<typeof createCounters>;
export type CommittedEvent = keyof Counters['committed'];

const diskFullMs = 60_000;

/** True if a write of the last minute failed since the database's disk was full. */
export const isDiskFull = ({ diskFullAt }: Counters) => performance.now() - diskFullAt < diskFullMs;

/** Notes a failed write whose reason is a full disk, and throws its error. */
export const countFailedWrite = (counters: Counters) => (error: unknown) => {
  if (getErrorCode(error) === '53100') counters.diskFullAt = performance.now();
  throw error;
};

const retryReasons: Record<string, keyof Counters['retries']> = {
  '40001': 'serialization_failure',
  '40P01': 'deadlock',
  '55P03': 'lock_timeout',
};
/** Maps the SQLSTATE of an error that a retry may fix to the reason. */
export const retryReason = (sqlState: string) => retryReasons[sqlState] ?? 'prepared_statement';
