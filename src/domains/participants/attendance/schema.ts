import { Type, type Static } from '@sinclair/typebox';
import { ParticipantStatusId } from '../../../core/reference/participant-statuses.ts';
import { t } from '../../../core/schema/types.ts';

/** How much a participant attended. */
export const AttendanceSummary = t.NamedObject(
  'AttendanceSummary',
  t.member.personal.all({
    attended_share: t.Nullable(
      Type.Number({ description: 'Of the gatherings, 0 to 1 with three decimals; null without gatherings' }),
    ),
    minutes: Type.Integer({ description: 'The registered minutes of the gatherings that were attended' }),
  }),
);

const text = Type.String();

export type MarkResult = Static<typeof MarkResult>;
const MarkResult = t.NamedObject(
  'AttendanceMarkResult',
  t.member.personal.all({
    participant_id: Type.Integer(),
    gathering_id: Type.Integer(),
    nonce: text,
    result: t.OneOf(['stored', 'repeated', 'older', 'refused'], {
      description: 'repeated: stored before; older: kept in the history, a newer mark stands',
    }),
    code: t.Nullable(
      t.OneOf(['participant_unknown', 'participant_without_seat', 'gathering_unknown', 'gathering_not_begun']),
    ),
  }),
);

/** A result for each mark, in their order. */
export type AttendanceWritten = Static<typeof AttendanceWritten>;
export const AttendanceWritten = t.NamedObject(
  'AttendanceWritten',
  t.member.closed.all({ coursedate_id: Type.Integer(), results: Type.Array(MarkResult) }),
);

const SheetGathering = t.NamedObject(
  'AttendanceGathering',
  t.member.closed.all({ id: Type.Integer(), gathering_at: text, gathering_end_at: text }),
);

const SheetAttendance = t.NamedObject(
  'RegisteredAttendance',
  t.member.personal.all({
    gathering_id: Type.Integer(),
    attended: t.Nullable(Type.Boolean()),
    minutes: t.Nullable(Type.Integer()),
    registered_at: t.Nullable(t.DateTime),
  }),
);

const SheetParticipant = t.NamedObject(
  'AttendanceParticipant',
  t.member.personal.all({
    id: Type.Integer(),
    user_id: Type.Integer(),
    firstname: t.Nullable(text),
    lastname: t.Nullable(text),
    status_id: ParticipantStatusId,
    completed: Type.Boolean(),
    ...AttendanceSummary.properties,
    attendance: Type.Array(SheetAttendance),
  }),
);

/** The gatherings of a course date, and who was at them. */
export type AttendanceSheet = Static<typeof AttendanceSheet>;
export const AttendanceSheet = t.NamedObject(
  'AttendanceSheet',
  t.member.closed.all({
    coursedate_id: Type.Integer(),
    gatherings: Type.Array(SheetGathering),
    participants: Type.Array(SheetParticipant),
  }),
);

/** The rows of a spreadsheet: a participant each, with a column for each gathering. */
export function toGrid({ gatherings, participants }: AttendanceSheet): unknown[][] {
  const own = [
    'id',
    'user_id',
    'firstname',
    'lastname',
    'status_id',
    'completed',
    'attended_share',
    'minutes',
  ] as const;
  const names = [...own, ...gatherings.map(({ id, gathering_at }) => `${id} ${gathering_at}`)];
  const rows = participants.map((one) => {
    const attended = new Map(one.attendance.map((registered) => [registered.gathering_id, registered.attended]));
    return [...own.map((name) => one[name]), ...gatherings.map(({ id }) => attended.get(id) ?? null)];
  });
  return [names, ...rows];
}
