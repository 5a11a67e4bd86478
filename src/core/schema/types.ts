import {
  OptionalKind,
  Type,
  type ObjectOptions,
  type SchemaOptions,
  type Static,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from '@sinclair/typebox';
import { Problem } from '../errors.ts';
import { addressPattern } from '../text.ts';

/** Schema key of the coercion applied before validation. A symbol, so that Ajv and the OpenAPI document ignore it. */
export const coercionKind = Symbol('Read');
export type CoercionKind =
  | 'title'
  | 'email'
  | 'email-parameter'
  | 'line'
  | 'lines'
  | 'upper'
  | 'date-time'
  | 'stored-date-time'
  | 'stored-end-date-time'
  | 'now-or-date-time'
  | 'day'
  | 'time-of-day'
  | 'local-time'
  | 'list'
  | 'json';

/** Schema key of the value that replaces an empty one; see `partialUpdate`. */
export const emptyValue = Symbol('emptyValue');

/** Schema key of the schema's name in the OpenAPI document. A symbol, so that Ajv and the serializers ignore it. */
export const componentName = Symbol('componentName');

/** Schema key of a description that belongs to the component, not to one of its uses. */
export const componentDescription = Symbol('componentDescription');

/** Schema key of the access that a member of a response declares. */
const memberAccess = Symbol('memberAccess');
type MemberAccess = {
  /** The kind of its data, for rules on storage and transport. */
  data: 'operational' | 'personal' | 'financial';
  /** Shown to approved partners. */
  partner?: true;
  /** Shown to publishable keys. */
  publishable?: true;
};

/** Declares a member of a response, or with `all` each of several. */
export type Declare = (<S extends TSchema>(schema: S) => S) & { all: <P extends TProperties>(members: P) => P };

/** Members that the school alone sees, unless the declaration opens them to partners or publishable keys. */
function access(declared: MemberAccess): Declare {
  const declare = <S extends TSchema>(schema: S): S => ({ ...schema, [memberAccess]: declared });
  const all = <P extends TProperties>(members: P) =>
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, declare(schema)])) as P;
  return Object.assign(declare, { all });
}

/** Undefined for a member that declares nothing, which nobody but the school sees. */
export const findAccess = (schema: TSchema) => (schema as { [memberAccess]?: MemberAccess })[memberAccess];

/** True for personal data that only the school sees. */
export function isPrivate(schema: TSchema) {
  const { data, partner, publishable } = findAccess(schema) ?? {};
  return data === 'personal' && !partner && !publishable;
}

/** Declares members of responses, one by one or with `all`; only `open` and `shared` ones are seen by others. */
export const member = {
  access,
  open: access({ data: 'operational', partner: true, publishable: true }),
  openPersonal: access({ data: 'personal', partner: true, publishable: true }),
  /** Seen by partners. */
  shared: access({ data: 'operational', partner: true }),
  closed: access({ data: 'operational' }),
  personal: access({ data: 'personal' }),
  financial: access({ data: 'financial' }),
};

/** Names a schema: the OpenAPI document defines it once, and refers to it by its name. */
export const named = <S extends TSchema>(name: string, schema: S): S => ({ ...schema, [componentName]: name });

export const findName = (schema: TSchema) => (schema as { [componentName]?: string })[componentName];

/** The derived schema under the name of the original, or without a name. */
export function copyName<S extends TSchema>(original: TSchema, derived: S): S {
  const name = findName(original);
  return name === undefined ? derived : named(name, derived);
}

export const NamedObject = <P extends TProperties>(name: string, properties: P, options: ObjectOptions = {}) =>
  named(name, Type.Object(properties, options));

export const findCoercion = (schema: TSchema) => (schema as { [coercionKind]?: CoercionKind })[coercionKind];
export const findProperties = (schema: TSchema | undefined) => (schema?.['properties'] ?? {}) as TProperties;

export const keysOf = <T extends object>(members: T) => Object.keys(members) as (keyof T & string)[];

/** An object with a member for each name. */
export const byName = <K extends string, V>(names: readonly K[], toValue: (name: K) => V) =>
  Object.fromEntries(names.map((name) => [name, toValue(name)])) as Record<K, V>;

const coerced = <S extends TSchema>(kind: CoercionKind, schema: S): S => ({ ...schema, [coercionKind]: kind });

/** Uses a list of types instead of a union, which would be slower to serialize. */
export const Nullable = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [getType(schema), 'null'],
    ...(Array.isArray(schema['enum']) ? { enum: [...(schema['enum'] as unknown[]), null] } : {}),
  });

/** The default applies to a missing value, and to an empty one in an update. */
const withDefault = <S extends TSchema>(schema: S, value: Static<S>) =>
  Type.Optional({ ...schema, default: value } as S & { default: Static<S> });

function getType(schema: TSchema) {
  if (typeof schema['type'] !== 'string') throw new Error('Only a schema of one type can be made nullable');
  return schema['type'];
}

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const Count = (options: SchemaOptions = {}) => Type.Integer({ minimum: 0, maximum: 2_147_483_647, ...options });

/** An amount or a percentage with two decimals at most. */
const Amount = (options: SchemaOptions = {}) =>
  Type.Number({ minimum: 0, maximum: 9_999_999_999.99, multipleOf: 0.01, ...options });

/** Text lengths are in code points. */
export const Title = (options: SchemaOptions = {}) =>
  coerced('title', Type.String({ minLength: 1, maxLength: 255, ...options }));
export const Line = (options: SchemaOptions = {}) => coerced('line', Type.String({ maxLength: 255, ...options }));
export const LongLine = (options: SchemaOptions = {}) => Line({ maxLength: 5_000, ...options });
/** A text of several lines, without control characters and blanks at its ends. */
export const Lines = (options: SchemaOptions = {}) => coerced('lines', Type.String({ maxLength: 5_000, ...options }));
export const Note = (options: SchemaOptions = {}) => Type.String({ maxLength: 5_000, ...options });
export const Html = (options: SchemaOptions = {}) => Type.String({ maxLength: 65_000, ...options });
export const Email = (options: SchemaOptions = {}) =>
  coerced('email', Type.String({ maxLength: 254, pattern: addressPattern, ...options }));
/** An address in a query, where a blank is an unescaped `+`; any text, since it may match nothing. */
export const EmailParameter = (options: SchemaOptions = {}) =>
  coerced('email-parameter', Type.String({ minLength: 1, maxLength: 255, ...options }));
const Url = (options: SchemaOptions = {}) =>
  Type.String({
    maxLength: 2_000,
    pattern: '^[hH][tT][tT][pP][sS]?://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$',
    ...options,
  });

export const OneOf = <const T extends readonly (string | number)[]>(values: T, options: SchemaOptions = {}) =>
  Type.Unsafe<T[number]>({ type: typeof values[0] === 'number' ? 'integer' : 'string', enum: values, ...options });

/** A code in any case, coerced to upper case. */
export const UpperCode = <const T extends readonly string[]>(values: T, options: SchemaOptions = {}) =>
  coerced('upper', OneOf(values, options));

/** Accepts `a[]=1&a[]=2`, `a[0]=1`, `a=1` and `a=1,2`. */
export const List = <S extends TSchema>(item: S, options: SchemaOptions = {}) =>
  coerced('list', Type.Array(item, { maxItems: 1_000, ...options }));

/** An array, or a text with the array as JSON. */
const JsonList = <S extends TSchema>(item: S, options: SchemaOptions = {}) =>
  coerced('json', Type.Array(item, { maxItems: 1_000, ...options }));

/** An object with such keys, all of an enumeration or at most `maxProperties`, or a text with the object as JSON. */
const NamedRecord = <T>(name: string, key: SchemaOptions, value: SchemaOptions, options: SchemaOptions = {}) => {
  const maxProperties = (key['enum'] as unknown[] | undefined)?.length;
  const keywords = { type: 'object', maxProperties, propertyNames: key, additionalProperties: value };
  return named(name, coerced('json', Type.Unsafe<Record<string, T>>({ ...keywords, ...options })));
};

const maxCustomProperties = 200;

/** Values are text or null. */
export const CustomProperties = NamedRecord<string | null>(
  'CustomProperties',
  { type: 'string', minLength: 1, maxLength: 40 },
  { type: ['string', 'null'], maxLength: 255 },
  { maxProperties: maxCustomProperties },
);

/** A date filter, coerced to a PostgreSQL `timestamptz` literal. */
export const Moment = (options: SchemaOptions = {}) =>
  named('Moment', coerced('date-time', Type.String({ maxLength: 40, ...options })));

/** A stored timestamp; its year is within 1 to 9999 in every time zone. */
export const StoredMoment = (options: SchemaOptions = {}) =>
  coerced('stored-date-time', Type.String({ maxLength: 40, ...options }));

/** `StoredMoment` in which a bare day stands for its end. */
export const StoredEnd = (options: SchemaOptions = {}) =>
  coerced('stored-end-date-time', Type.String({ maxLength: 40, ...options }));

/** Local dates and times of requests, without a time zone. */
const DayField = (options: SchemaOptions = {}) =>
  coerced('day', Type.String({ maxLength: 10, description: 'yyyy-mm-dd', ...options }));
const TimeField = (options: SchemaOptions = {}) =>
  coerced('time-of-day', Type.String({ maxLength: 8, description: 'hh:mm or hh:mm:ss', ...options }));
const LocalTimeField = (options: SchemaOptions = {}) =>
  coerced('local-time', Type.String({ maxLength: 19, description: 'yyyy-mm-dd hh:mm', ...options }));

/** Local dates and times of import files. */
export const Day = Type.String({ format: 'date' });
export const TimeOfDay = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.0+)?)?$' });
/** A moment in the time zone of the course date. */
export const LocalTime = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(:\\d{2})?$' });

/** Decimals of import files: floating point cannot represent every amount. */
export const AmountText = Type.String({ pattern: '^\\d{1,10}(\\.\\d{1,2})?$' });
export const PercentageText = Type.String({ pattern: '^(100(\\.0{1,2})?|\\d{1,2}(\\.\\d{1,2})?)$' });

/** Response format: ISO 8601 with a numeric offset, in the service's time zone. */
const DateTime = Type.String({ format: 'date-time' });

/** Response format of admin users and instructors: service time zone, no offset. */
const PlainDateTime = Type.String({ examples: ['2026-07-01 09:00:00'] });

/** A `Moment` or the keyword `now`. */
export const NowOrMoment = (options: SchemaOptions = {}) =>
  coerced('now-or-date-time', Type.String({ maxLength: 40, ...options }));

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
const partialUpdate = <P extends TProperties>(fields: P) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, Type.Optional(toUpdateField(field))]),
  ) as unknown as { [K in keyof P]: UpdateField<P[K]> };

function toUpdateField({ default: fallback, ...field }: TSchema): TSchema {
  if (!(OptionalKind in field)) return { ...field, [emptyValue]: null };
  if (field['type'] === 'boolean') return field;
  return fallback === undefined ? Nullable(field as TSchema) : { ...field, [emptyValue]: fallback as unknown };
}

type CustomPropertyValues = Record<string, string | null>;

/** Merges an update into stored properties, of which null removes one or all; null if none is left. Throws at 201. */
export function mergeCustomProperties(
  stored: CustomPropertyValues | null,
  input: CustomPropertyValues | null | undefined,
): CustomPropertyValues | null {
  if (input === null) return null;
  const merged = Object.entries({ ...stored, ...input }).filter(([, value]) => value !== null);
  if (merged.length > maxCustomProperties)
    throw Problem.invalidFields({ rules: { custom_properties: 'too_many_items' } });
  return merged.length === 0 ? null : Object.fromEntries(merged);
}

/** The types of fields and members, and what a field or a member declares. */
export const t = {
  ...{ named, NamedObject, Nullable, withDefault, partialUpdate, member },
  ...{ Id, Count, Amount, Title, Line, LongLine, Lines, Note, Html, Email, Url, OneOf, List, JsonList, NamedRecord },
  ...{ DayField, TimeField, LocalTimeField, StoredMoment, StoredEnd, DateTime, PlainDateTime },
  ...{ CustomProperties, mergeCustomProperties },
};
