import { Type, type Static } from '@sinclair/typebox';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';

const { Optional } = Type;

export type Days = Record<'startAt' | 'endAt' | 'deadlineAt', string>;

/** The rule to report if the days are out of order. */
export const findBrokenOrder = ({ startAt, endAt, deadlineAt }: Days): Record<string, OrderRule> =>
  endAt < startAt ? { end_at: 'end_before_start' } : deadlineAt > endAt ? { deadline_at: 'deadline_after_end' } : {};
type OrderRule = 'end_before_start' | 'deadline_after_end';

/** POST /v2/courses/:course_id/coursedates/:id/cancel. */
export type CancellationBody = Static<typeof CancellationBody>;
export const CancellationBody = t.NamedObject(
  'CancellationCreate',
  {
    message: Optional(t.Lines({ maxLength: 1_000, description: 'Told in the mails, and the reason of the credits' })),
    credit: t.withDefault(Type.Boolean({ description: 'Credits and deregisters the participants' }), false),
    move_to: Optional({ ...t.Id, description: 'Id of the course date to which all participants are moved' }),
    send_mail: t.withDefault(Type.Boolean({ description: 'Tells the participants' }), true),
    dry_run: dryRun('true: nothing changes, and the response has what would'),
  },
  { examples: [{ message: 'The instructor is ill', credit: true }] },
);
