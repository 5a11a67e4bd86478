import { getTableColumns, getTableName, is, SQL, sql, type Column } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { QueryResultRow } from 'pg';
import { lockedAt } from './locks.ts';
import { casing } from './reading.ts';
import { namedBy, runAll, type Bound, type Runner, type Statement, type Value } from './statements.ts';

type Made = PgTable & { id: PgColumn };

/**
 * The statement that inserts one row of that table and answers its `id`. Put into words once, with every column, so that it is
 * planned once a connection: the query builder takes longer for a wide row than the database does. What is not given is the
 * column's default; `expressions` are for columns that the database knows better.
 */
export function inserting<T extends Made, Name extends keyof T['$inferInsert'] = never>(
  table: T,
  expressions?: Record<Name, SQL>,
) {
  const columns = Object.entries<Column>(getTableColumns(table)).filter(
    ([name, { generated, generatedIdentity }]) => !(name in { ...expressions }) && !generated && !generatedIdentity,
  );
  const bySql = columns.find(
    ([, { default: value, defaultFn, onUpdateFn }]) => is(value, SQL) || (defaultFn ?? onUpdateFn),
  );
  if (bySql) throw new Error(`${getTableName(table)}.${bySql[0]} has a default that is no value`);
  let statement: Statement | undefined;

  return (row: Omit<T['$inferInsert'], Name>): Bound => {
    statement ??= inWords();
    const given = row as Record<string, unknown>;
    const values = columns.map(([name, column]) =>
      encoded(column, given[name] === undefined ? column.default : given[name]),
    );
    return { ...statement, values };
  };

  function inWords(): Statement {
    const places = Object.fromEntries(columns.map(([name]) => [name, sql.placeholder(name)]));
    const row = { ...places, ...expressions } as T['$inferInsert'];
    const { sql: text, params } = wording.insert(table).values(row).returning({ id: table.id }).toSQL();
    if (params.length !== columns.length) throw new Error('expressions take no parameters');
    return { name: namedBy('i_', text), text };
  }
}

/** Puts statements into words, and sends none. */
const wording = drizzle.mock({ casing });

/** The id that the statement's answer tells. */
export const madeId = (rows: QueryResultRow[] | undefined) => rows![0]!['id'] as number;

/** Inserts the row of such a statement; answers its id. */
export const insert = async (tx: Runner, row: Bound) => madeId((await runAll(tx, [row]))[0]);

/** The id that the table gave last on this connection, within the transaction that inserted the row. */
export const lastIdOf = (table: Made) =>
  sql`currval(pg_get_serial_sequence(${getTableName(table)}, 'id'))`.inlineParams();

/** The stamps of a new row, for `expressions`: the lock's clock, before it is heard. */
export const stampedAtLock = { createdAt: sql.raw(lockedAt), updatedAt: sql.raw(lockedAt) };

const encoded = (column: Column, value: unknown) =>
  value === undefined || value === null ? null : (column.mapToDriverValue(value) as Value);
