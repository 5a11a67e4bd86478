import tables from './courses.json' with { type: 'json' };
import type { Label } from './language.ts';

const toLabels = <Id extends string | number>(rows: (string | number)[][]) =>
  new Map((rows as [Id, string, string][]).map(([id, en, no]): [Id, Label] => [id, { en, no }]));

/** Tables of the interface specification, by id, with its English labels. */
export const levels = toLabels<number>(tables.levels);
export const formsOfTeaching = toLabels<number>(tables.formsOfTeaching);
export const timesOfDay = toLabels<number>(tables.timesOfDay);
export const teachingLanguages = toLabels<string>(tables.teachingLanguages);
export const teachingLanguageCodes = [...teachingLanguages.keys()];
