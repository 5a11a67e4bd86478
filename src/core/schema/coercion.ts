import type { TSchema } from '@sinclair/typebox';
import { parseJson } from '../json.ts';
import { Problem } from '../errors.ts';
import { emptyValue, findCoercion, findProperties, type CoercionKind } from './types.ts';
import { normalizeEmail, normalizeLineBreaks, normalizeTitle, toSingleLine, toStreamSafe } from '../text.ts';
import {
  parseDay,
  parseLocalTime,
  parseTimestamp,
  parseStoredTimestamp,
  parseTimeOfDay,
  toDayEnd,
} from '../timestamps.ts';

/** Marks a value that cannot be coerced; no schema accepts it. */
export const invalid = Symbol('invalid');
/** Marks a value that is empty or missing. */
const unset = Symbol('unset');

type Coerce = (raw: unknown) => unknown;
type Fields = Record<string, unknown>;

/**
 * Compiles a function that coerces fields from a form, a query or JSON to their types. An empty value is omitted, so
 * that its default applies, or null if the field is nullable, or the field's `emptyValue`. Values that cannot be
 * coerced fail in the validator; unknown fields are dropped.
 */
export function createCoercion(schema: TSchema) {
  const coerce = coerceObject(schema);
  return (raw: Fields) => coerce(raw) as Fields;
}

function compile(schema: TSchema): Coerce {
  const types = getTypes(schema);
  const whenEmpty = emptyValue in schema ? schema[emptyValue] : types.includes('null') ? null : unset;
  const coerce = compileValue(schema, types.find((type) => type !== 'null') ?? 'string');
  return (raw) => {
    const value = isEmpty(raw) ? unset : coerce(raw);
    return value === unset ? whenEmpty : value;
  };
}

export const getTypes = (schema: TSchema) => [schema['type'] as string | string[]].flat();
const isEmpty = (raw: unknown) => raw === undefined || raw === null || raw === '';
export const isFields = (raw: unknown): raw is Fields => typeof raw === 'object' && raw !== null && !Array.isArray(raw);

/** PHP encodes an empty associative array as `[]`. */
const isEmptyList = (raw: unknown) => Array.isArray(raw) && raw.length === 0;

function compileValue(schema: TSchema, type: unknown): Coerce {
  const kind = findCoercion(schema);
  if (Array.isArray(schema['anyOf'])) return coerceUnion(schema['anyOf'] as TSchema[]);
  if (type === 'array') return coerceList(schema, kind);
  if (type === 'object') return kind === 'json' ? decodeJson(coerceObject(schema)) : coerceObject(schema);
  if (type === 'integer') return coerceNumber(/^-?\d{1,16}$/);
  if (type === 'number') return coerceNumber(/^-?\d{1,16}(\.\d{1,16})?$/);
  if (type === 'boolean') return toBoolean;
  return coerceText(kind, schema['maxLength'] as number | undefined);
}

/** A list may mix ids and objects. */
function coerceUnion(schemas: TSchema[]): Coerce {
  const object = compile(schemas.find((schema) => schema['type'] === 'object')!);
  const scalar = compile(schemas.find((schema) => schema['type'] !== 'object')!);
  return (raw) => (isFields(raw) ? object(raw) : scalar(raw));
}

function coerceObject(schema: TSchema): Coerce {
  const properties = Object.entries(findProperties(schema)).map(
    ([name, property]) => [name, compile(property)] as const,
  );
  const additional = schema['additionalProperties'] as TSchema | undefined;
  const coerceAdditional = typeof additional === 'object' ? compile(additional) : undefined;
  const maxNames = (schema['maxProperties'] as number | undefined) ?? maxItems;

  return (input) => {
    const raw = isEmptyList(input) ? {} : input;
    if (!isFields(raw)) return invalid;
    const fields = Object.create(null) as Fields;
    for (const [name, coerce] of properties) {
      const value = Object.hasOwn(raw, name) ? coerce(raw[name]) : unset;
      if (value !== unset) fields[name] = value;
    }
    if (coerceAdditional) {
      const names = Object.keys(raw);
      if (names.length > maxNames) return invalid;
      for (const name of names) {
        const value = isKey(name) ? coerceAdditional(raw[name]) : invalid;
        if (value !== unset) fields[name] = value;
      }
    }
    return fields;
  };
}

const maxItems = 1_000;

/** A form's `a[0]=x&a[1]=y`, and PHP's JSON of an array with gaps, are objects with numeric keys. */
export function getItems(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw;
  if (isFields(raw) && Object.keys(raw).every((name) => /^\d+$/.test(name)))
    return Object.values(raw).flatMap((item) => (isEmptyList(item) ? [item] : item));
  return [raw];
}

/** Splits texts at commas, until there are more items than any list may have. */
function splitTexts(items: unknown[]) {
  const parts: unknown[] = [];
  for (const raw of items) {
    const rest = maxItems + 1 - parts.length;
    if (typeof raw === 'string') for (const part of raw.split(',', rest)) parts.push(part.trim());
    else parts.push(raw);
    if (parts.length > maxItems) break;
  }
  return parts;
}

/** Omits empty items, except in lists of objects, where errors name the index; an empty list counts as missing. */
function coerceList(schema: TSchema, kind: CoercionKind | undefined): Coerce {
  const items = schema['items'] as TSchema;
  const item = compile(items);
  const whenEmpty = schema['minItems'] === undefined ? unset : [];
  const keepsIndexes = items['type'] === 'object';
  const coerce: Coerce = (raw) => {
    const all = getItems(raw);
    // The validator would reject its length anyway.
    const parts = kind === 'list' && all.length <= maxItems ? splitTexts(all) : all;
    if (parts.length > maxItems) return invalid;
    const values = parts.map(item);
    if (values.every((value) => value === unset)) return whenEmpty;
    return keepsIndexes
      ? values.map((value) => (value === unset ? {} : value))
      : values.filter((value) => value !== unset);
  };
  return kind === 'json' ? decodeJson(coerce) : coerce;
}

/** Parses a text that looks like JSON before coercing it. */
const decodeJson =
  (coerce: Coerce): Coerce =>
  (raw) => {
    if (typeof raw !== 'string' || !/^\s*[[{]/.test(raw)) return coerce(raw);
    try {
      return coerce(parseJson(raw, 'error'));
    } catch (error) {
      if (error instanceof Problem) throw error;
      return invalid;
    }
  };

/** Parses a value that a client may send as JSON text; undefined if it is malformed. */
export function parsed(schema: TSchema, raw: unknown): unknown {
  if (findCoercion(schema) !== 'json') return raw;
  try {
    return decodeJson((value) => value)(raw);
  } catch {
    return undefined;
  }
}

const coerceNumber =
  (pattern: RegExp): Coerce =>
  (raw) => {
    if (typeof raw !== 'string') return raw;
    return pattern.test(raw) ? Number(raw) : invalid;
  };

const booleans: Record<string, boolean> = {
  1: true,
  true: true,
  yes: true,
  on: true,
  0: false,
  false: false,
  no: false,
  off: false,
};

export const toBoolean: Coerce = (raw) => {
  if (typeof raw === 'boolean') return raw;
  const text = typeof raw === 'number' ? String(raw) : raw;
  if (typeof text !== 'string' || !Object.hasOwn(booleans, text.toLowerCase())) return invalid;
  return booleans[text.toLowerCase()];
};

/** Rejects text that the database cannot store unchanged: NUL, lone surrogates, undecodable bytes. */
const toStorableText: Coerce = (raw) => {
  const text = typeof raw === 'number' && Number.isFinite(raw) ? String(raw) : raw;
  if (typeof text !== 'string' || !text.isWellFormed() || /[\0\uFFFD]/.test(text)) return invalid;
  return text;
};

/** True for a valid name of a custom property. */
const isKey = (name: string) => toStorableText(name) === name && toSingleLine(name) === name;

function coerceText(kind: CoercionKind | undefined, maxLength = Number.MAX_SAFE_INTEGER): Coerce {
  return (raw) => {
    const text = toStorableText(raw);
    if (typeof text !== 'string') return text;
    // A character has at most two UTF-16 units.
    if (text.length > 2 * maxLength) return invalid;
    if (kind === 'title') return normalizeTitle(text, maxLength) || unset;
    if (kind === 'email') return normalizeEmail(text, maxLength) || unset;
    if (kind === 'email-parameter') return normalizeEmail(text, maxLength).replaceAll(' ', '+') || unset;
    if (kind === 'line') return toStreamSafe(toSingleLine(text)) || unset;
    if (kind === 'lines') return toStreamSafe(normalizeLineBreaks(text).trim()) || unset;
    // ASCII only: `ß` would become `SS`.
    if (kind === 'upper') return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
    if (kind === 'now-or-date-time' && text === 'now') return text;
    if (kind === 'date-time' || kind === 'now-or-date-time') return parseTimestamp(text) ?? invalid;
    if (kind === 'stored-date-time') return parseStoredTimestamp(text) ?? invalid;
    if (kind === 'stored-end-date-time') return parseStoredTimestamp(toDayEnd(text)) ?? invalid;
    if (kind === 'day') return parseDay(text) ?? invalid;
    if (kind === 'time-of-day') return parseTimeOfDay(text) ?? invalid;
    if (kind === 'local-time') return parseLocalTime(text) ?? invalid;
    return text;
  };
}
