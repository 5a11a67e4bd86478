import { hash } from 'node:crypto';
import type { Pool, QueryResultRow } from 'pg';

/** A statement whose text never changes, so that each connection plans it once. `$1` is the provider, where it is known. */
export type Statement = { name: string; text: string };

/** A name that only this text has, for a statement that is planned once a connection; `kind` tells who put it into words. */
export const namedBy = (kind: string, text: string) => `${kind}${hash('sha256', text, 'base64url').slice(0, 27)}`;

/** What the driver sends as it is: a value that it could not put into words would be left out of a piece whose commit is sent. */
export type Value = string | number | boolean | null | undefined;
/** A statement with its values, ready to be sent. */
export type BoundStatement = Statement & { values: Value[] };

/** Where a statement runs: in a transaction, or alone on any free connection. */
export type Queryable = { $client: Pick<Pool, 'query'> };

/** Runs it; int8 is a number, what else is no number or text is best cast to text. */
export async function execute<Row extends QueryResultRow>(on: Queryable, { name, text }: Statement, values: unknown[]) {
  return (await on.$client.query<Row>({ name, text, values })).rows;
}

/** Sends all of them in one piece; answers the rows of each. */
export async function pipeline(on: Queryable, statements: BoundStatement[]): Promise<QueryResultRow[][]> {
  const answers = await settleInOrder(statements.map((one) => on.$client.query<QueryResultRow>(one)));
  return answers.map(({ rows }) => rows);
}

/**
 * The answers to what was sent without waiting in between. Where several fail, the error is that of the first: in a
 * transaction all behind it fail because of it, and may be heard of earlier.
 */
export async function settleInOrder<All extends readonly unknown[] | []>(sent: All) {
  // The query builder's are sent anew each time that they are waited for.
  const once = sent.map((one: unknown) => Promise.resolve(one));
  await Promise.allSettled(once);
  return Promise.all(once) as Promise<{ -readonly [N in keyof All]: Awaited<All[N]> }>;
}

/**
 * Many rows as one parameter, for `json_to_recordset`: each an object with its `place` from 1 on. Unlike arrays it has one
 * size to the planner, which therefore plans the statement once and not anew for every number of rows.
 */
export const toRecordset = (rows: object[]) => JSON.stringify(rows.map((row, n) => ({ ...row, place: n + 1 })));
