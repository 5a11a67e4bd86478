import { Type, type Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import type { courses } from '../../../database/tables/courses.ts';
import type { bookings } from '../../../database/tables/orders.ts';
import type { participants } from '../../../database/tables/participants.ts';
import * as statuses from '../../../core/reference/statuses.ts';
import { ParticipantDate } from './date-schema.ts';
import type { Label } from '../../../core/reference/language.ts';
import * as statusTable from '../../../core/reference/participant-statuses.ts';

const text = Type.String();

export const paidStates = new Map<number, Label>([
  [statuses.paymentStatus.yes, statusTable.label('Yes', 'Ja')],
  [statuses.paymentStatus.no, statusTable.label('No', 'Nei')],
]);

const requestableTitles = new Map(
  statuses.requestableStatuses.map((id) => [id, statusTable.participantStatusTitles.get(id)!]),
);

export const BookingStatusId = codes.Code('BookingStatusId', requestableTitles);

/** Values of `entry_source`. */
export const entrySources = new Map([
  ['User', 'entered by a booking'],
  ['School', 'entered by an import or the staff'],
]);

export type ParticipantRow = typeof participants.$inferSelect;

const ParticipantCourse = t.NamedObject(
  'ParticipantCourse',
  t.member.closed.all({
    id: Type.Integer(),
    title: text,
    reference: t.Nullable(text),
    created_at: t.Nullable(t.DateTime),
    updated_at: t.Nullable(t.DateTime),
  }),
);

const PaymentStatusId = codes.Code('PaymentStatusId', paidStates);
const ParticipantStatus = t.NamedObject(
  'ParticipantStatus',
  t.member.closed.all({
    id: statusTable.ParticipantStatusId,
    title: text,
    status_code: codes.Code(
      'ParticipantStatusCode',
      new Map([...statusTable.participantStatuses.values()].map(({ code, title }) => [code, title])),
    ),
  }),
);

/** A participant; the serializer adds its `user`. */
export type Participant = Static<typeof Participant>;
export const Participant = t.NamedObject('Participant', {
  ...t.member.personal.all({
    id: Type.Integer(),
    archived_at: t.Nullable(t.DateTime),
    booker_admin_user: t.Nullable(text),
    booker_email: t.Nullable(text),
    booker_language_id: t.Nullable(text),
    booker_name: t.Nullable(text),
    booker_phone: t.Nullable(text),
    certificate_issued_at: t.Nullable(Type.String({ format: 'date' })),
    completed: Type.Boolean(),
    no_show: Type.Boolean(),
    passed: Type.Boolean(),
  }),
  ...t.member.closed.all({
    course: ParticipantCourse,
    coursedate: ParticipantDate,
    created_at: t.Nullable(t.DateTime),
    updated_at: t.Nullable(t.DateTime),
    status_updated_at: t.Nullable(t.DateTime),
  }),
  ...t.member.personal.all({
    custom_properties: t.Nullable(t.CustomProperties),
    entry_source: codes.Code('EntrySource', entrySources),
  }),
  ...t.member.financial.all({
    idBooking: Type.Integer(),
    idOrder: Type.Integer(),
    idPaid: PaymentStatusId,
    paid: t.NamedObject('PaymentStatus', t.member.financial.all({ id: PaymentStatusId, title: text })),
  }),
  ...t.member.personal.all({ status: ParticipantStatus, user_comment: t.Nullable(text) }),
});

/** Why a participant holds a seat without having accepted it, or without a name. */
export const Hold = t.NamedObject(
  'Hold',
  t.member.personal.all({
    held_until: t.Nullable(t.DateTime),
    held_for: t.OneOf(['offer', 'name']),
  }),
);

export const Attendance = t.NamedObject(
  'Attendance',
  t.member.personal.all({
    gathering_id: Type.Integer(),
    attended: t.Nullable(Type.Boolean()),
    registered_at: t.Nullable(t.DateTime),
  }),
);

type BookerName = 'bookerName' | 'bookerEmail' | 'bookerPhone' | 'bookerLanguageId';
type Booking = Pick<typeof bookings.$inferSelect, 'orderId' | BookerName>;
type CourseRow = Pick<typeof courses.$inferSelect, 'id' | 'title' | 'reference' | 'createdAt' | 'updatedAt'>;

export const toParticipantCourse = (row: CourseRow): Static<typeof ParticipantCourse> => ({
  id: row.id,
  title: row.title,
  reference: row.reference,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});

type ParticipantRelations = {
  booking: Booking;
  course: Static<typeof ParticipantCourse>;
  coursedate: ParticipantDate;
};

export function toParticipant(
  row: ParticipantRow,
  { booking, course, coursedate }: ParticipantRelations,
  { language }: Pick<Ctx, 'language'>,
): Participant {
  const status = statusTable.participantStatuses.get(row.statusId)!;
  return {
    id: row.id,
    archived_at: formatTimestamp(row.archivedAt),
    booker_admin_user: null,
    booker_email: booking.bookerEmail,
    booker_language_id: booking.bookerLanguageId,
    booker_name: booking.bookerName,
    booker_phone: booking.bookerPhone,
    certificate_issued_at: row.certificateIssuedAt,
    completed: row.completed,
    no_show: row.noShow,
    passed: row.passed,
    course,
    coursedate,
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
    status_updated_at: formatTimestamp(row.statusUpdatedAt),
    custom_properties: row.customProperties,
    entry_source: row.entrySource,
    idBooking: row.bookingId,
    idOrder: booking.orderId,
    idPaid: row.paidId,
    paid: { id: row.paidId, title: paidStates.get(row.paidId)![language] },
    status: { id: row.statusId, title: status.title[language], status_code: status.code },
    user_comment: row.userComment,
  };
}
