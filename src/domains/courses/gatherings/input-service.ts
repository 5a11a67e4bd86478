import type { ErrorCode } from '../../../core/error-codes.ts';
import type { gatherings } from '../../../database/tables/coursedates.ts';
import type { GatheringField } from './fields.ts';

export type Gathering = ReturnType<typeof toTimes>;

/** Missing members and contradictory times of gatherings; values that the schema rejects are skipped. */
export function gatheringErrors(input: unknown) {
  const items = Array.isArray(input) ? (input as GatheringField[]) : [];
  const missing = items.flatMap((item, n) => missingMembers(item).map((name) => `gatherings[${n}].${name}`));
  const isComplete = missing.length === 0 && items.every(hasTimes);
  const endsTooEarly = isComplete && items.some((item) => getEnd(item) <= getStart(item));
  const rules: Record<string, ErrorCode> = endsTooEarly ? { gatherings: 'end_before_start' } : {};
  return { missing, rules };
}

const hasTimes = (item: unknown): item is GatheringField =>
  typeof item === 'object' &&
  item !== null &&
  Object.entries(item).every(([name, value]) => typeof value === 'string' || !timeNames.has(name));
const timeNames = new Set(['gathering_at', 'gathering_end_at', 'date', 'time_start', 'time_end']);

/** A day without a time needs the field that holds it. */
function missingMembers(item: GatheringField): string[] {
  if (!hasTimes(item)) return [];
  const { gathering_at, gathering_end_at, date, time_start, time_end } = item;
  const start = gathering_at ?? date;
  const end = gathering_end_at ?? (time_end === undefined ? undefined : 'yyyy-mm-dd');
  return [
    ...(start === undefined ? ['gathering_at'] : isDay(start) && time_start === undefined ? ['time_start'] : []),
    ...(end === undefined && (date === undefined || gathering_at !== undefined) ? ['gathering_end_at'] : []),
    ...(end === undefined && date !== undefined && gathering_at === undefined ? ['time_end'] : []),
    ...(end !== undefined && isDay(end) && time_end === undefined ? ['time_end'] : []),
  ];
}

const isDay = (moment: string) => moment.length === 'yyyy-mm-dd'.length;
const getStart = (input: GatheringField) => localTime(input.gathering_at ?? input.date, input.time_start);
const getEnd = (input: GatheringField) =>
  localTime(input.gathering_end_at ?? getStart(input).slice(0, 10), input.time_end);

export const toTimes = (input: GatheringField) => ({
  ...input,
  start: getStart(input),
  end: getEnd(input),
  instructors: [...new Set(input.instructors)],
});

/** Appends the time of day to a day. */
const localTime = (moment = '', time = '') => (isDay(moment) ? `${moment} ${time}` : moment);

export const toColumns = ({ idLocation, start, end, description, theme, event_url }: Gathering) => ({
  locationId: idLocation ?? null,
  gatheringAt: start,
  gatheringEndAt: end,
  description: description ?? null,
  theme: theme ?? null,
  eventUrl: event_url ?? null,
});

export type StoredGathering = typeof gatherings.$inferSelect & { isMarked: boolean };
export type Matches = Map<Gathering, StoredGathering>;

/** Finds the stored gathering of each gathering that is sent: see `replaceGatherings`. */
export function matchStored(stored: StoredGathering[], sent: Gathering[]): Matches {
  const matches: Matches = new Map();
  const free = new Set(stored);
  const begins = (row: StoredGathering, { start }: Gathering) => toMinute(row.gatheringAt) === toMinute(start);
  const match = (isMatch: (row: StoredGathering, one: Gathering, n: number) => boolean) => {
    for (const [n, one] of sent.entries()) {
      const found = matches.has(one) ? undefined : [...free].find((row) => isMatch(row, one, n));
      if (found === undefined) continue;
      matches.set(one, found);
      free.delete(found);
    }
  };
  match(({ id }, one) => id === one.id);
  match((row, one) => begins(row, one) && toMinute(row.gatheringEndAt) === toMinute(one.end));
  match(begins);
  const left = [
    ...sent.filter((one) => !matches.has(one)).map(({ start }) => start),
    ...[...free].map((row) => row.gatheringAt),
  ];
  const areAloneOnDay = (row: StoredGathering, { start }: Gathering) => {
    const isOnDay = (moment: string) => moment.startsWith(start.slice(0, 10));
    return isOnDay(row.gatheringAt) && left.filter(isOnDay).length === 2;
  };
  match((row, one, n) => row === stored[n] && (!row.isMarked || areAloneOnDay(row, one)));
  return matches;
}

const toMinute = (moment: string) => moment.slice(0, 16);

/** Equal for equal members. */
export const toKey = (row: ReturnType<typeof toColumns>, instructorIds: number[]) => {
  const { locationId, description, theme, eventUrl } = row;
  const times = [row.gatheringAt, row.gatheringEndAt].map(toMinute);
  const ids = [...instructorIds].sort((a, b) => a - b);
  return JSON.stringify([...times, locationId, description, theme, eventUrl, ids]);
};
