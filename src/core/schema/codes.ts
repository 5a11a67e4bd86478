import { countryCodes } from '../reference/countries.ts';
import { teachingLanguages } from '../reference/courses.ts';
import { currencyCodes } from '../reference/currencies.ts';
import type { Label } from '../reference/language.ts';
import { courseDateStatuses } from '../reference/statuses.ts';
import { componentDescription, named, OneOf, UpperCode } from './types.ts';

/** Titles by code, in English or in every language. */
type Titles<K extends string | number> = ReadonlyMap<K, string | Label>;

/** `1: Company, 2: Private`. */
export const describe = (titles: Titles<string | number>) =>
  [...titles].map(([code, title]) => `${code}: ${typeof title === 'string' ? title : title.en}`).join(', ');

/** `public, internal or corporate`. */
export const list = (values: readonly string[]) => new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(values);

/** The codes of a table as a component of the OpenAPI document. */
export const Code = <K extends string | number>(name: string, titles: Titles<K>) => {
  const description = describe(titles);
  return named(name, OneOf<K[]>([...titles.keys()], { description, [componentDescription]: description }));
};

export const TeachingLanguageCode = Code('TeachingLanguageCode', teachingLanguages);
export const CourseDateStatusId = Code('CourseDateStatusId', courseDateStatuses);
export const CountryCode = named('CountryCode', UpperCode(countryCodes, { description: 'ISO 3166-1 alpha-2' }));
export const CurrencyCode = named('CurrencyCode', UpperCode(currencyCodes, { description: 'ISO 4217' }));
