import { getTableColumns, is, sql, type SQL } from 'drizzle-orm';
import { bigint, customType, PgCustomColumn, timestamp, type AnyPgColumn, type PgTable } from 'drizzle-orm/pg-core';

/** Ids come from one sequence per table, so an id names one row among all providers; clients rely on their order only. */
export const id = () => bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity();
export const reference = () => bigint({ mode: 'number' });

/** Microseconds, read as text in the service's time zone and never turned into a JavaScript Date. */
export const instant = () => timestamp({ withTimezone: true, precision: 6, mode: 'string' });

/** A text of some length; read apart from what is short (`database/reading.ts`). */
export const longText = customType<{ data: string }>({ dataType: () => 'text' });
/** There is no other type of our own. */
export const isLongText = (column: unknown) => is(column, PgCustomColumn);

type Columns<T extends PgTable> = ReturnType<typeof getTableColumns<T>>;

/** All columns of a table but these: what is not selected is not put into words, sent and read. */
export const omitColumns = <T extends PgTable, Name extends string & keyof Columns<T>>(
  table: T,
  names: readonly Name[],
) =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).filter(([name]) => !(names as readonly string[]).includes(name)),
  ) as Omit<Columns<T>, Name>;

/**
 * The time that deadlines, periods and pauses are compared with. The lock's clock may be ahead of it, and `now()` is the
 * transaction's start, before the wait for the lock.
 */
export const realClock = 'clock_timestamp()';
export const realTime = sql.raw(realClock);

/** Written by `write()` with the provider's clock, which follows commit order; `now()` would not. */
export const timestamps = () => ({ createdAt: instant().notNull(), updatedAt: instant().notNull() });

/**
 * Texts as people compare them, without regard to case, here and in the unique indexes; `lower()` alone misses Å in the
 * C locale.
 */
export const caseFolded = (value: AnyPgColumn | SQL | string) => sql`lower(${value} collate "und-x-icu")`;
/** The same of an expression in a statement that is written as text. */
export const caseFoldedSql = (expression: string) => `lower(${expression} collate "und-x-icu")`;
