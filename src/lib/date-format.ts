import type { Language } from '../reference/language.ts';

const locales: Record<Language, string> = { en: 'en-GB', no: 'nb-NO' };

/** `2030-06-10` as `Monday 10 June 2030` or `mandag 10. juni 2030`. */
export function dayInWords(day: string, language: Language) {
  const format = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(locales[language], format).format(new Date(day)).replaceAll(',', '');
}

/** Days, and times of day where there are any, on the clocks of the place. */
export type Span = { startAt: string; endAt: string; startTimeAt: string | null; endTimeAt: string | null };

/** A span's day with its times, or over several days its first and its last, each with a time where there is one. */
export function spanEnds({ startAt, endAt, startTimeAt, endTimeAt }: Span, language: Language) {
  const [from, to] = [clock(startTimeAt), clock(endTimeAt)];
  const end = (day: string, time: string) => ({ day: dayInWords(day, language), time });
  if (startAt === endAt) return [end(startAt, [from, to].filter(Boolean).join('–'))];
  return [end(startAt, from), end(endAt, to)];
}

const clock = (time: string | null) => time?.slice(0, 5) ?? '';

/** A gathering's moments, `yyyy-mm-dd hh:mm:ss`, as days and times of day. */
export const toDateSpan = ({ gatheringAt, gatheringEndAt }: { gatheringAt: string; gatheringEndAt: string }): Span => ({
  startAt: gatheringAt.slice(0, 10),
  startTimeAt: gatheringAt.slice(11),
  endAt: gatheringEndAt.slice(0, 10),
  endTimeAt: gatheringEndAt.slice(11),
});
