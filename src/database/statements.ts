import { hash } from 'node:crypto';
import type { Pool } from 'pg';

/** A statement name derived from the text: `prefix` and 27 characters of its SHA-256. */
export const hashedName = (prefix: 'q_' | 'r_', text: string) =>
  `${prefix}${hash('sha256', text, 'base64url').slice(0, 27)}`;

export type PoolOrClient = Pick<Pool, 'query'>;

/** A transaction, or a pool. */
export type Queryable = { $client: PoolOrClient };
