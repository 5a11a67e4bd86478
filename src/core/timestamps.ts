import { LRUCache } from 'lru-cache';

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z| ?[+\- ]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses `yyyy-mm-dd`, `yyyy-mm-dd hh:mm[:ss[.fraction]]` and the `T` form, with or without an offset, into a PostgreSQL
 * `timestamptz` literal. Without an offset it is in the service's time zone. Truncates to microseconds. A space before
 * the offset is allowed; a space instead of its sign is an unescaped `+`. Undefined if it is not a valid date and time.
 */
export function parseTimestamp(text: string): string | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction, offset = ''] = match;
  if (!isDate(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;

  const zone = readOffset(offset);
  if (zone === undefined) return undefined;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}${fraction ? `.${fraction.slice(0, 6)}` : ''}${zone}`;
}

/** `parseTimestamp`, limited so that the year is within 1 to 9999 in every time zone. */
export function parseStoredTimestamp(text: string): string | undefined {
  const moment = parseTimestamp(text);
  return moment !== undefined && moment >= '0001-01-03' && moment < '9999-12-30' ? moment : undefined;
}

/** True for a valid date from year 1 on. */
function isDate(year: number, month: number, day: number) {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

/** Costly to create. */
const dayFormats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

/** The day now in a time zone, as `yyyy-mm-dd`. */
export function todayIn(timeZone: string): string {
  const format = dayFormats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone });
  dayFormats.set(timeZone, format);
  return format.format(new Date());
}

/** Parses `yyyy-mm-dd`; undefined if invalid. */
export function parseDay(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  return isDate(Number(year), Number(month), Number(day)) ? text : undefined;
}

/** The last microsecond of a bare day; other texts stay as they are. */
export const toDayEnd = (text: string) => (parseDay(text) === undefined ? text : `${text} 23:59:59.999999`);

/** Parses `hh:mm` or `hh:mm:ss` into `hh:mm:ss`; undefined if invalid. */
export function parseTimeOfDay(text: string): string | undefined {
  const [, time, second = ':00'] = /^((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d)?$/.exec(text) ?? [];
  return time && `${time}${second}`;
}

/** Parses `yyyy-mm-dd` or `yyyy-mm-dd hh:mm[:ss]`, also with `T`; undefined if invalid. */
export function parseLocalTime(text: string): string | undefined {
  const [date = '', time, ...rest] = text.split(/[T ]/);
  const [day, timeOfDay] = [parseDay(date), parseTimeOfDay(time ?? '')];
  if (time === undefined) return day;
  return day !== undefined && timeOfDay !== undefined && rest.length === 0 ? `${day} ${timeOfDay}` : undefined;
}

function readOffset(input: string): string | undefined {
  if (input === '') return '';
  const offset = /^ [+\- ]/.test(input) ? input.slice(1) : input;
  if (offset.toUpperCase() === 'Z') return '+00:00';
  const hours = offset.slice(1, 3);
  const minutes = offset.length > 3 ? offset.slice(-2) : '00';
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined;
  return `${offset[0] === '-' ? '-' : '+'}${hours}:${minutes}`;
}

/** Formats `2026-07-01 09:00:00.123456+02`, in the session's time zone, as `2026-07-01T09:00:00+02:00`. */
export function formatTimestamp(stored: string): string;
export function formatTimestamp(stored: string | null): string | null;
export function formatTimestamp(stored: string | null) {
  if (stored === null) return null;
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}${getOffset(stored)}`;
}

/** `yyyy-mm-dd hh:mm:ss`, the format of admin users and instructors. */
export function formatPlainTimestamp(stored: string): string;
export function formatPlainTimestamp(stored: string | null): string | null;
export function formatPlainTimestamp(stored: string | null) {
  return stored?.slice(0, 19) ?? null;
}

/** `formatTimestamp` with the fraction, for clients that sync from this time. */
export function formatExactTimestamp(stored: string): string {
  const fraction = /\.\d+/.exec(stored)?.[0] ?? '';
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}${fraction}${getOffset(stored)}`;
}

function getOffset(stored: string) {
  const sign = stored.indexOf('+', 19);
  const offset = stored.slice(sign === -1 ? stored.indexOf('-', 19) : sign);
  // Offsets before standard time include seconds, which ISO 8601 does not allow.
  return offset.length === 3 ? `${offset}:00` : offset.slice(0, 6);
}
