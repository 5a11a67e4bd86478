import Negotiator from 'negotiator';

/** The languages labels exist in. */
export type Language = 'en' | 'no';
export const languages = ['en', 'no'] as const;

export type Label = Record<Language, string>;

/** Norwegian by any of its codes, else English, else the service's default. */
export function preferredLanguage(acceptLanguage: string | undefined, fallback: Language): Language {
  if (!acceptLanguage) return fallback;
  const offered = fallback === 'no' ? ['no', 'nb', 'nn', 'en'] : ['en', 'no', 'nb', 'nn'];
  const best = new Negotiator({ headers: { 'accept-language': acceptLanguage } }).language(offered);
  if (best === undefined) return fallback;
  return best === 'en' ? 'en' : 'no';
}
