import { Client } from 'pg';

export type Value = string | number | boolean | null | undefined | Value[];

/** A statement sent to PostgreSQL, its name if prepared, and the first row of its result. */
export type RecordedStatement = {
  name: string | undefined;
  text: string;
  values: Value[];
  row?: Record<string, unknown> | undefined;
};

/** Matches a statement of `prepareRows`, whose rows come as composite literals; the group is the statement of the rows. */
export const compositeRows = /\(select \* from \((.*)\) as t\(c0[^)]*\) limit \d+\) as t/s;

type QueryArgument = string | { name?: string; text: string; values?: Value[] };
type QueryResult = { rows?: Record<string, unknown>[] } | undefined;

/** Records all statements that this process sends during the work, in order, but the settings of new connections. */
export async function recordStatements(work: () => Promise<unknown>): Promise<RecordedStatement[]> {
  const all: RecordedStatement[] = [];
  const prototype = Client.prototype as unknown as { query: (args: QueryArgument, ...rest: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function record(args, ...rest) {
    const {
      name,
      text,
      values: own,
    } = typeof args === 'string' ? { name: undefined, text: args, values: undefined } : args;
    const values = own ?? (Array.isArray(rest[0]) ? (rest[0] as Value[]) : []);
    const statement: RecordedStatement = { name, text, values };
    if (!text.startsWith('set timezone')) all.push(statement);
    const result = query.call(this, args, ...rest);
    // The callback form returns no promise; transactions use promises.
    Promise.resolve(result as QueryResult).then(
      (recordResult) => (statement.row = recordResult?.rows?.[0]),
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
