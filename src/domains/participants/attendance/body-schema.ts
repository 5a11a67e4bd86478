import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

const { Optional } = Type;

const Mark = t.NamedObject('AttendanceMark', {
  participant_id: { ...t.Id, description: 'A participant with a seat on the date' },
  gathering_id: { ...t.Id, description: 'A gathering of the date' },
  attended: Optional(Type.Boolean({ description: 'Takes the registration back unless sent' })),
  minutes: Optional(Type.Integer({ minimum: 0, maximum: 1_440, description: 'Minutes of attendance' })),
  at: Optional(t.StoredMoment({ description: 'When it was registered; now unless sent, or if it is later' })),
  nonce: t.Title({ maxLength: 64, description: 'Chosen by the client; a mark with an equal one is a repeat' }),
});

/** PUT /v2/coursedates/:id/attendance. */
export type AttendanceBody = Static<typeof AttendanceBody>;
export const AttendanceBody = t.NamedObject(
  'AttendanceUpdate',
  { marks: t.JsonList(Mark, { minItems: 1, description: 'In the order in which they were registered' }) },
  { examples: [{ marks: [{ participant_id: 301, gathering_id: 12, attended: true, nonce: 'tablet-1-0001' }] }] },
);
