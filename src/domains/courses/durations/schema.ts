import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { unitTitle, units } from '../../../core/reference/courses.ts';
import type { Ctx } from '../../../database/context.ts';

const code = t.named('DurationCode', t.OneOf([...units.values()].map(({ code }) => code)));

export type Duration = Static<typeof Duration>;
export const Duration = t.NamedObject(
  'DurationUnit',
  t.member.open.all({
    id: Type.String({ description: codes.DurationUnitId.description }),
    code,
    title: Type.String(),
    title_plural: Type.String(),
  }),
);

export const toDurations = ({ language }: Pick<Ctx, 'language'>): Duration[] =>
  [...units].map(([id, { code, one, many }]) => ({
    id: String(id),
    code,
    title: one[language],
    title_plural: many[language],
  }));

/** The duration of a course, with the title of its unit. */
export type CourseDuration = Static<typeof CourseDuration>;
export const CourseDuration = t.NamedObject(
  'CourseDuration',
  t.member.open.all({ value: Type.Number(), code, unit: Type.String() }),
);

/** Null without a value or a unit. */
export const toCourseDuration = (
  value: number | null,
  unitId: number | null,
  { language }: Pick<Ctx, 'language'>,
): CourseDuration | null =>
  value === null || unitId === null
    ? null
    : { value, code: units.get(unitId)!.code, unit: unitTitle(unitId, value, language) };
