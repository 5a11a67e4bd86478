import { check, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import * as c from './columns.ts';
import { bookings } from './orders.ts';
import { outbox } from './outbox.ts';
import { participants } from './participants.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';
import { courseUsers } from './users.ts';

// Credentials of people. Not part of the provider's versioned data: writes take no lock and change no version.

/** Single-use links, stored as SHA-256: they sign a course user in or let a person choose a password. */
export const tokens = pgTable(
  'tokens',
  {
    providerId: c.reference().notNull(),
    hash: c.personal(text()).notNull(),
    earlierHashes: c.earlierHashes(),
    purpose: c.operational(text({ enum: ['sign_in', 'password'] })).notNull(),
    userId: c.reference(),
    adminUserId: c.reference(),
    /** Mail that contains the link; each attempt to send it has a hash of its own. */
    mailId: c.reference(),
    createdAt: c.instant().notNull(),
    expiresAt: c.instant().notNull(),
    usedAt: c.instant(),
  },
  (t) => [
    primaryKey({ name: 'tokens_pk', columns: [t.hash, t.providerId] }),
    c.tenantKey('tokens_user_fk', t.userId, courseUsers.id),
    c.tenantKey('tokens_admin_user_fk', t.adminUserId, adminMemberships.adminUserId),
    c.tenantKey('tokens_mail_fk', t.mailId, outbox.id),
    uniqueIndex('tokens_mail_id').on(t.providerId, t.mailId),
    // Unused: `tokens_mail_id` has the provider too.
    uniqueIndex('tokens_mail').on(t.mailId),
    c.earlierHashesIndex('tokens_earlier_hashes', t),
    index('tokens_user').on(t.providerId, t.userId),
    index('tokens_expires').on(t.expiresAt),
    check('tokens_person', sql`num_nonnulls(${t.userId}, ${t.adminUserId}) = 1`),
  ],
);

/** Sessions of the personal pages; the cookie's secret is stored as SHA-256. */
export const sessions = pgTable(
  'sessions',
  {
    providerId: c.reference().notNull(),
    hash: c.personal(text()).notNull(),
    userId: c.reference().notNull(),
    createdAt: c.instant().notNull(),
    /** Time of last use, to the minute, for the idle timeout. */
    usedAt: c.instant().notNull(),
    expiresAt: c.instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'sessions_pk', columns: [t.hash, t.providerId] }),
    c.tenantKey('sessions_user_fk', t.userId, courseUsers.id),
    index('sessions_user').on(t.providerId, t.userId),
    index('sessions_expires').on(t.expiresAt),
  ],
);

/** SQL expression of the stored username, folded. Hashed, since people mistype and send their password as username. */
export const usernameHash = (username: c.Value) =>
  sql`encode(sha256(convert_to(${c.folded(username)}, 'UTF8')), 'hex')`;
export const usernameHashSql = (username: string) => c.toSqlText(usernameHash(sql.raw(username)));

/** Counters of failed and pending sign-ons per username, existing or not, in the current window. */
export const signOnFailures = pgTable(
  'sign_on_failures',
  {
    providerId: c.reference().notNull(),
    usernameHash: c.personal(text()).notNull(),
    windowStartedAt: c.instant().notNull(),
    failures: integer().notNull(),
    /** Attempts in progress; ignored 30 s after the last one, in case their process died. */
    pending: integer().notNull().default(0),
    attemptedAt: c.instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ name: 'sign_on_failures_pk', columns: [t.providerId, t.usernameHash] }),
    foreignKey({ name: 'sign_on_failures_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    index('sign_on_failures_window').on(t.providerId, t.windowStartedAt),
  ],
);

/** Secret links of a booking's payer (`booking`) and of a waiting person (`offer`), stored as SHA-256. */
export const bookingLinks = pgTable(
  'booking_links',
  {
    providerId: c.reference().notNull(),
    hash: c.personal(text()).notNull(),
    earlierHashes: c.earlierHashes(),
    bookingId: c.reference().notNull(),
    /** The participant who is offered a place; null for the payer. */
    participantId: c.reference(),
    /** Mail that contains the link; each attempt to send it has a hash of its own. */
    mailId: c.reference(),
    createdAt: c.instant().notNull(),
    expiresAt: c.instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'booking_links_pk', columns: [t.hash, t.providerId] }),
    c.tenantKey('booking_links_booking_fk', t.bookingId, bookings.id),
    c.tenantKey('booking_links_participant_fk', t.participantId, participants.id),
    c.tenantKey('booking_links_mail_fk', t.mailId, outbox.id),
    uniqueIndex('booking_links_mail').on(t.providerId, t.mailId),
    c.earlierHashesIndex('booking_links_earlier_hashes', t),
    index('booking_links_booking').on(t.providerId, t.bookingId),
    index('booking_links_participant').on(t.providerId, t.participantId),
    index('booking_links_expires').on(t.expiresAt),
  ],
);

/** Secret addresses of people's calendar feeds, stored as SHA-256; one per person. */
export const calendarFeeds = pgTable(
  'calendar_feeds',
  {
    providerId: c.reference().notNull(),
    userId: c.reference().notNull(),
    hash: c.personal(text()).notNull(),
    createdAt: c.instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'calendar_feeds_pk', columns: [t.providerId, t.userId] }),
    c.tenantKey('calendar_feeds_user_fk', t.userId, courseUsers.id),
    uniqueIndex('calendar_feeds_hash').on(t.providerId, t.hash),
  ],
);
