import { invalidFields } from '../core/errors.ts';

type Properties = Record<string, string | null>;
const mostProperties = 200;

/**
 * Custom properties after an update: what was sent goes over what is stored, and an empty value removes its key. Not
 * sent they stay, sent empty as a whole they go; null when there is none left.
 */
export function mergedProperties(stored: Properties | null, sent: Properties | null | undefined): Properties | null {
  if (sent === null) return null;
  const kept = Object.entries({ ...stored, ...sent }).filter(([, value]) => value !== null);
  if (kept.length > mostProperties) throw invalidFields({ notValid: ['custom_properties'] });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
