import { foldText } from '../../../core/text.ts';
import { texts } from '../texts.ts';
import type { CatalogDate } from './model.ts';

export const filterNames = ['q', 'category', 'tag', 'place', 'month', 'language'] as const;
export type FilterName = (typeof filterNames)[number];
export type Filter = Partial<Record<FilterName, string>>;

const maxLength = 200;
/** Without half a character at its end. */
const cut = (text: string) => text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');

/** The filters of a query; an empty value is none, and of several the first counts. */
export function readFilter(query: Record<string, unknown>): Filter {
  const values = filterNames.flatMap((name) => {
    const value = [query[name]].flat()[0];
    return typeof value === 'string' && value.trim() !== '' ? [[name, cut(value.trim())]] : [];
  });
  return Object.fromEntries(values) as Filter;
}

/** Words in any order, in the title, the categories, the tags or the place. */
function matchesWords(date: CatalogDate, words: string) {
  const { title, courseTitle, categories, tags, city, location, placeAdditionalInfo } = date;
  const place = [city, location?.title, placeAdditionalInfo, ...(date.isOnline ? onlineNames : [])];
  const all = [title, courseTitle, ...place, ...[...categories, ...tags].map((one) => one.title)];
  return hasWords(all.filter(Boolean).join(' '), words);
}

const onlineNames = Object.values(texts).map(({ online }) => online);

/** Without accents, and with the letters that addresses have for those of Norwegian. */
const toLatin = (text: string) =>
  foldText(text).replaceAll('ø', 'o').replaceAll('æ', 'ae').normalize('NFD').replace(/\p{M}/gu, '');

function hasWords(text: string, words: string) {
  const folded = toLatin(text);
  const all = toLatin(words).split(' ').filter(Boolean);
  return all.every((word) => folded.includes(word));
}

const isTitled = (titled: { id: number; title: string }[], value: string) =>
  titled.some(({ id, title }) => isChosen({ value: String(id), label: title }, value));

const tests: Record<FilterName, (date: CatalogDate, value: string) => boolean> = {
  q: matchesWords,
  category: ({ categories }, value) => isTitled(categories, value),
  tag: ({ tags }, value) => isTitled(tags, value),
  place: (date, value) => listPlaces(date).some((place) => foldText(place) === foldText(value)),
  month: ({ startAt }, value) => startAt.startsWith(`${value.slice(0, 7)}-`),
  language: ({ language }, value) => language.id === value,
};

/** `online` is a place, too. */
export const onlinePlace = 'online';
const listPlaces = ({ city, isOnline }: CatalogDate) => [...(isOnline ? [onlinePlace] : []), ...(city ? [city] : [])];

export const applyFilter = (dates: CatalogDate[], filter: Filter) => {
  const given = Object.entries(filter) as [FilterName, string][];
  return dates.filter((date) => given.every(([name, value]) => tests[name](date, value)));
};

/** Courses have no other filter than the words of their title. */
export function filterCourses<Course extends { title: string }>(courses: Course[], { q, ...others }: Filter): Course[] {
  if (Object.keys(others).length > 0) return [];
  return q === undefined ? courses : courses.filter(({ title }) => hasWords(title, q));
}

export type Choice = { value: string; label: string };

/** The values that the dates have, for each filter but the words. */
export function listChoices(dates: CatalogDate[]): Record<Exclude<FilterName, 'q'>, Choice[]> {
  const toTitledChoices = (get: (date: CatalogDate) => { id: number; title: string }[]) =>
    toChoices(dates.flatMap(get).map(({ id, title }) => [String(id), title]));
  const months = [...new Set(dates.map(({ startAt }) => startAt.slice(0, 7)))].sort();
  return {
    category: toTitledChoices(({ categories }) => categories),
    tag: toTitledChoices(({ tags }) => tags),
    place: toChoices(dates.flatMap(listPlaces).map((place) => [place, place])),
    month: months.map((month) => ({ value: month, label: month })),
    language: toChoices(dates.map(({ language }) => [language.id, language.title])),
  };
}

/** Each value once, by label. */
const toChoices = (pairs: [string, string][]): Choice[] =>
  [...new Map(pairs)].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label, 'nb'));

/** True for the choice of a filter's value, which may be its label. */
export const isChosen = ({ value, label }: Choice, chosen: string | undefined) =>
  chosen !== undefined && (value === chosen || foldText(label) === foldText(chosen));

/** With a value that no date has. */
export const withChosen = (choices: Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some((one) => isChosen(one, chosen))
    ? choices
    : [{ value: chosen, label: chosen }, ...choices];
