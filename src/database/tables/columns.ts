import { sql } from 'drizzle-orm';
import { bigint, timestamp, type AnyPgColumn } from 'drizzle-orm/pg-core';

/** Ids come from one sequence per table, so an id names one row among all providers; clients rely on their order only. */
export const id = () => bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity();
export const reference = () => bigint({ mode: 'number' });

/** Microseconds, read as text in the service's time zone and never turned into a JavaScript Date. */
export const instant = () => timestamp({ withTimezone: true, precision: 6, mode: 'string' });

/** Written by `write()` with the provider's clock, which follows commit order; `now()` would not. */
export const stamps = () => ({ createdAt: instant().notNull(), updatedAt: instant().notNull() });

/** For unique indexes on text that people compare without regard to case; `lower()` alone misses Å in the C locale. */
export const folded = (column: AnyPgColumn) => sql`lower(${column} collate "und-x-icu")`;
