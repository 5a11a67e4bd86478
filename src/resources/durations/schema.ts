import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import { units } from '../../core/reference/durations.ts';
import type { Ctx } from '../../database/context.ts';

export type Duration = Static<typeof Duration>;
export const Duration = t.NamedObject(
  'DurationUnit',
  t.member.open.all({
    id: Type.String({ description: codes.DurationUnitId.description }),
    code: Type.String(),
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
