import { codes } from 'currency-codes';
import { Type } from '@sinclair/typebox';
import entries from '../reference/countries.json' with { type: 'json' };
import { formsOfTeaching, levels, teachingLanguages, timesOfDay, units } from '../reference/courses.ts';
import type { Label, Language } from '../reference/language.ts';
import { courseDateStatuses } from '../reference/statuses.ts';
import { componentDescription, member, named, NamedObject, OneOf, UpperCode } from './types.ts';

type Country = { id: number; title: Label };

/** Countries in the order of the specification, with ISO 3166-1 ids except Kosovo and the Netherlands Antilles. */
export const countries = new Map<string, Country>(
  (entries as [string, number, string, string][]).map(([code, id, en, no]) => [code, { id, title: { en, no } }]),
);

export const countryCodes: readonly string[] = [...countries.keys()];

/** ISO 4217 alphabetic codes. The package lacks the Caribbean guilder. */
export const currencyCodes: readonly string[] = [...new Set([...codes(), 'XCG'])];

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

/** A table with titles: `Code` is an id in requests, `Item` an id with its title in responses. */
const titled = <K extends string | number>(
  { code, item }: { code: string; item: string },
  titles: ReadonlyMap<K, Label>,
) => ({
  Code: Code(code, titles),
  Item: NamedObject(item, member.open.all({ id: Code(code, titles), title: Type.String() })),
  toItem: (id: K, language: Language) => ({ id, title: titles.get(id)?.[language] ?? '' }),
});

export const level = titled({ code: 'CourseLevelId', item: 'CourseLevel' }, levels);
export const formOfTeaching = titled({ code: 'FormOfTeachingId', item: 'FormOfTeaching' }, formsOfTeaching);
export const timeOfDay = titled({ code: 'TimeOfDayId', item: 'TimeOfDay' }, timesOfDay);
export const teachingLanguage = titled({ code: 'TeachingLanguageCode', item: 'Language' }, teachingLanguages);
export const DurationUnitId = Code('DurationUnitId', new Map([...units].map(([id, { many }]) => [id, many.en])));
export const courseDateStatus = titled({ code: 'CourseDateStatusId', item: 'CourseDateStatus' }, courseDateStatuses);
export const CountryCode = named('CountryCode', UpperCode(countryCodes, { description: 'ISO 3166-1 alpha-2' }));
export const CurrencyCode = named('CurrencyCode', UpperCode(currencyCodes, { description: 'ISO 4217' }));
