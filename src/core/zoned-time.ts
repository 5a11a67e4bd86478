import { LRUCache } from 'lru-cache';

const dayMs = 86_400_000;

/** Costly to create. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 });

function getFormat(zone: string) {
  const known = formats.get(zone);
  if (known) return known;
  const day = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('sv-SE', { ...day, ...time, timeZone: zone });
  formats.set(zone, format);
  return format;
}

const toUtc = (local: string) => Date.parse(`${local.replace(' ', 'T')}Z`);

/** Limits between which every local time has a year of 1 to 9999. */
const [firstMs, lastMs] = [Date.parse('0001-01-02T00:00:00Z'), Date.parse('9999-12-31T00:00:00Z')];

function offsetAt(ms: number, zone: string) {
  const at = Math.floor(Math.min(Math.max(ms, firstMs), lastMs) / 1_000) * 1_000;
  // The format pads no year.
  return toUtc(getFormat(zone).format(at).padStart(19, '0')) - at;
}

/**
 * The instant of a local time `yyyy-mm-dd hh:mm[:ss]` in a time zone, in milliseconds. As in PostgreSQL, a time that the
 * clock skips has the offset before the change, and one that it shows twice has the offset after it.
 */
export function toInstant(local: string, zone: string): number {
  const utc = toUtc(local);
  const [before, after] = [offsetAt(utc - dayMs, zone), offsetAt(utc + dayMs, zone)];
  return utc - (offsetAt(utc - after, zone) === after ? after : before);
}

/** Formats a local time with the offset of its zone, as `2030-06-10T09:00:00+02:00`. */
export function withOffset(local: string, zone: string): string {
  const minutes = Math.round((toUtc(local) - toInstant(local, zone)) / 60_000);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${new Date(toUtc(local)).toISOString().slice(0, 19)}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}
