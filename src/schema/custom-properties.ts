import { invalidFields } from '../core/errors.ts';

type Properties = Record<string, string | null>;
const maxProperties = 200;

/**
 * Custom properties after an update: what was sent goes over what is stored, and an empty value removes its key. Not
 * sent they stay, sent empty as a whole they go; null when there is none left.
 */
export function mergedProperties(stored: Properties | null, input: Properties | null | undefined): Properties | null {
  if (input === null) return null;
  const kept = Object.entries({ ...stored, ...input }).filter(([, value]) => value !== null);
  if (kept.length > maxProperties) throw invalidFields({ notValid: ['custom_properties'] });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
