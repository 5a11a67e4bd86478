import tables from './courses.json' with { type: 'json' };
import type { Label, Language } from './language.ts';

const toLabels = <Id extends string | number>(rows: (string | number)[][]) =>
  new Map((rows as [Id, string, string][]).map(([id, en, no]): [Id, Label] => [id, { en, no }]));

/** Tables of the interface specification, by id, with its English labels. */
export const levels = toLabels<number>(tables.levels);
export const formsOfTeaching = toLabels<number>(tables.formsOfTeaching);
export const timesOfDay = toLabels<number>(tables.timesOfDay);
export const teachingLanguages = toLabels<string>(tables.teachingLanguages);
export const teachingLanguageCodes = [...teachingLanguages.keys()];

type Unit = { code: string; one: Label; many: Label };

const unit = (code: string, en: [string, string], no: [string, string]): Unit => ({
  code,
  one: { en: en[0], no: no[0] },
  many: { en: en[1], no: no[1] },
});

/** Duration units by id. A Map, because an object would sort its numeric keys. */
export const units = new Map<number, Unit>([
  [7, unit('minutes', ['Minute', 'Minutes'], ['Minutt', 'Minutter'])],
  [6, unit('hours', ['Hour', 'Hours'], ['Time', 'Timer'])],
  [1, unit('days', ['Day', 'Days'], ['Dag', 'Dager'])],
  [2, unit('weeks', ['Week', 'Weeks'], ['Uke', 'Uker'])],
  [3, unit('months', ['Month', 'Months'], ['Måned', 'Måneder'])],
  [4, unit('semester', ['Semester', 'Semester'], ['Semester', 'Semester'])],
  [5, unit('years', ['Year', 'Years'], ['År', 'År'])],
]);

export const unitTitle = (unitId: number, value: number, language: Language) =>
  units.get(unitId)![value === 1 ? 'one' : 'many'][language];
