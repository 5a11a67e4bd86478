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

type Changed<S extends TSchema> =
  S extends TOptional<TSchema>
    ? S extends { default: unknown }
      ? S
      : TOptional<Static<S> extends boolean ? S : TUnsafe<Static<S> | null>>
    : TOptional<S>;

/**
 * The fields of a partial update, made of those of a create. What is not sent keeps its value. What is sent empty becomes
 * its default, or null without one; a boolean then counts as not sent, and what a create requires is missing.
 */
export const partialUpdate = <P extends TProperties>(fields: P) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(changedField(field))]),
  ) as unknown as { [K in keyof P]: Changed<P[K]> };

function changedField({ default: unsent, ...field }: TSchema): TSchema {
  if (!(OptionalKind in field)) return { ...field, [emptyValue]: null };
  if (field['type'] === 'boolean') return field;
  return unsent === undefined ? Nullable(field as TSchema) : { ...field, [emptyValue]: unsent as unknown };
}

/** For a text that is never null: cleared it is empty. */
export const emptyIfNull = (input: string | null | undefined) => (input === null ? '' : input);
