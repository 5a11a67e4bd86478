import { Problem } from '../core/errors.ts';

type Properties = Record<string, string | null>;
const maxProperties = 200;

/**
 * Merges an update into stored properties; null values remove their keys. An undefined input changes nothing, a null
 * input removes all. Returns null if none is left; throws if there are more than 200.
 */
export function mergeCustomProperties(
  stored: Properties | null,
  input: Properties | null | undefined,
): Properties | null {
  if (input === null) return null;
  const merged = Object.entries({ ...stored, ...input }).filter(([, value]) => value !== null);
  if (merged.length > maxProperties) throw Problem.invalidFields({ notValid: ['custom_properties'] });
  return merged.length === 0 ? null : Object.fromEntries(merged);
}

/** For text columns that are not nullable. */
export const emptyIfNull = (input: string | null | undefined) => (input === null ? '' : input);
