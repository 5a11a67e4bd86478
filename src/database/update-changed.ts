import { and, getTableColumns, is, isNotNull, or, SQL, sql } from 'drizzle-orm';
import { PgTimestampString, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Reader } from './reader.ts';

type Values<T extends PgTable> = { [K in keyof T['$inferInsert']]?: T['$inferInsert'][K] | SQL | undefined };

/** The member of a transaction by which items are updated. */
export type UpdateChanged = {
  /** Updates the rows that have another value, and their `updated_at`; returns how many. Skips undefined values. */
  // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- it resolves to the columns of `table`
  updateChanged<T extends PgTable>(table: T, where: SQL, values: Values<T>, now: string): Promise<number>;
};

export const createUpdateChanged = (db: NodePgDatabase): UpdateChanged => ({
  async updateChanged(table, where, values, now) {
    const columns: Record<string, PgColumn> = getTableColumns<PgTable>(table);
    const set = Object.entries<unknown>(values).filter(([, value]) => value !== undefined);
    if (set.length === 0) return 0;
    const differs = set.map(([name, value]) => isDistinct(columns[name]!, value));
    const { rowCount } = await db
      .update(table)
      .set({ ...Object.fromEntries(set), ...('updatedAt' in columns && { updatedAt: now }) })
      .where(and(where, or(...differs)));
    return rowCount ?? 0;
  },
});

/** The names of those values, null and undefined ones apart, that a row does not have. */
export async function findDiffering(db: Reader, table: PgTable, row: SQL, values: object) {
  const columns: Record<string, PgColumn> = getTableColumns<PgTable>(table);
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  const differs = Object.fromEntries(set.map(([name, value]) => [name, isDistinct(columns[name]!, value)]));
  const [found = {}] = await db.select(differs).from(table).where(row);
  return Object.keys(found).filter((name) => found[name] === true);
}

function isDistinct(column: PgColumn, value: unknown) {
  if (value === null) return isNotNull(column);
  const changed = is(value, SQL) ? value : sql`${sql.param(value, column)}::${sql.raw(column.getSQLType())}`;
  return sql`${column} is distinct from ${changed}`;
}

/** Values in which a moment that reads the same as the stored one, in whole seconds, is the stored one. */
export function keepFractions<V extends object>(table: PgTable, values: V) {
  const columns: Record<string, PgColumn> = getTableColumns<PgTable>(table);
  const keep = ([name, value]: [string, unknown]) => {
    const column = columns[name]!;
    if (typeof value !== 'string' || !is(column, PgTimestampString)) return [name, value];
    const moment = sql`${value}::timestamptz`;
    return [name, sql`case when date_trunc('second', ${column}) = ${moment} then ${column} else ${moment} end`];
  };
  return Object.fromEntries(Object.entries(values).map(keep)) as { [K in keyof V]: V[K] | SQL };
}
