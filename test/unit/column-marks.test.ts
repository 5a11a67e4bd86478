import { expect, test } from 'vitest';
import { markedColumns, markedTables, marksByType, type Mark } from '../../src/database/column-marks.ts';
import { sharedTestApp } from '../support/test-app.ts';

const { database } = await sharedTestApp();

type Column = { table: string; column: string; type: string };
const { rows: columns } = await database.pool.query<Column>(`
  select table_name as table, column_name as column, data_type as type
  from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`);

const marks: Mark[] = ['personal', 'financial', 'operational'];
const named = markedTables.flatMap((table) =>
  marks.flatMap((mark) => markedColumns(table, mark).map((column) => `${table}.${column}`)),
);
const toName = ({ table, column }: Pick<Column, 'table' | 'column'>) => `${table}.${column}`;

/** The columns without a mark by name, of types that need one. */
const findUnmarked = (all: Column[]) =>
  all.filter((one) => !(one.type in marksByType) && !named.includes(toName(one))).map(toName);

test('each text, JSON, date and array column is marked once as personal, financial or operational', () => {
  expect(findUnmarked(columns), 'name them in marksByName of src/database/column-marks.ts').toEqual([]);
  expect(named.filter((name, n) => named.indexOf(name) !== n)).toEqual([]);
});

test('a new text column without a mark is found', () => {
  const added = { table: 'course_users', column: 'nickname', type: 'text' };
  expect(findUnmarked([added])).toEqual(['course_users.nickname']);
});

test('each marked column exists, and is of a type that needs a mark', () => {
  const ofOtherTypes = columns.filter(({ type }) => !(type in marksByType)).map(toName);
  expect(named.filter((name) => !ofOtherTypes.includes(name))).toEqual([]);
});
