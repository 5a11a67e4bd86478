import Negotiator from 'negotiator';
import { truncateHeaderList } from '../text.ts';

/** Languages of labels. */
export type Language = 'en' | 'no';
export const languages = ['en', 'no'] as const;

/** Locales of dates and amounts. */
export const locales: Record<Language, string> = { en: 'en-GB', no: 'nb-NO' };

/** The one other language. */
export const otherLanguage = (language: Language): Language => (language === 'en' ? 'no' : 'en');

export type Label = Record<Language, string>;

/** Selects the language by Accept-Language; `nb` and `nn` select Norwegian. */
export function preferredLanguage(acceptLanguage: string | undefined, fallback: Language): Language {
  const sent = truncateHeaderList(acceptLanguage);
  if (!sent) return fallback;
  const supported = fallback === 'no' ? ['no', 'nb', 'nn', 'en'] : ['en', 'no', 'nb', 'nn'];
  const best = new Negotiator({ headers: { 'accept-language': sent } }).language(supported);
  if (best === undefined) return fallback;
  return best === 'en' ? 'en' : 'no';
}
