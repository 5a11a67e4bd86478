import type { Language } from '../reference/language.ts';

const locales: Record<Language, string> = { en: 'en-GB', no: 'nb-NO' };

/** `2030-06-10` as `Monday 10 June 2030` or `mandag 10. juni 2030`. */
export function dayInWords(day: string, language: Language) {
  const format = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(locales[language], format).format(new Date(day)).replaceAll(',', '');
}

/** Days, and times of day where there are any, on the clocks of the place. */
export type Span = { startAt: string; endAt: string; startTimeAt: string | null; endTimeAt: string | null };

/** `Monday 10 June 2030, 09:00–15:00`; over several days each end has its day. */
export function spanInWords({ startAt, endAt, startTimeAt, endTimeAt }: Span, language: Language) {
  const [from, to] = [clock(startTimeAt), clock(endTimeAt)];
  if (startAt === endAt) return joined(dayInWords(startAt, language), [from, to].filter(Boolean).join('–'));
  return `${joined(dayInWords(startAt, language), from)} – ${joined(dayInWords(endAt, language), to)}`;
}

const clock = (time: string | null) => time?.slice(0, 5) ?? '';
const joined = (day: string, time: string) => (time === '' ? day : `${day}, ${time}`);
