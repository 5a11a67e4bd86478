import {
  OptionalKind,
  Type,
  type Static,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from '@sinclair/typebox';
import { emptyValue, Nullable } from './types.ts';

type UpdateField<S extends TSchema> =
  S extends TOptional<TSchema>
    ? S extends { default: unknown }
      ? S
      : TOptional<Static<S> extends boolean ? S : TUnsafe<Static<S> | null>>
    : TOptional<S>;

/**
 * Derives the fields of a partial update from those of a create. A missing value is unchanged. An empty value becomes
 * the default, or null without one; an empty boolean counts as missing, and an empty required field is an error.
 */
export const partialUpdate = <P extends TProperties>(fields: P) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(toUpdateField(field))]),
  ) as unknown as { [K in keyof P]: UpdateField<P[K]> };

function toUpdateField({ default: fallback, ...field }: TSchema): TSchema {
  if (!(OptionalKind in field)) return { ...field, [emptyValue]: null };
  if (field['type'] === 'boolean') return field;
  return fallback === undefined ? Nullable(field as TSchema) : { ...field, [emptyValue]: fallback as unknown };
}

/** For text columns that are not nullable. */
export const emptyIfNull = (input: string | null | undefined) => (input === null ? '' : input);
