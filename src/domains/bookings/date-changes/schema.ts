import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import type { cancellations } from '../../../database/tables/coursedates.ts';

/** The response of every write of a course date. */
export type CourseDateWritten = Static<typeof CourseDateWritten>;
export const CourseDateWritten = t.NamedObject(
  'CourseDateReference',
  t.member.closed.all({ coursedate_id: Type.Integer(), course_id: Type.Integer() }),
);

const Count = Type.Integer();

/** How far the cancellation of a course date is. */
export type Cancellation = Static<typeof Cancellation>;
export const Cancellation = t.NamedObject(
  'Cancellation',
  t.member.closed.all({
    coursedate_id: Count,
    dry_run: Type.Boolean(),
    is_finished: Type.Boolean({ description: 'False: the server continues' }),
    participants: Type.Integer({ description: 'Who had not left' }),
    moved: Count,
    credits: Type.Integer({ description: 'Orders credited' }),
    mails: Count,
  }),
);

export type CancellationRow = typeof cancellations.$inferSelect;

export const toCancellation = (row: CancellationRow, dryRun: boolean): Cancellation => ({
  coursedate_id: row.courseDateId,
  dry_run: dryRun,
  is_finished: row.finishedAt !== null && !dryRun,
  participants: row.numParticipants,
  moved: row.numMoved,
  credits: row.numCredits,
  mails: row.numMails,
});
