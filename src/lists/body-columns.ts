import type { TProperties } from '@sinclair/typebox';
import { getTableColumns } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { mergeCustomProperties, findStorage } from '../core/schema/types.ts';

type Values = Record<string, unknown>;
type Columns<T extends PgTable> = { [K in keyof T['$inferInsert']]?: T['$inferInsert'][K] };

/**
 * Makes a function from a body to the values of its columns, undefined for a field that was not sent. Custom properties
 * are merged into those of the row before; throws if that makes too many.
 */
export function bodyColumns<T extends PgTable>(table: T, properties: TProperties) {
  const columns = Object.entries<PgColumn>(getTableColumns(table));
  const fields = Object.entries(properties).flatMap(([field, schema]) => {
    const [found] = columns.filter(([, column]) => column === findStorage(schema)?.column);
    return found ? [[field, ...found] as const] : [];
  });
  return (body: object, before: Values = {}) => {
    const values = fields.map(
      ([field, name, column]) => [name, toStored(column, (body as Values)[field], before[name])] as const,
    );
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
