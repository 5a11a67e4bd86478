import { Client } from 'pg';

export type Value = string | number | boolean | null | undefined | Value[];

/** A statement as the service sent it, by name where it has one, with the first row of its answer. */
export type RecordedStatement = {
  name: string | undefined;
  text: string;
  values: Value[];
  row?: Record<string, unknown> | undefined;
};

type QueryArgument = string | { name?: string; text: string; values?: Value[] };
type QueryResult = { rows?: Record<string, unknown>[] } | undefined;

/** All statements that this process sends while the work runs, in their order. */
export async function recordStatements(work: () => Promise<unknown>): Promise<RecordedStatement[]> {
  const all: RecordedStatement[] = [];
  const prototype = Client.prototype as unknown as { query: (asked: QueryArgument, ...rest: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function record(asked, ...rest) {
    const {
      name,
      text,
      values: own,
    } = typeof asked === 'string' ? { name: undefined, text: asked, values: [] } : asked;
    const values = own ?? (Array.isArray(rest[0]) ? (rest[0] as Value[]) : []);
    const statement: RecordedStatement = { name, text, values };
    all.push(statement);
    const result = query.call(this, asked, ...rest);
    // Who hands over a callback gets no promise; a transaction's statements always do.
    Promise.resolve(result as QueryResult).then(
      (answered) => (statement.row = answered?.rows?.[0]),
      () => undefined,
    );
    return result;
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return all;
}
