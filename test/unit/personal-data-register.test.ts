import { readdirSync } from 'node:fs';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable, type PgColumn } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { markedColumns } from '../../src/database/tables/columns.ts';
import { entries, otherColumns } from '../../src/domains/records/register/schema.ts';
import { erasedValues, personalKeys } from '../../src/lists/personal-data.ts';

const folder = new URL('../../src/database/tables/', import.meta.url);
const modules = await Promise.all(
  readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
);
const tables = modules.flatMap((all) => Object.values(all)).filter((one) => is(one, PgTable));

/** The columns marked as personal that no erasure clears or deletes. */
const findUnregistered = (toPersonal: (table: PgTable) => string[]) =>
  tables.flatMap((table) => {
    const [entry, personal] = [entries.find((one) => one.table === table), toPersonal(table)];
    if (entry?.erase === 'delete') return [];
    const isCleared = entry?.erase !== undefined && personalKeys(table, personal).length === personal.length;
    return isCleared ? [] : personal.map((column) => `${getTableName(table)}.${column}`);
  });
const toPersonal = (table: PgTable) => markedColumns(table, 'personal');

test('each column marked as personal stands in an entry of the register', () => {
  expect(tables.flatMap(toPersonal).length).toBeGreaterThan(100);
  const others = Object.entries(otherColumns).flatMap(([name, columns]) =>
    columns.split(' ').map((column) => `${name}.${column}`),
  );
  const unregistered = findUnregistered(toPersonal).toSorted();
  expect(unregistered, 'name them in a personal-data/schema.ts of src/domains').toEqual(others.toSorted());
});

test.each([
  ['courses', 'title'],
  ['order_lines', 'quantity'],
  ['participants', 'nickname'],
  ['admin_users', 'nickname'],
  ['idempotency_records', 'key_hash'],
])('a further column marked as personal is found: %s', (name, column) => {
  const found = findUnregistered((table) => [...toPersonal(table), ...(getTableName(table) === name ? [column] : [])]);
  expect(found).toContain(`${name}.${column}`);
});

test('an entry found by orders or customers names the purchases whose rows are cleared', () => {
  const found = entries.filter(({ find, erase }) => typeof erase === 'object' && /:(orders|customers)\b/.test(find));
  expect(found.length).toBeGreaterThan(3);
  // A ref is replaced by its hash, which no invoice has.
  const unnamed = found.filter(({ of, table }) => !of && getTableName(table) !== 'import_refs');
  expect(unnamed.map(({ table }) => getTableName(table))).toEqual([]);
});

test('a personal column that may not be null becomes another text', () => {
  for (const entry of entries.filter(({ erase }) => typeof erase === 'object')) {
    const [values, columns] = [erasedValues(entry), getTableColumns(entry.table) as Record<string, PgColumn>];
    const required = Object.keys(values).filter((key) => values[key] === null && columns[key]!.notNull);
    expect([getTableName(entry.table), required]).toEqual([getTableName(entry.table), []]);
  }
});
