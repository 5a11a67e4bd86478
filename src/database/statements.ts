import type { QueryResultRow } from 'pg';
import type { Tx } from './transactions.ts';

/** A statement whose text never changes, so that each connection plans it once. `$1` is always the provider. */
export type Statement = { name: string; text: string };

/** Runs it inside the transaction; int8 is a number, what else is no number or text is best cast to text. */
export async function run<Row extends QueryResultRow>(tx: Tx, { name, text }: Statement, values: unknown[]) {
  return (await tx.$client.query<Row>({ name, text, values })).rows;
}

/**
 * Many rows as one parameter, for `json_to_recordset`: each an object with its `place` from 1 on. Unlike arrays it has one
 * size to the planner, which therefore plans the statement once and not anew for every number of rows.
 */
export const rowsOf = (rows: object[]) => JSON.stringify(rows.map((row, n) => ({ ...row, place: n + 1 })));
