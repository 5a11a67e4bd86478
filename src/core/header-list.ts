/** Choosing from thousands of values takes milliseconds; clients send fewer than 500 characters. */
const maxLength = 500;

/** The value of a header that lists choices, without those beyond the bound; undefined if none is left. */
export function truncateHeaderList(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLength) return value;
  return value.slice(0, Math.max(0, value.lastIndexOf(',', maxLength))) || undefined;
}
