import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { casing } from './tables/columns.ts';

const dialect = new PgDialect({ casing });

/** A condition of the query builder, for a statement that is written as text: its tables have their own names there. */
export const toSqlText = (condition: SQL) => dialect.sqlToQuery(condition.inlineParams()).sql;
