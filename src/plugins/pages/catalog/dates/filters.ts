import { foldSearch, foldText } from '../../../../core/text.ts';
import { texts } from '../../texts.ts';
import type { CatalogDate } from './model.ts';

export const filterNames = ['q', 'category', 'tag', 'place', 'month', 'language'] as const;
export type FilterName = (typeof filterNames)[number];
export type Filter = Partial<Record<FilterName, string>>;

/** The texts that a search reads: the title, the categories, the tags and the place. */
function toSearchedText(date: CatalogDate) {
  const { title, courseTitle, categories, tags, city, location, placeAdditionalInfo } = date;
  const place = [city, location?.title, placeAdditionalInfo, ...(date.isOnline ? onlineNames : [])];
  const all = [title, courseTitle, ...place, ...[...categories, ...tags].map((one) => one.title)];
  return all.filter(Boolean).join(' ');
}

const onlineNames = Object.values(texts).map(({ online }) => online);

const toSearched = (text: string) => foldSearch(text).replaceAll("'", '');

/** Folded texts of dates and courses, which stay in memory: folding takes most of the time of a search. */
const searchedTexts = new WeakMap<object, string>();

/** A test for words in any order. */
function toWordTest<T extends object>(words: string, toText: (one: T) => string) {
  const all = toSearched(words).split(' ').filter(Boolean);
  return (one: T) => {
    const text = searchedTexts.get(one) ?? toSearched(toText(one));
    searchedTexts.set(one, text);
    return all.every((word) => text.includes(word));
  };
}

/** A test for an id or a title. */
export function toTitleTest(value: string) {
  const folded = foldText(value);
  return ({ id, title }: { id: number; title: string }) => String(id) === value || foldText(title) === folded;
}

const toTitledTest = (value: string, get: (date: CatalogDate) => { id: number; title: string }[]) => {
  const isNamed = toTitleTest(value);
  return (date: CatalogDate) => get(date).some(isNamed);
};

const tests: Record<FilterName, (value: string) => (date: CatalogDate) => boolean> = {
  q: (value) => toWordTest(value, toSearchedText),
  category: (value) => toTitledTest(value, ({ categories }) => categories),
  tag: (value) => toTitledTest(value, ({ tags }) => tags),
  place: (value) => {
    const folded = foldText(value);
    return (date) => listPlaces(date).some((place) => foldText(place) === folded);
  },
  month:
    (value) =>
    ({ startAt }) =>
      startAt.startsWith(`${value}-`),
  language:
    (value) =>
    ({ language }) =>
      language.id === value,
};

/** `online` is a place, too. */
export const onlinePlace = 'online';
const listPlaces = ({ city, isOnline }: CatalogDate) => [...(isOnline ? [onlinePlace] : []), ...(city ? [city] : [])];

export const applyFilter = (dates: CatalogDate[], filter: Filter) => {
  const conditions = (Object.entries(filter) as [FilterName, string][]).map(([name, value]) => tests[name](value));
  return dates.filter((date) => conditions.every((matches) => matches(date)));
};

/** Courses have no other filter than the words of their title. */
export function filterCourses<Course extends { title: string }>(courses: Course[], { q, ...others }: Filter): Course[] {
  if (Object.keys(others).length > 0) return [];
  return q === undefined ? courses : courses.filter(toWordTest(q, ({ title }) => title));
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

/** Adds a chosen value that no date has. */
export const withChosen = (choices: Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some((one) => isChosen(one, chosen))
    ? choices
    : [{ value: chosen, label: chosen }, ...choices];
