import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { courseDates } from './coursedates.ts';
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
  'date_changed',
  'promotion',
  'reminder',
  'booking_receipt',
  /** Mail to a participant who was moved, about the date before. */
  'moved_away',
  'notice_booked',
  'notice_canceled',
  'notice_full',
  'notice_under_minimum',
  'notice_budget',
  'address_refused',
  'interest_confirmation',
  'date_published',
] as const;
/** The purposes that this version sends. */
export const isKnownSql = (purpose: string) => `${purpose} in ('${mailPurposes.join("', '")}')`;
export type MailPurpose = (typeof mailPurposes)[number];

/** Mails that wait after a failure of the mail server. A sent mail makes them due. */
export const isDelayedSql = 'sent_at is null and failed_at is null and last_error is not null and failure is null';

const failures = ['recipient', 'message', 'other'] as const;
export type MailFailure = (typeof failures)[number] | null;

const sqlList = (purposes: MailPurpose[]) => sql.raw(purposes.map((purpose) => `'${purpose}'`).join(', '));
const withParticipant = sqlList([
  ...(['receipt', 'deregistration', 'offer', 'swap', 'move', 'date_canceled', 'date_changed', 'promotion'] as const),
  ...(['reminder', 'moved_away', 'notice_booked', 'notice_canceled'] as const),
]);
const withDate = sqlList(['moved_away', 'notice_full', 'notice_under_minimum', 'notice_budget', 'date_published']);
const withInterest = sqlList(['interest_confirmation', 'date_published']);

/** E-mail addresses that a mail server has refused for good: no more mails go there, unless the mark is lifted. */
export const refusedAddresses = c.tenantTable(
  'refused_addresses',
  {
    email: c.personal(pg.text()).notNull(),
    /** Answer of the mail server, in one line. */
    reason: c.personal(pg.text()).notNull(),
    refusedAt: c.instant().notNull(),
    /** Subject of the refused mail; null for one of an earlier version. */
    subject: c.personal(pg.text()),
    /** Set when a mail to the address is sent again: the next refusal marks it anew. */
    liftedAt: c.instant(),
  },
  (t) => [
    pg.foreignKey({ name: 'refused_addresses_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.uniqueIndex('refused_addresses_email').on(t.providerId, c.caseFolded(t.email)),
  ],
);

type Persons = Record<'userId' | 'adminUserId' | 'bookingId' | 'address', pg.AnyPgColumn>;
const countPersons = ({ userId, adminUserId, bookingId, address }: Persons) =>
  sql`num_nonnulls(${userId}, ${adminUserId}, ${bookingId}, ${address})`;
/** True for a mail to the school itself. */
export const isWithoutPerson = (mail: Persons) => sql`${countPersons(mail)} = 0`;

/** Mails to send: purpose and recipient, no text and no token. Inserted in the transaction of the change they report. */
export const outbox = pg.pgTable(
  'outbox',
  {
    id: c.id(),
    providerId: c.reference().notNull(),
    purpose: c
      .operational(
        pg.text({
          enum: mailPurposes,
        }),
      )
      .notNull(),
    userId: c.reference(),
    adminUserId: c.reference(),
    /** A booking whose booker is the recipient. */
    bookingId: c.reference(),
    /** A recipient who is no person of the service. */
    address: c.personal(pg.text()),
    /** Participant that the mail is about; the recipient is its user, or the booker. */
    participantId: c.reference(),
    /** Webhook that was disabled; without an admin user the recipient is the school. No foreign key: it may be deleted. */
    webhookId: c.reference(),
    /** Date that the mail is about, where that is not the participant's. */
    courseDateId: c.reference(),
    /** Address that the school is told about. */
    refusedAddressId: c.reference(),
    /** Interest in a course, which has its recipient. No foreign key: it may be deleted. */
    interestId: c.reference(),
    /** The person whom a notice named, once another one has the place. No foreign key: the place may have no name. */
    namedUserId: c.reference(),
    /** True if the ended place of the mail was confirmed; null for a mail of an earlier version. */
    endsPlace: pg.boolean(),
    /** Time and place of a changed date before. */
    before: c.operational(pg.jsonb()),
    createdAt: c.instant().notNull(),
    /** Time of the next attempt; during an attempt, end of the worker's lease. */
    dueAt: c.instant().notNull(),
    attempts: pg.integer().notNull().default(0),
    /** Error of the last attempt, in one line. */
    lastError: c.personal(pg.text()),
    /** Cause of the last failed attempt; null if the mail server itself failed, and for one of an earlier version. */
    failure: c.operational(pg.text({ enum: failures })),
    /** When it was sent, or written to a file. */
    sentAt: c.instant(),
    isWritten: pg.boolean().notNull().default(false),
    /** Time of the final failure. */
    failedAt: c.instant(),
  },
  (t) => [
    pg.primaryKey({ name: 'outbox_pk', columns: [t.providerId, t.id] }),
    pg.foreignKey({ name: 'outbox_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    c.tenantKey('outbox_user_fk', t.userId, courseUsers.id),
    c.tenantKey('outbox_admin_user_fk', t.adminUserId, adminMemberships.adminUserId),
    c.tenantKey('outbox_booking_fk', t.bookingId, bookings.id),
    c.tenantKey('outbox_participant_fk', t.participantId, participants.id),
    c.tenantKey('outbox_course_date_fk', t.courseDateId, courseDates.id),
    c.tenantKey('outbox_refused_address_fk', t.refusedAddressId, refusedAddresses.id),
    c.indexWhere('outbox_unsent', [t.providerId, t.dueAt, t.id], sql`${t.sentAt} is null and ${t.failedAt} is null`),
    pg.index('outbox_delayed').on(t.attempts, t.dueAt).where(sql.raw(isDelayedSql)),
    c.indexWhere('outbox_user', [t.providerId, t.userId], sql`${t.userId} is not null`),
    c.indexWhere('outbox_named_user', [t.providerId, t.namedUserId], sql`${t.namedUserId} is not null`),
    c.indexWhere('outbox_booking', [t.providerId, t.bookingId], sql`${t.bookingId} is not null`),
    c.indexWhere('outbox_participant', [t.providerId, t.participantId], sql`${t.participantId} is not null`),
    c.indexWhere('outbox_course_date', [t.providerId, t.courseDateId], sql`${t.courseDateId} is not null`),
    c.indexWhere('outbox_refused_address', [t.providerId, t.refusedAddressId], sql`${t.refusedAddressId} is not null`),
    c.indexWhere('outbox_admin_user', [t.providerId, t.adminUserId], sql`${t.adminUserId} is not null`),
    c.indexWhere('outbox_address', [t.providerId, c.caseFolded(t.address)], sql`${t.address} is not null`),
    pg.index('outbox_school').on(t.providerId, t.id).where(isWithoutPerson(t)),
    c.indexWhere('outbox_failed', [t.providerId, t.id], sql`${t.failedAt} is not null`),
    pg.index('outbox_created').on(t.providerId, t.createdAt, t.id),
    pg.index('outbox_id').on(t.id),
    pg.check(
      'outbox_person',
      sql`${countPersons(t)} = 1
        or ${isWithoutPerson(t)} and ${t.purpose} in ('webhook_disabled', 'address_refused')`,
    ),
    pg.check('outbox_webhook', sql`(${t.webhookId} is not null) = (${t.purpose} = 'webhook_disabled')`),
    pg.check('outbox_participant', sql`(${t.participantId} is not null) = (${t.purpose} in (${withParticipant}))`),
    pg.check('outbox_course_date', sql`(${t.courseDateId} is not null) = (${t.purpose} in (${withDate}))`),
    pg.check('outbox_refused_address', sql`(${t.refusedAddressId} is not null) = (${t.purpose} = 'address_refused')`),
    pg.check('outbox_interest', sql`(${t.interestId} is not null) = (${t.purpose} in (${withInterest}))`),
  ],
);
