import { DrizzleQueryError } from 'drizzle-orm/errors';
import { DatabaseError } from 'pg';

/** Thrown if a queue is full, the wait exceeds its limit, or the entry is canceled. */
export class QueueTimeoutError extends Error {}

/** Kind of a database error, by SQLSTATE class. */
type Failure =
  | { kind: 'input' }
  | { kind: 'rule'; constraint: string }
  | { kind: 'retry' }
  | { kind: 'unavailable' }
  | { kind: 'fault' };

// From 3D000 on: no such database, not migrated yet, no access, or a missing grant.
const unavailableCodes = /^(57014|25006|25P03|25P04|3D000|42P01|42883|28P01|28000|42501)$/;
/** Duplicate or unknown prepared statement: a pooler switched sessions between connections. */
const preparingCodes = new Set(['42P05', '26000']);
const retryCodes = new Set(['40001', '40P01', '55P03']);
const socketCodes =
  /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENETDOWN|ECONNABORTED)$/;

/** The server or a pooler rejected a prepared statement's name; nothing was executed. */
export function isPreparedStatementError(error: unknown) {
  const cause = getRootCause(error);
  if (!(cause instanceof DatabaseError)) return false;
  // PgBouncer 1.21 or newer, when a name is prepared again; it then closes the connection.
  const isNameInUse = cause.code === '08P01' && cause.message.includes('prepared statement name is already in use');
  return isNameInUse || preparingCodes.has(cause.code ?? '');
}

const certificateCodes =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|CRL_|ERR_SSL_|ERR_OSSL_)/;

/** Node rejects the database's certificate, or cannot use the client's. */
export const isCertificateError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && certificateCodes.test(getErrorCode(error));

const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|Client was closed|Query read timeout|Cannot use a pool after|The server does not support SSL|There was an error establishing an SSL)/;

/** Classifies an error; undefined if it does not come from the database. */
export function classifyError(error: unknown): Failure | undefined {
  const cause = getRootCause(error);
  if (cause instanceof QueueTimeoutError) return { kind: 'unavailable' };
  if (isPreparedStatementError(cause)) return { kind: 'retry' };
  if (cause instanceof DatabaseError) return fromSqlState(cause.code ?? '', cause.constraint ?? '');
  if (!(cause instanceof Error)) return undefined;
  // ENOENT of `open` is a missing certificate file, not a missing socket.
  const isOfFile = 'syscall' in cause && cause.syscall === 'open';
  if (socketCodes.test(getErrorCode(cause)) && !isOfFile) return { kind: 'unavailable' };
  if (isCertificateError(cause)) return { kind: 'unavailable' };
  // The driver's own errors have no code: lost connections and timeouts.
  if (driverMessages.test(cause.message)) return { kind: 'unavailable' };
  return cause === error ? undefined : { kind: 'fault' };
}

/** Violations of constraints, and the exception of a trigger, which names none. */
const ruleCodes = new Set(['23502', '23503', '23505', '23514', '23P01', 'P0001']);

function fromSqlState(code: string, constraint: string): Failure {
  if (ruleCodes.has(code)) return { kind: 'rule', constraint };
  if (retryCodes.has(code)) return { kind: 'retry' };
  if (unavailableCodes.test(code)) return { kind: 'unavailable' };
  const byClass: Record<string, Failure> = {
    '22': { kind: 'input' },
    '54': { kind: 'input' },
    '08': { kind: 'unavailable' },
    '53': { kind: 'unavailable' },
    '57': { kind: 'unavailable' },
  };
  return byClass[code.slice(0, 2)] ?? { kind: 'fault' };
}

/** The loggable part of an error, without row values, and without the stack where the database is unavailable. */
export function toLoggableError(error: unknown) {
  const cause = getRootCause(error);
  if (cause instanceof Error && classifyError(cause)?.kind === 'unavailable')
    return { message: cause.message.split('"')[0], code: getErrorCode(cause) || undefined };
  if (!(cause instanceof DatabaseError)) return cause;
  const { code, constraint, table, column, routine } = cause;
  const stack = cause.stack?.split('\n').slice(1).join('\n');
  return { message: cause.message.split('"')[0], ...{ code, constraint, table, column, routine, stack } };
}

/** SQLSTATE or Node's error code, or an empty string. */
export const getErrorCode = (error: unknown) => (getRootCause(error) as { code?: string } | undefined)?.code ?? '';

/** Unwraps Drizzle's error, which holds the SQL and its parameters. */
export function getRootCause(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}
