import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** Of a participant. */
export const AttendanceSummary = t.NamedObject(
  'AttendanceSummary',
  t.member.personal.all({
    attended_share: t.Nullable(
      Type.Number({ description: 'Of the gatherings, 0 to 1 with three decimals; null without gatherings' }),
    ),
    minutes: Type.Integer({ description: 'The registered minutes of the gatherings that were attended' }),
  }),
);
