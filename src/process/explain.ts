import { DatabaseError } from 'pg';
import { Problem } from '../core/problem.ts';
import { failureOf, rootOf } from '../database/errors.ts';

/** One line for the person at the terminal. What the driver says may hold rows, so it is told only where it helps. */
export function explain(error: unknown): string {
  if (error instanceof Problem) return error.message;
  const cause = rootOf(error);
  const { code = '', message = String(cause) } = cause as { code?: string; message?: string };
  if (code === 'EADDRINUSE')
    return `port ${(cause as { port?: number }).port ?? ''} is in use; set PORT to another one`;
  // Who may connect, and to what: an operator's own mistakes.
  if (cause instanceof DatabaseError && /^(28|3D|42501)/.test(code)) return `the database says: ${message}`;
  if (code === '55P03') return 'another transaction holds a lock that this needs; try again later';
  if (failureOf(error)?.kind === 'unavailable') return `the database cannot be reached${code && ` (${code})`}`;
  if (failureOf(error)) return `the database refused it (SQLSTATE ${code})`;
  return message.split('\n')[0]!;
}
