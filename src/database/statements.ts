import { hash } from 'node:crypto';
import type { Pool, QueryResultRow } from 'pg';

/** A prepared statement: constant text, planned once per connection. By convention `$1` is the provider. */
export type Statement = { name: string; text: string };

/** A statement name derived from the text: `prefix` and 27 characters of its SHA-256. */
export const hashedName = (prefix: 'q_' | 'r_', text: string) =>
  `${prefix}${hash('sha256', text, 'base64url').slice(0, 27)}`;

export type PoolOrClient = Pick<Pool, 'query'>;

/** A transaction, or a pool. */
export type Queryable = { $client: PoolOrClient };

/** Returns the rows: int8 as number; cast other types than numbers and text to text. */
export async function execute<Row extends QueryResultRow>(on: Queryable, { name, text }: Statement, values: unknown[]) {
  return (await on.$client.query<Row>({ name, text, values })).rows;
}

/** Rows as one JSON parameter with their `place` from 1; unlike arrays, it keeps one plan for any number of rows. */
export const toRecordset = (rows: object[]) => JSON.stringify(rows.map((row, n) => ({ ...row, place: n + 1 })));
