import { Type, type Static } from '@sinclair/typebox';
import { durationUnits } from '../../reference/durations.ts';
import type { Language } from '../../reference/language.ts';

export type Duration = Static<typeof Duration>;
export const Duration = Type.Object({
  id: Type.String(),
  code: Type.String(),
  title: Type.String(),
  title_plural: Type.String(),
});

export const toDurations = (language: Language): Duration[] =>
  [...durationUnits].map(([id, { code, one, many }]) => ({
    id: String(id),
    code,
    title: one[language],
    title_plural: many[language],
  }));
