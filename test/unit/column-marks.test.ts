import { readdirSync } from 'node:fs';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { columnName, findMark, markedColumns } from '../../src/database/tables/columns.ts';
import { courseUsers } from '../../src/database/tables/users.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();

type Column = { table: string; column: string; type: string };
const { rows: columns } = await database.pool.query<Column>(`
  select table_name as table, column_name as column, data_type as type
  from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`);

/** Columns of these types are operational, amounts financial; the words of a search go with their columns. */
const unmarkedTypes = [
  ...['bigint', 'integer', 'smallint', 'boolean', 'double precision', 'numeric', 'tsvector'],
  ...['time without time zone', 'timestamp without time zone', 'timestamp with time zone'],
];

const folder = new URL('../../src/database/tables/', import.meta.url);
const modules = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
);
const tables = modules.flatMap((all) => Object.values(all)).filter((one) => is(one, PgTable));
const marked = tables.flatMap((table) =>
  Object.values(getTableColumns(table))
    .filter((column) => findMark(column) !== undefined)
    .map((column) => `${getTableName(table)}.${columnName(column)}`),
);
const toName = ({ table, column }: Pick<Column, 'table' | 'column'>) => `${table}.${column}`;

/** The columns without a mark, of types that need one. */
const findUnmarked = (all: Column[]) =>
  all.filter((one) => !unmarkedTypes.includes(one.type) && !marked.includes(toName(one))).map(toName);

test('each text, JSON, date and array column is marked as personal, financial or operational', () => {
  expect(findUnmarked(columns), 'mark them in src/database/tables').toEqual([]);
});

test('a new text column without a mark is found', () => {
  const added = { table: 'course_users', column: 'nickname', type: 'text' };
  expect(findUnmarked([added])).toEqual(['course_users.nickname']);
});

test('each marked column exists, and is of a type that needs a mark', () => {
  const ofOtherTypes = columns.filter(({ type }) => !unmarkedTypes.includes(type)).map(toName);
  expect(marked.filter((name) => !ofOtherTypes.includes(name))).toEqual([]);
});

test('marked columns are named as in the database', () => {
  expect(markedColumns(courseUsers, 'personal')).toContain('invoice_address_2');
});
