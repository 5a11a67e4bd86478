import { Type, type TSchema } from '@sinclair/typebox';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { CustomProperties, Line, StoredMoment, Title } from '../../../core/schema/types.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import { Ref, type Field } from '../record-type.ts';
import { Amount, Day, Percentage } from './value-formats.ts';

/** How a field differs from its column: its name, its schema, the record type that it refers to. */
type Difference = { name?: string; schema?: TSchema; to?: string };

/** Columns that every import writes. */
const standard = ['providerId', 'id', 'createdAt', 'updatedAt'];

/**
 * A field for each column of a table, by its name and type, and required if the column needs a value. `differences` has
 * null for a column without a field.
 */
export function tableFields<T extends PgTable>(
  table: T,
  differences: { [K in keyof T['_']['columns']]?: Difference | null } = {},
): Record<string, Field> {
  const columns = Object.entries<PgColumn>(storedColumns(table));
  const fields = columns.flatMap(([key, column]) => {
    const difference = standard.includes(key) ? null : (differences as Record<string, Difference | null>)[key];
    return difference === null ? [] : [[difference?.name ?? columnName(column), toField(column, difference)] as const];
  });
  return Object.fromEntries(fields);
}

function toField(column: PgColumn, { schema, to }: Difference = {}): Field {
  const isRequired = column.notNull && !column.hasDefault;
  if (schema !== undefined) return { column, schema, to };
  const byType = to === undefined ? schemaByType(column.getSQLType(), isRequired) : Ref;
  return { column, schema: isRequired ? byType : Type.Optional(byType), to };
}

const schemas: Record<string, TSchema> = {
  boolean: Type.Boolean(),
  date: Day,
  jsonb: CustomProperties,
  'numeric(12, 2)': Amount,
  'numeric(5, 2)': Percentage,
  'timestamp(6) with time zone': StoredMoment(),
};

function schemaByType(type: string, isRequired: boolean): TSchema {
  if (type === 'text') return isRequired ? Title() : Line();
  const schema = schemas[type];
  if (schema === undefined) throw new Error(`A field of the type ${type} needs a schema`);
  return schema;
}
