import { parseJson } from '../../core/json.ts';
import { getItems, toBoolean } from '../../core/schema/coercion.ts';

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object or a list, also as JSON text; undefined for another value. */
export function toFields(value: unknown): Fields | undefined {
  const parsed = typeof value === 'string' && /^\s*[[{]/.test(value) ? parseOrUndefined(value) : value;
  return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined;
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text, 'error');
  } catch {
    return undefined;
  }
}

/**
 * The paths at which a value, sent in any body format, differs from one that was read. Members that are not sent do not
 * differ; a path inside a list is that of the list.
 */
export function findDifferences(sent: unknown, read: unknown, path: string): string[] {
  if (typeof read !== 'object' || read === null) return isEqual(sent, read) ? [] : [path];
  const fields = toFields(sent);
  if (fields === undefined) return isEmpty(sent) && Object.keys(read).length === 0 ? [] : [path];
  if (Array.isArray(read)) {
    const items = getItems(fields);
    const isSame =
      items.length === read.length && read.every((one, n) => findDifferences(items[n], one, '').length === 0);
    return isSame ? [] : [path];
  }
  return Object.entries(fields).flatMap(([name, value]) =>
    Object.hasOwn(read, name) ? findDifferences(value, (read as Fields)[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}

export const isEmpty = (value: unknown) => value === undefined || value === null || value === '';

/** PHP encodes an empty associative array as `[]`. */
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Compares a value with a text, a number, a boolean or null. */
function isEqual(sent: unknown, read: unknown): boolean {
  if (isEmpty(read)) return isEmpty(sent) || isEmptyList(sent);
  if (typeof read === 'boolean') return toBoolean(sent) === read;
  if (typeof read === 'number') return typeof sent === 'string' ? sent !== '' && Number(sent) === read : sent === read;
  return read === (typeof sent === 'number' ? String(sent) : sent);
}
