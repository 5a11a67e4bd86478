import { getTableColumns, type SQL } from 'drizzle-orm';
import { type PgColumn, type PgTable, getTableConfig } from 'drizzle-orm/pg-core';
import type { TProperties, Static, TObject } from '@sinclair/typebox';
import { itemAt } from '../core/errors.ts';
import { mergeCustomProperties } from '../core/schema/types.ts';
import type { Reader, Tx } from '../database/client.ts';
import { findDiffering, keepFractions } from '../database/update-changed.ts';
import { findStorage } from './fields.ts';
import { createRowCheck, defineReferences, type ReferenceChecks } from './references.ts';
import type { TenantTable } from './tenant-scope.ts';

type TableWithId = PgTable & Pick<TenantTable, 'id'>;
type Values = Record<string, unknown>;
type Columns<T extends PgTable> = { [K in keyof T['$inferInsert']]?: T['$inferInsert'][K] };

/** Maps a body to column values, undefined if not sent; custom properties are merged, and throw if too many. */
export function bodyColumns<T extends PgTable>(table: T, properties: TProperties) {
  const columns = Object.entries<PgColumn>(getTableColumns(table));
  const fields = Object.entries(properties).flatMap(([field, schema]) => {
    const [found] = columns.filter(([, column]) => column === findStorage(schema)?.column);
    return found ? [[field, ...found] as const] : [];
  });
  return (body: object, before: Values = {}) => {
    const sent: Values = { ...body };
    const values = fields.map(([field, name, column]) => [name, toStored(column, sent[field], before[name])] as const);
    // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- it resolves to the columns of `table`
    return Object.fromEntries(values) as Columns<T>;
  };
}

type CustomProperties = Parameters<typeof mergeCustomProperties>[0];

/** An empty text is stored as such where null is not allowed; decimals are strings, and custom properties are JSON. */
function toStored({ notNull, dataType }: PgColumn, value: unknown, before: unknown) {
  if (dataType === 'json')
    return mergeCustomProperties((before ?? null) as CustomProperties, value as CustomProperties | undefined);
  if (value === null && notNull) return '';
  return typeof value === 'number' && dataType === 'string' ? String(value) : value;
}

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
  const stored = Object.entries(properties).map(([name, schema]) => [name, findStorage(schema)?.column] as const);
  const toColumns = bodyColumns(table, properties);
  const toUpdatedColumns = (...args: Parameters<typeof toColumns>) => keepFractions(table, toColumns(...args));
  const target: TableWithId = table;
  const columns: Record<string, PgColumn> = getTableColumns(target);
  return {
    toColumns,
    /** `toColumns` for an update of moments, which are shown without the fraction of a second that is stored. */
    toUpdatedColumns,
    async findUnapplied(reader: Reader, row: SQL, ...args: Parameters<typeof toColumns>) {
      const differing = await findDiffering(reader, table, row, toUpdatedColumns(...args));
      const found = new Set<PgColumn | undefined>(differing.map((name) => columns[name]));
      return stored.flatMap(([name, column]) => (found.has(column) ? [name] : []));
    },
    async insert(tx: Pick<Tx, 'insert'>, row: T['$inferInsert']): Promise<number> {
      return itemAt(await tx.insert(target).values(row).returning({ id: target.id })).id;
    },
    references: defineReferences<Static<S>>({
      ...(Object.fromEntries(stored.map(([name, column]) => [name, checkReference(column)])) as ReferenceChecks<
        Static<S>
      >),
      ...checks,
    }),
  };
}

/** A check of the column of another table that a foreign key names; keys within a tenant begin with the provider. */
function checkReference(column: PgColumn | undefined) {
  if (column === undefined) return undefined;
  const { table, name } = column;
  const { foreignKeys } = getTableConfig(table);
  const keys = foreignKeys.map((key) => key.reference());
  const referenced = keys.find(({ columns }) => columns.at(-1)?.name === name)?.foreignColumns.at(-1);
  return referenced && createRowCheck(referenced, column);
}
