import {
  classifyError,
  getErrorCode,
  getRootCause,
  isCertificateError,
  QueueTimeoutError,
} from '../core/database-errors.ts';

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
