import { getTableColumns, getTableName, is, SQL, sql, type Column } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { statementBuilder } from './reader.ts';
import { execute, type Queryable, type Statement, type ParameterValue } from './statements.ts';

export type TableWithId = PgTable & { id: PgColumn };

/**
 * Returns a function that inserts one row of the table and returns its id. Its statement has every column and is
 * prepared once per connection; the query builder takes longer for a wide row than the database does.
 */
export function prepareInsert<T extends TableWithId>(table: T) {
  const columns = Object.entries<Column>(getTableColumns(table)).filter(
    ([, { generated, generatedIdentity }]) => !generated && !generatedIdentity,
  );
  const bySql = columns.find(
    ([, { default: value, defaultFn, onUpdateFn }]) => is(value, SQL) || (defaultFn ?? onUpdateFn),
  );
  if (bySql) throw new Error(`${getTableName(table)}.${bySql[0]} has a default that is no value`);
  let statement: Statement | undefined;

  return async (tx: Queryable, row: T['$inferInsert']): Promise<number> => {
    statement ??= toStatement();
    const options = row as Record<string, unknown>;
    const values = columns.map(([name, column]) =>
      encode(column, options[name] === undefined ? column.default : options[name]),
    );
    const [inserted] = await execute<{ id: number }>(tx, statement, values);
    return inserted!.id;
  };

  function toStatement(): Statement {
    const placeholders = Object.fromEntries(columns.map(([name]) => [name, sql.placeholder(name)]));
    const row = placeholders as T['$inferInsert'];
    const { sql: text } = statementBuilder.insert(table).values(row).returning({ id: table.id }).toSQL();
    return { name: `insert_${getTableName(table)}`, text };
  }
}

const encode = (column: Column, value: unknown) =>
  value === undefined || value === null ? null : (column.mapToDriverValue(value) as ParameterValue);
