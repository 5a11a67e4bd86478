import { languages } from '../../../core/reference/language.ts';
import { maxDates } from './dates/upcoming.ts';
import { filterNames, type FilterName } from './dates/filters.ts';

/** Dates of the start page and of a search. */
export const pageSize = 400;
const lastPage = Math.ceil(maxDates / pageSize);
const maxLength = 200;

/** Cuts text without leaving half a character at its end. */
const readText = (text: string) => text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');

/** Every query value of pages and feeds: as it is read, or empty where it is malformed. `dates.json` has its schema. */
const values = {
  ...{ q: readText, category: readText, tag: readText, place: readText, language: readText },
  month: (text) => (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text) ? text : ''),
  /** Reads pages from the second one on. */
  page: (text) => (/^\d{1,9}$/.test(text) && Number(text) > 1 ? String(Math.min(Number(text), lastPage)) : ''),
  lang: (text) => languages.find((language) => language === text) ?? '',
} satisfies Record<FilterName | 'page' | 'lang', (text: string) => string>;
type Name = keyof typeof values;

/** The values of these names: an empty or malformed one is as if it was not sent, and of several the first counts. */
export function readQuery<N extends Name>(query: unknown, names: readonly N[]): Partial<Record<N, string>> {
  const entries = names.flatMap((name) => {
    const [sent] = [(query as Record<string, unknown>)[name]].flat();
    const value = typeof sent === 'string' ? values[name](sent.trim()) : '';
    return value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(entries) as Partial<Record<N, string>>;
}

export const readTopic = (query: unknown) => readQuery(query, ['tag']);
export const readSearch = (query: unknown) => readQuery(query, [...filterNames, 'page']);
