import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { Type, type TSchema } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import { CustomProperties, Day, Line, StoredMoment, Title } from '../../../core/schema/types.ts';
import { parseTimestamp } from '../../../core/timestamps.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import { type Fields, Ref, type Field } from '../record-type.ts';

/** A string: floating point cannot represent every amount. */
export const Amount = Type.String({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' });
/** Negative in a credit. */
export const SignedAmount = Type.String({ pattern: '^-?\\d{1,10}(\\.\\d{1,2})?$' });
export const CreditedAmount = Type.String({ pattern: '^(-\\d{1,10}(\\.\\d{1,2})?|0(\\.0{1,2})?)$' });
export const Percentage = Type.String({ pattern: '^(100(\\.0{1,2})?|\\d{1,2}(\\.\\d{1,2})?)$' });

/** A part of an address. */
export const Slug = Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 255 });

/** Throws for dates that do not exist, such as 30 February. */
export function assertRealValues(fields: Fields, names: string[]) {
  const notValid = names.filter(
    (name) => fields[name] !== undefined && parseTimestamp(fields[name] as string) === undefined,
  );
  if (notValid.length > 0) throw Problem.invalidFields({ notValid });
}

/** How a field differs from its column: its name, its schema, the record type that it refers to. */
type Difference = { name?: string; schema?: TSchema; to?: string };

/** Columns that every import writes. */
const standard = ['providerId', 'id', 'createdAt', 'updatedAt'];

/** A field for each column by name and type, but for those null in `differences`; required if the column is. */
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
