import { createHash } from 'node:crypto';
import type { Fields } from './record-type.ts';

/**
 * A hash of a line's values as they stand in the file, whatever their order and their form in JSON or CSV. Without the
 * password, which a fast hash would expose.
 */
export function hashContent(fields: Fields): string {
  const text = JSON.stringify(toComparable({ ...fields, password: undefined }));
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

const isUnset = (value: unknown) => value === undefined || value === null || value === '';

function toComparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComparable);
  if (typeof value !== 'object' || value === null)
    return isUnset(value) ? null : typeof value === 'string' ? value : JSON.stringify(value);
  const set = Object.entries(value).filter(([, member]) => !isUnset(member));
  return set.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, toComparable(member)]);
}
