import { getTableColumns, getTableName, is, SQL, sql, type Column } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { casing } from './query-builder/row-decoder.ts';
import {
  hashedName,
  execute,
  type BoundStatement,
  type Queryable,
  type Statement,
  type ParameterValue,
} from './statements.ts';

type Made = PgTable & { id: PgColumn };

/**
 * The statement that inserts one row of that table and answers its `id`. Put into words once, with every column, so that it is
 * planned once a connection: the query builder takes longer for a wide row than the database does. What is not given is the
 * column's default.
 */
export function prepareInsert<T extends Made>(table: T) {
  const columns = Object.entries<Column>(getTableColumns(table)).filter(
    ([, { generated, generatedIdentity }]) => !generated && !generatedIdentity,
  );
  const bySql = columns.find(
    ([, { default: value, defaultFn, onUpdateFn }]) => is(value, SQL) || (defaultFn ?? onUpdateFn),
  );
  if (bySql) throw new Error(`${getTableName(table)}.${bySql[0]} has a default that is no value`);
  let statement: Statement | undefined;

  return (row: T['$inferInsert']): BoundStatement => {
    statement ??= inWords();
    const options = row as Record<string, unknown>;
    const values = columns.map(([name, column]) =>
      encoded(column, options[name] === undefined ? column.default : options[name]),
    );
    return { ...statement, values };
  };

  function inWords(): Statement {
    const places = Object.fromEntries(columns.map(([name]) => [name, sql.placeholder(name)]));
    const row = places as T['$inferInsert'];
    const { sql: text } = wording.insert(table).values(row).returning({ id: table.id }).toSQL();
    return { name: hashedName('i_', text), text };
  }
}

/** Puts statements into words, and sends none. */
const wording = drizzle.mock({ casing });

/** Inserts the row of a prepared insert and returns its id. */
export const insert = async (tx: Queryable, { values, ...statement }: BoundStatement) =>
  (await execute<{ id: number }>(tx, statement, values))[0]!.id;

const encoded = (column: Column, value: unknown) =>
  value === undefined || value === null ? null : (column.mapToDriverValue(value) as ParameterValue);
