import { invalidFields } from './problem.ts';
import { mostProperties } from './schema.ts';

type Properties = Record<string, string | null>;

/**
 * Custom properties as they are after a write: what was sent is laid over what was there, null removes a key, and null
 * in place of an object removes all. Without any key there is nothing to store.
 */
export function mergedProperties(stored: Properties | null, sent: Properties | null | undefined): Properties | null {
  if (sent === undefined || sent === null) return sent === null ? null : stored;
  const merged = new Map([...Object.entries(stored ?? {}), ...Object.entries(sent)]);
  const kept = [...merged].filter(([, value]) => value !== null);
  if (kept.length > mostProperties) throw invalidFields({ notValid: ['custom_properties'] });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
