import { DatabaseError } from 'pg';
import { ConfigError, type Config } from '../core/config.ts';
import {
  classifyError,
  getErrorCode,
  getRootCause,
  isCertificateError,
  QueueTimeoutError,
} from '../core/database-errors.ts';
import { itemAt, Problem } from '../core/errors.ts';

const byMessage: [RegExp, string][] = [
  [/^the queue is full/, 'queue_full'],
  [/^the transaction took too long/, 'transaction_timeout'],
  // PgBouncer, whose code is that of any protocol error.
  [/^no more connections allowed/, 'too_many_connections'],
  [/^timeout exceeded when trying to connect/, 'no_free_connection'],
  [/^Query read timeout/, 'statement_timeout'],
];
const byCode: Record<string, string> = {
  '53100': 'disk_full',
  '53300': 'too_many_connections',
  '57014': 'statement_timeout',
  '3D000': 'not_migrated_or_granted',
  '42P01': 'not_migrated_or_granted',
  '42883': 'not_migrated_or_granted',
  '42501': 'not_migrated_or_granted',
};

/** Reason of a 503, in a few words; `not_ready` without a problem, as /ready responds. */
export function unavailableReason(problem: { cause?: unknown } | null) {
  if (problem === null) return 'not_ready';
  const { cause } = problem;
  if (cause === undefined) return 'other';
  const known = byCode[getErrorCode(cause)] ?? reasonByMessage(getRootCause(cause));
  if (known !== undefined) return known;
  if (isCertificateError(getRootCause(cause))) return 'certificate';
  const kind = classifyError(cause)?.kind;
  return kind === 'retry' ? 'contention' : kind === 'unavailable' ? 'connection' : 'other';
}

function reasonByMessage(error: unknown) {
  const message = error instanceof Error ? error.message : '';
  return (
    byMessage.find(([pattern]) => pattern.test(message))?.[1] ??
    (error instanceof QueueTimeoutError ? 'queue_timeout' : undefined)
  );
}

/** Advice for the operator by reason; none where the message contains it. */
export const unavailableHints: Partial<Record<string, string>> = {
  disk_full: 'the disk of the database is full: free space or enlarge it; reads continue',
  too_many_connections:
    'the database accepts no more connections: raise max_connections, or lower POOL_SIZE or the number of servers',
};

/** The server cannot listen on HOST and PORT. Distinguishes this from socket errors of the database. */
export class ListenError extends Error {
  constructor({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>, cause: unknown, prefix: '' | 'ADMIN_' = '') {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? `port ${PORT} is in use; set ${prefix}PORT to another one`
        : code === 'EACCES'
          ? `port ${PORT} needs more rights than this user has; set ${prefix}PORT to one from 1024`
          : `cannot listen on ${prefix}HOST ${HOST} (${code || message}); set ${prefix}HOST to an address of this machine`;
    super(reason, { cause });
  }
}

const certificateAdvice: [RegExp, string][] = [
  [/ALTNAME|HOSTNAME/, 'it must name the host of DATABASE_URL, or DATABASE_URL another host'],
  [/EXPIRED|NOT_YET_VALID/, "renew the database's certificate"],
  [/^ERR_/, 'sslcert and sslkey in DATABASE_URL must name PEM files that belong together'],
  [/./, "sslrootcert in DATABASE_URL must name a PEM file with the certificate of the database's CA"],
];

function describeCertificateError({ code = '', message }: NodeJS.ErrnoException) {
  const [, advice] = itemAt(certificateAdvice.filter(([pattern]) => pattern.test(code.replace(/^ERR_TLS_/, ''))));
  return `the database's TLS certificate is not accepted (${code}: ${itemAt(message.split('\n'))}): ${advice}`;
}

/** One line for an operator, or one per mistake of the configuration; without drivers' messages that may have rows. */
export function describeError(error: unknown, isForTerminal = false): string {
  if (error instanceof ConfigError && isForTerminal) return error.lines.join('\n');
  if (error instanceof Problem) return error.message;
  const cause = getRootCause(error);
  const { code = '', message = String(cause), syscall, path } = cause as Partial<NodeJS.ErrnoException>;
  if (error instanceof ListenError) return message;
  if (isCertificateError(cause)) return describeCertificateError(cause);
  if (/does not support SSL connections/.test(message))
    return 'the database does not offer TLS, which sslmode in DATABASE_URL or PGSSLMODE requires';
  if (code === '28000' && message.endsWith('no encryption'))
    return `the database reports: ${message}; it may require TLS: set sslmode in DATABASE_URL`;
  if (/^SASL: .*password must be/.test(message)) return 'the database requires a password; DATABASE_URL has none';
  if (syscall === 'open' && path !== undefined) return `the file ${path} cannot be read (${code})`;
  if (code === 'ENOSPC') return 'there is no space left on the disk';
  // SQLSTATE classes of authentication, unknown database and missing privileges.
  if (cause instanceof DatabaseError && /^(28|3D|42501)/.test(code)) return `the database reports: ${message}`;
  if (code === '55P03') return 'another transaction holds a lock that this needs; try again later';
  const hint = unavailableHints[unavailableReason({ cause })];
  if (hint !== undefined) return hint;
  if (classifyError(error)?.kind === 'unavailable') return `the database cannot be reached${code && ` (${code})`}`;
  if (classifyError(error)) return `the database rejected the statement (SQLSTATE ${code})`;
  return itemAt(message.split('\n'));
}
