import type { TProperties } from '@sinclair/typebox';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { storageOf } from '../core/schema/types.ts';

type Values = Record<string, unknown>;
type Columns<T extends PgTable> = { [K in keyof T['$inferInsert']]?: T['$inferInsert'][K] };

/** Makes a function from a body to the values of its columns, undefined for a field that was not sent. */
export function bodyColumns<T extends PgTable>(table: T, properties: TProperties) {
  const columns = Object.entries<PgColumn>(getTableColumns(table));
  const fields = Object.entries(properties).flatMap(([field, schema]) => {
    const [found] = columns.filter(([, column]) => column === storageOf(schema)?.column);
    return found ? [[field, ...found] as const] : [];
  });
  return (body: object) => {
    const values = fields.map(([field, name, column]) => [name, toStored(column, (body as Values)[field])] as const);
    // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- it resolves to the columns of `table`
    return Object.fromEntries(values) as Columns<T>;
  };
}

/** An empty text is stored as such where null is not allowed; decimals are strings. */
function toStored({ notNull, dataType }: PgColumn, value: unknown) {
  if (value === null && notNull) return '';
  return typeof value === 'number' && dataType === 'string' ? String(value) : value;
}
