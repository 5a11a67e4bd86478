import { Type, type SchemaOptions, type Static, type TSchema } from '@sinclair/typebox';
import { addressPattern } from '../lib/text.ts';

/**
 * How a value that arrives as text (a form, a query, or JSON that means the same) is read before it is checked.
 * A symbol, so that neither the validator nor the OpenAPI document sees it.
 */
export const Read = Symbol('read');
export type Reading =
  | 'title'
  | 'line'
  | 'upper'
  | 'date-time'
  | 'stored-date-time'
  | 'now-or-date-time'
  | 'day'
  | 'time-of-day'
  | 'local-time'
  | 'list'
  | 'json';

/**
 * What a field that is sent empty is read as, where that is more than not sent: what `changed` makes of the fields of a
 * create. A symbol for the same reason.
 */
export const emptyValue = Symbol('emptied');

const reading = <S extends TSchema>(how: Reading, schema: S): S => ({ ...schema, [Read]: how });

/** A type list instead of a union: the serializer need not try out which branch a value fits. */
export const Nullable = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [getType(schema), 'null'],
    ...(Array.isArray(schema['enum']) ? { enum: [...(schema['enum'] as unknown[]), null] } : {}),
  });

/** A field that is this when it is not sent, and again when an update sends it empty. */
export const withDefault = <S extends TSchema>(schema: S, value: Static<S>) =>
  Type.Optional({ ...schema, default: value } as S & { default: Static<S> });

function getType(schema: TSchema) {
  if (typeof schema['type'] !== 'string') throw new Error('Only a schema of one type can be made nullable');
  return schema['type'];
}

const biggest = Number.MAX_SAFE_INTEGER;
export const Id = Type.Integer({ minimum: 1, maximum: biggest });
export const Count = (options: SchemaOptions = {}) => Type.Integer({ minimum: 0, maximum: 2_147_483_647, ...options });
export const Flag = (options: SchemaOptions = {}) => Type.Boolean(options);

/** Texts by what they hold; lengths in characters (code points), as the service promises them. */
export const Title = (options: SchemaOptions = {}) =>
  reading('title', Type.String({ minLength: 1, maxLength: 255, ...options }));
export const Line = (options: SchemaOptions = {}) => reading('line', Type.String({ maxLength: 255, ...options }));
/** A phone number, a position and the like. */
export const LongLine = (options: SchemaOptions = {}) => Line({ maxLength: 5_000, ...options });
export const Note = (options: SchemaOptions = {}) => Type.String({ maxLength: 5_000, ...options });
export const Html = (options: SchemaOptions = {}) => Type.String({ maxLength: 65_000, ...options });
export const Email = (options: SchemaOptions = {}) =>
  Type.String({ maxLength: 254, pattern: addressPattern, ...options });
export const Url = (options: SchemaOptions = {}) =>
  Type.String({
    maxLength: 2_000,
    pattern: '^[hH][tT][tT][pP][sS]?://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
    ...options,
  });

/** One of a documented set. */
export const OneOf = <const T extends readonly (string | number)[]>(values: T, options: SchemaOptions = {}) =>
  Type.Unsafe<T[number]>({ type: typeof values[0] === 'number' ? 'integer' : 'string', enum: values, ...options });

/** A code in any case, read upper case. */
export const UpperCode = <const T extends readonly string[]>(values: T, options: SchemaOptions = {}) =>
  reading('upper', OneOf(values, options));

/** `a[]=1&a[]=2`, `a[0]=1`, `a=1` and `a=1,2` are all lists. */
export const List = <S extends TSchema>(item: S, options: SchemaOptions = {}) =>
  reading('list', Type.Array(item, { maxItems: 1_000, ...options }));

/** An array, or the same JSON-encoded in a text. */
export const JsonList = <S extends TSchema>(item: S, options: SchemaOptions = {}) =>
  reading('json', Type.Array(item, { maxItems: 1_000, ...options }));

/** An object whose keys are the client's own, values text or null. */
export const CustomProperties = Type.Unsafe<Record<string, string | null>>(
  reading(
    'json',
    Type.Unsafe({
      type: 'object',
      maxProperties: 200,
      propertyNames: { type: 'string', minLength: 1, maxLength: 40 },
      additionalProperties: { type: ['string', 'null'], maxLength: 255 },
    }),
  ),
);

/** What a date filter takes; read into a text that PostgreSQL takes as `timestamptz` in the service's time zone. */
export const Moment = (options: SchemaOptions = {}) => reading('date-time', Type.String({ maxLength: 40, ...options }));

/** The same for what is stored and answered: in every zone it has a year of four digits, after Christ. */
export const StoredMoment = () => reading('stored-date-time', Type.String({ maxLength: 40 }));

/** What the calendar and the clocks say somewhere, without a zone. Named `…Field`, since answers have days and times too. */
export const DayField = (options: SchemaOptions = {}) =>
  reading('day', Type.String({ maxLength: 10, description: 'yyyy-mm-dd', ...options }));
export const TimeField = (options: SchemaOptions = {}) =>
  reading('time-of-day', Type.String({ maxLength: 8, description: 'hh:mm or hh:mm:ss', ...options }));
export const LocalTimeField = (options: SchemaOptions = {}) =>
  reading('local-time', Type.String({ maxLength: 19, description: 'yyyy-mm-dd hh:mm', ...options }));

/** What answers show: ISO 8601 with a numeric offset, in the service's time zone. */
export const DateTime = Type.String({ format: 'date-time', examples: ['2026-07-01T09:00:00+02:00'] });

/** What admin users, instructors and vouchers show instead: no offset, in the service's time zone. */
export const PlainDateTime = Type.String({ examples: ['2026-07-01 09:00:00'] });

/** What `Moment` takes, or the keyword `now`, which stays as it is. */
export const NowOrMoment = (options: SchemaOptions = {}) =>
  reading('now-or-date-time', Type.String({ maxLength: 40, ...options }));
