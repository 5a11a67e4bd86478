import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** The response of every write of a course date. */
export type CourseDateWritten = Static<typeof CourseDateWritten>;
export const CourseDateWritten = t.NamedObject(
  'CourseDateReference',
  t.member.closed.all({ coursedate_id: Type.Integer(), course_id: Type.Integer() }),
);
