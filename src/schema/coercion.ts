import type { TSchema } from '@sinclair/typebox';
import { parseJson } from '../core/json.ts';
import { Problem } from '../core/errors.ts';
import { emptyValue, Read, type Reading } from './types.ts';
import { asLine, asTitle } from '../lib/text.ts';
import { readDay, readLocalTime, readMoment, readStoredMoment, readTimeOfDay } from '../lib/timestamps.ts';

/** Stands for a value that cannot be read as its field's type; no type of any schema accepts it. */
const unreadable = Symbol('unreadable');
/** Stands for a value that was sent empty, or not at all. */
const unset = Symbol('unset');

type Reader = (raw: unknown) => unknown;
type Fields = Record<string, unknown>;

/**
 * Compiles how the fields of a schema are read from a form, a query or JSON, which all mean the same: texts become
 * the field's type, and an empty one is left out (so that its default holds) or, where the field may be null, null; a
 * field of an update may say otherwise.
 * What cannot be read is left for the validator to refuse; what the schema does not know is dropped.
 */
export function createCoercion(schema: TSchema) {
  const read = objectReader(schema);
  return (raw: Fields) => read(raw) as Fields;
}

function getReader(schema: TSchema): Reader {
  const types = getTypes(schema);
  const emptied = emptyValue in schema ? schema[emptyValue] : types.includes('null') ? null : unset;
  const read = valueReader(schema, types.find((type) => type !== 'null') ?? 'string');
  return (raw) => {
    const value = isEmpty(raw) ? unset : read(raw);
    return value === unset ? emptied : value;
  };
}

const getTypes = ({ type }: TSchema) => (Array.isArray(type) ? (type as string[]) : [type as string]);
const isEmpty = (raw: unknown) => raw === undefined || raw === null || raw === '';
const isFields = (raw: unknown): raw is Fields => typeof raw === 'object' && raw !== null && !Array.isArray(raw);

/** PHP's JSON of an array without items, which may have been meant as an object. */
const isEmptyList = (raw: unknown) => Array.isArray(raw) && raw.length === 0;

function valueReader(schema: TSchema, type: string): Reader {
  const how = (schema as { [Read]?: Reading })[Read];
  if (Array.isArray(schema['anyOf'])) return eitherReader(schema['anyOf'] as TSchema[]);
  if (type === 'array') return listReader(schema['items'] as TSchema, how);
  if (type === 'object') return how === 'json' ? decoded(objectReader(schema)) : objectReader(schema);
  if (type === 'integer') return readNumber(/^-?\d{1,16}$/);
  if (type === 'number') return readNumber(/^-?\d{1,16}(\.\d{1,16})?$/);
  if (type === 'boolean') return readBoolean;
  return textReader(how, schema['maxLength'] as number | undefined);
}

/** An object where one was sent, else the plain value: ids or objects in one list. */
function eitherReader(schemas: TSchema[]): Reader {
  const object = getReader(schemas.find((schema) => schema['type'] === 'object')!);
  const plain = getReader(schemas.find((schema) => schema['type'] !== 'object')!);
  return (raw) => (isFields(raw) ? object(raw) : plain(raw));
}

function objectReader(schema: TSchema): Reader {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>).map(
    ([name, property]) => [name, getReader(property)] as const,
  );
  const others = schema['additionalProperties'] as TSchema | undefined;
  const readOther = typeof others === 'object' ? getReader(others) : undefined;
  const maxNames = (schema['maxProperties'] as number | undefined) ?? maxItems;

  return (input) => {
    const raw = isEmptyList(input) ? {} : input;
    if (!isFields(raw)) return unreadable;
    const fields = Object.create(null) as Fields;
    for (const [name, read] of properties) {
      const value = Object.hasOwn(raw, name) ? read(raw[name]) : unset;
      if (value !== unset) fields[name] = value;
    }
    if (readOther) {
      const names = Object.keys(raw);
      if (names.length > maxNames) return unreadable;
      for (const name of names) {
        const value = isKey(name) ? readOther(raw[name]) : unreadable;
        if (value !== unset) fields[name] = value;
      }
    }
    return fields;
  };
}

const maxItems = 1_000;

/** A form's `a[0]=x&a[1]=y`, and PHP's JSON of an array with gaps, are objects with numbers for names. */
export function getItems(raw: unknown): unknown[] {
  if (Array.isArray(raw)) return raw;
  if (isFields(raw) && Object.keys(raw).every((name) => /^\d+$/.test(name)))
    return Object.values(raw).flatMap((item) => (isEmptyList(item) ? [item] : item));
  return [raw];
}

/** Empty items are left out, but for objects: there they keep their places, so that a fault names the right one. */
function listReader(items: TSchema, how: Reading | undefined): Reader {
  const item = getReader(items);
  const keepsPlaces = items['type'] === 'object';
  const split = (raw: unknown) =>
    how === 'list' && typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : [raw];
  const read: Reader = (raw) => {
    const parts = getItems(raw).flatMap(split);
    // Not worth reading one by one: it is refused for its length.
    if (parts.length > maxItems) return unreadable;
    const values = parts.map(item);
    if (values.every((value) => value === unset)) return unset;
    return keepsPlaces
      ? values.map((value) => (value === unset ? {} : value))
      : values.filter((value) => value !== unset);
  };
  return how === 'json' ? decoded(read) : read;
}

/** Reads a text that looks like JSON as what it encodes. */
const decoded =
  (read: Reader): Reader =>
  (raw) => {
    if (typeof raw !== 'string' || !/^\s*[[{]/.test(raw)) return read(raw);
    try {
      return read(parseJson(raw, 'error'));
    } catch (error) {
      if (error instanceof Problem) throw error;
      return unreadable;
    }
  };

/** A value that a client may also send as a JSON text, as it is read; undefined when the text cannot be. */
export function parsed(schema: TSchema, raw: unknown): unknown {
  if ((schema as { [Read]?: Reading })[Read] !== 'json') return raw;
  try {
    return decoded((value) => value)(raw);
  } catch {
    return undefined;
  }
}

const readNumber =
  (pattern: RegExp): Reader =>
  (raw) => {
    if (typeof raw !== 'string') return raw;
    return pattern.test(raw) ? Number(raw) : unreadable;
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

const readBoolean: Reader = (raw) => {
  if (typeof raw === 'boolean') return raw;
  const word = typeof raw === 'number' ? String(raw) : raw;
  if (typeof word !== 'string' || !Object.hasOwn(booleans, word.toLowerCase())) return unreadable;
  return booleans[word.toLowerCase()];
};

/** Refuses what the database cannot store or could only store mangled: NUL, lone surrogates, bytes that were no UTF-8. */
const readText: Reader = (raw) => {
  const text = typeof raw === 'number' && Number.isFinite(raw) ? String(raw) : raw;
  if (typeof text !== 'string' || !text.isWellFormed() || /[\0\uFFFD]/.test(text)) return unreadable;
  return text;
};

/** A name that a client chose: a text of one line. */
const isKey = (name: string) => readText(name) === name && asLine(name) === name;

function textReader(how: Reading | undefined, maxLength = Number.MAX_SAFE_INTEGER): Reader {
  return (raw) => {
    const text = readText(raw);
    if (typeof text !== 'string') return text;
    // Two units make a character at most. Normalizing a far too long text could take minutes.
    if (text.length > 2 * maxLength) return unreadable;
    if (how === 'title') return asTitle(text) || unset;
    if (how === 'line') return asLine(text) || unset;
    // Codes are of plain letters, while `ß` would become `SS`.
    if (how === 'upper') return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
    if (how === 'now-or-date-time' && text === 'now') return text;
    if (how === 'date-time' || how === 'now-or-date-time') return readMoment(text) ?? unreadable;
    if (how === 'stored-date-time') return readStoredMoment(text) ?? unreadable;
    if (how === 'day') return readDay(text) ?? unreadable;
    if (how === 'time-of-day') return readTimeOfDay(text) ?? unreadable;
    if (how === 'local-time') return readLocalTime(text) ?? unreadable;
    return text;
  };
}
