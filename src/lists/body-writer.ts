import type { Static, TObject } from '@sinclair/typebox';
import { getTableColumns, type SQL } from 'drizzle-orm';
import { getTableConfig, type PgColumn } from 'drizzle-orm/pg-core';
import { findStorage } from '../core/schema/types.ts';
import { prepareInsert, type TableWithId } from '../database/prepared-insert.ts';
import type { Reader } from '../database/client.ts';
import { findDiffering, keepFractions } from '../database/update-changed.ts';
import { bodyColumns } from './body-columns.ts';
import { createRowCheck, defineReferences, type ReferenceChecks } from './references.ts';

/**
 * Derives writes of a table from the schema of a new item: `toColumns` makes the columns of a body, `insert` adds a row
 * and returns its id, `references` checks the fields whose columns have foreign keys, and those of `checks`, and
 * `findUnapplied` finds the fields whose values a row does not have.
 */
export function bodyWriter<T extends TableWithId, S extends TObject>(
  table: T,
  { properties }: S,
  checks: ReferenceChecks<Static<S>> = {},
) {
  const stored = Object.entries(properties).map(([name, schema]) => [
    name,
    checkReference(findStorage(schema)?.column),
  ]);
  const toColumns = bodyColumns(table, properties);
  const toUpdatedColumns = (...args: Parameters<typeof toColumns>) => keepFractions(table, toColumns(...args));
  const columns = getTableColumns(table) as Record<string, PgColumn>;
  return {
    toColumns,
    /** `toColumns` for an update of moments, which are shown without the fraction of a second that is stored. */
    toUpdatedColumns,
    async findUnapplied(reader: Reader, row: SQL, ...args: Parameters<typeof toColumns>) {
      const differing = await findDiffering(reader, table, row, toUpdatedColumns(...args));
      const found = new Set(differing.map((name) => columns[name]));
      return Object.keys(properties).filter((name) => found.has(findStorage(properties[name]!)?.column as PgColumn));
    },
    insert: prepareInsert(table),
    references: defineReferences<Static<S>>({
      ...(Object.fromEntries(stored) as ReferenceChecks<Static<S>>),
      ...checks,
    }),
  };
}

/** A check of the column of another table that a foreign key names; keys within a tenant begin with the provider. */
function checkReference(column: object | undefined) {
  if (column === undefined) return undefined;
  const { table, name } = column as PgColumn;
  const { foreignKeys } = getTableConfig(table);
  const keys = foreignKeys.map((key) => key.reference());
  const referenced = keys.find(({ columns }) => columns.at(-1)!.name === name)?.foreignColumns.at(-1);
  return referenced && createRowCheck(referenced, column as PgColumn);
}
