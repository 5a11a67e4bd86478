/** Choosing from thousands of values takes milliseconds; clients send fewer than 500 characters. */
const maxLength = 500;

/** The value of a header that lists choices, without those beyond the bound. */
export const cutList = (value: string) =>
  value.length <= maxLength ? value : value.slice(0, Math.max(0, value.lastIndexOf(',', maxLength)));
