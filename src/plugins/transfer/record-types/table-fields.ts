import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { Type, type TSchema } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import { parseTimestamp } from '../../../core/timestamps.ts';
import { columnName, storedColumns } from '../../../database/tables/columns.ts';
import { toImported } from '../../../lists/fields.ts';
import { type Fields, Ref, type Field } from '../record-type.ts';

/** Negative in a credit. */
export const SignedAmount = Type.String({ pattern: '^-?\\d{1,10}(\\.\\d{1,2})?$' });
export const CreditedAmount = Type.String({ pattern: '^(-\\d{1,10}(\\.\\d{1,2})?|0(\\.0{1,2})?)$' });

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
    if (difference === null) return [];
    const { name = columnName(column), to } = difference ?? {};
    const schema = difference?.schema ?? toImported(column, to === undefined ? undefined : Ref);
    return [[name, { column, schema, to }] as const];
  });
  return Object.fromEntries(fields);
}
