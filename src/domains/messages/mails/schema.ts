import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { mailPurposes, type outbox } from '../../../database/tables/outbox.ts';

export type MailPurpose = Static<typeof MailPurpose>;
export const MailPurpose = t.named('MailPurpose', t.OneOf(mailPurposes));

const states = ['waiting', 'sent', 'failed'] as const;
export type MailState = (typeof states)[number];
export const MailState = t.named('MailState', t.OneOf(states));

export type Mail = Static<typeof Mail>;
export const Mail = t.NamedObject('Mail', {
  ...t.member.closed.all({
    id: Type.Integer(),
    purpose: MailPurpose,
    state: MailState,
  }),
  recipient: t.member.personal(
    t.Nullable(Type.String({ description: 'The e-mail address by current data; null without one' })),
  ),
  ...t.member.closed.all({
    user_id: t.Nullable(Type.Integer({ description: 'The course user that it goes to' })),
    admin_user_id: t.Nullable(Type.Integer({ description: 'The admin user that it goes to' })),
    booking_id: t.Nullable(Type.Integer({ description: 'Of its own, or of its participant' })),
    participant_id: t.Nullable(Type.Integer({ description: 'The participant that it is about' })),
    coursedate_id: t.Nullable(Type.Integer({ description: 'Of its own, or of its participant' })),
    attempts: Type.Integer(),
  }),
  error: t.member.personal(t.Nullable(Type.String({ description: 'Of the last attempt' }))),
  ...t.member.closed.all({
    created_at: t.DateTime,
    sent_at: t.Nullable(t.DateTime),
    failed_at: t.Nullable(t.DateTime),
  }),
});

type Reference = 'userId' | 'adminUserId' | 'bookingId' | 'participantId' | 'courseDateId';
type Column =
  'providerId' | 'id' | 'purpose' | Reference | 'attempts' | 'lastError' | 'createdAt' | 'sentAt' | 'failedAt';

export type MailRow = Pick<typeof outbox.$inferSelect, Column> & {
  recipient: string | null;
  /** The booking of the participant. */
  participantBookingId: number | null;
  participantCourseDateId: number | null;
};

const toState = ({ sentAt, failedAt }: MailRow): MailState =>
  sentAt !== null ? 'sent' : failedAt !== null ? 'failed' : 'waiting';

export const toMail = (row: MailRow): Mail => ({
  id: row.id,
  purpose: row.purpose,
  state: toState(row),
  recipient: row.recipient,
  user_id: row.userId,
  admin_user_id: row.adminUserId,
  booking_id: row.bookingId ?? row.participantBookingId,
  participant_id: row.participantId,
  coursedate_id: row.courseDateId ?? row.participantCourseDateId,
  attempts: row.attempts,
  error: row.lastError,
  created_at: formatTimestamp(row.createdAt),
  sent_at: formatTimestamp(row.sentAt),
  failed_at: formatTimestamp(row.failedAt),
});
