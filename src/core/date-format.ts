import { locales, type Language } from './reference/language.ts';

const format = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;

/** Costly to create. */
const dayFormats = new Map<Language, Intl.DateTimeFormat>();

/** Formats `2030-06-10` as `Monday 10 June 2030` or `mandag 10. juni 2030`. */
export function formatDay(day: string, language: Language) {
  const dayFormat = dayFormats.get(language) ?? new Intl.DateTimeFormat(locales[language], format);
  dayFormats.set(language, dayFormat);
  return dayFormat.format(new Date(day)).replaceAll(',', '');
}

/** A range of local days, with times of day if known. */
export type DateSpan = { startAt: string; endAt: string; startTimeAt: string | null; endTimeAt: string | null };

const until: Record<Language, string> = { en: 'until', no: 'til' };

/** Formats a span: one entry with both times for a single day, else one entry each for the first and last day. */
export function spanEnds({ startAt, endAt, startTimeAt, endTimeAt }: DateSpan, language: Language) {
  const [startTime, endTime] = [toHoursAndMinutes(startTimeAt), toHoursAndMinutes(endTimeAt)];
  const entry = (day: string, time: string) => ({ day: formatDay(day, language), time });
  if (startAt === endAt && startTime === '' && endTime !== '') return [entry(startAt, `${until[language]} ${endTime}`)];
  if (startAt === endAt) return [entry(startAt, [startTime, endTime].filter(Boolean).join('–'))];
  return [entry(startAt, startTime), entry(endAt, endTime)];
}

const toHoursAndMinutes = (time: string | null) => time?.slice(0, 5) ?? '';

/** Splits the timestamps `yyyy-mm-dd hh:mm:ss` of a session into days and times. */
export const toDateSpan = ({ gatheringAt, gatheringEndAt }: Record<`gathering${'' | 'End'}At`, string>): DateSpan => ({
  startAt: gatheringAt.slice(0, 10),
  startTimeAt: gatheringAt.slice(11),
  endAt: gatheringEndAt.slice(0, 10),
  endTimeAt: gatheringEndAt.slice(11),
});

/** Formats `2026-07-01` as `01.07.2026`. */
export const dayText = (day: string) => `${day.slice(-2)}.${day.slice(-5, -3)}.${day.slice(0, -6)}`;

/** The days and the place of a course date, for its order. */
export const detailedOrderTitle = (startAt: string, endAt: string, place: string | null) =>
  [dayText(startAt), dayText(endAt), ...(place ? [place] : [])].join(' - ');
