import { countryCodes } from '../reference/countries.ts';
import { teachingLanguages } from '../reference/courses.ts';
import { currencyCodes } from '../reference/currencies.ts';
import type { Label } from '../reference/language.ts';
import { courseDateStatuses } from '../reference/statuses.ts';
import { componentDescription, named, OneOf, UpperCode } from './types.ts';

type Titles<K extends string | number> = ReadonlyMap<K, string>;

/** The English titles of a table of the interface specification. */
export const toTitles = <K extends string | number>(labels: ReadonlyMap<K, Label>): Titles<K> =>
  new Map([...labels].map(([code, { en }]) => [code, en]));

/** `1: Company, 2: Private`. */
export const describeCodes = (titles: Titles<string | number>) =>
  [...titles].map(([code, title]) => `${code}: ${title}`).join(', ');

/** The codes of a table as a component of the OpenAPI document. */
export const Code = <K extends string | number>(name: string, titles: Titles<K>) => {
  const description = describeCodes(titles);
  return named(name, OneOf<K[]>([...titles.keys()], { description, [componentDescription]: description }));
};

export const TeachingLanguageCode = Code('TeachingLanguageCode', toTitles(teachingLanguages));
export const CourseDateStatusId = Code('CourseDateStatusId', toTitles(courseDateStatuses));
export const CountryCode = named('CountryCode', UpperCode(countryCodes, { description: 'ISO 3166-1 alpha-2' }));
export const CurrencyCode = named('CurrencyCode', UpperCode(currencyCodes, { description: 'ISO 4217' }));
