import { sql } from 'drizzle-orm';
import { boolean, check, foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, instant, reference, tenantKey } from './columns.ts';
import { bookings } from './orders.ts';
import { participants } from './participants.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';
import { courseUsers } from './users.ts';

/** The name of a mail in files and of its message: equal for all attempts, and unique across databases. */
export const mailNameSql = (mail: string) =>
  `to_char(${mail}.created_at at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"') || '-' || ${mail}.id`;

export const mailPurposes = [
  'invitation',
  'account_created',
  'receipt',
  'deregistration',
  'webhook_disabled',
  'offer',
  'booking_link',
  'swap',
  'move',
  'date_canceled',
] as const;
export type MailPurpose = (typeof mailPurposes)[number];

/** Mails to send: purpose and recipient, no text and no token. Inserted in the transaction of the change they report. */
export const outbox = pgTable(
  'outbox',
  {
    id: id(),
    providerId: reference().notNull(),
    purpose: text({
      enum: mailPurposes,
    }).notNull(),
    userId: reference(),
    adminUserId: reference(),
    /** A booking whose booker is the recipient. */
    bookingId: reference(),
    /** A recipient who is no person of the service. */
    address: text(),
    /** Participant that the mail is about; the recipient is its user, or the booker. */
    participantId: reference(),
    /** Webhook that was disabled; without an admin user the recipient is the school. No foreign key: it may be deleted. */
    webhookId: reference(),
    createdAt: instant().notNull(),
    /** Time of the next attempt; during an attempt, end of the worker's lease. */
    dueAt: instant().notNull(),
    attempts: integer().notNull().default(0),
    /** Error of the last attempt, in one line. */
    lastError: text(),
    /** When it was sent, or written to a file. */
    sentAt: instant(),
    isWritten: boolean().notNull().default(false),
    /** Time of the final failure. */
    failedAt: instant(),
  },
  (t) => [
    primaryKey({ name: 'outbox_pk', columns: [t.providerId, t.id] }),
    foreignKey({ name: 'outbox_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('outbox_user_fk', t.userId, courseUsers.id),
    tenantKey('outbox_admin_user_fk', t.adminUserId, adminMemberships.adminUserId),
    tenantKey('outbox_booking_fk', t.bookingId, bookings.id),
    tenantKey('outbox_participant_fk', t.participantId, participants.id),
    index('outbox_unsent')
      .on(t.providerId, t.dueAt, t.id)
      .where(sql`${t.sentAt} is null and ${t.failedAt} is null`),
    index('outbox_user')
      .on(t.providerId, t.userId)
      .where(sql`${t.userId} is not null`),
    index('outbox_booking')
      .on(t.providerId, t.bookingId)
      .where(sql`${t.bookingId} is not null`),
    index('outbox_id').on(t.id),
    check(
      'outbox_person',
      sql`num_nonnulls(${t.userId}, ${t.adminUserId}, ${t.bookingId}, ${t.address}) = 1
        or num_nonnulls(${t.userId}, ${t.adminUserId}, ${t.bookingId}, ${t.address}) = 0 and ${t.purpose} = 'webhook_disabled'`,
    ),
    check('outbox_webhook', sql`(${t.webhookId} is not null) = (${t.purpose} = 'webhook_disabled')`),
    check(
      'outbox_participant',
      sql`(${t.participantId} is not null) = (${t.purpose} in ('receipt', 'deregistration', 'offer', 'swap', 'move', 'date_canceled'))`,
    ),
  ],
);
