import { check, foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
import { caseFoldedSql, instant, reference } from './columns.ts';
import { outbox } from './outbox.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';
import { courseUsers } from './users.ts';

// Doors of people. They are no data of the provider's: a write to them takes no lock and changes no version.

/** A link that works once, stored only as its SHA-256: it signs a course user in, or lets a person choose a password. */
export const tokens = pgTable(
  'tokens',
  {
    providerId: reference().notNull(),
    hash: text().primaryKey(),
    purpose: text({ enum: ['sign_in', 'password'] }).notNull(),
    userId: reference(),
    adminUserId: reference(),
    /** The mail that carries it; sending that again replaces it. */
    mailId: reference(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
  },
  (t) => [
    foreignKey({
      name: 'tokens_user_fk',
      columns: [t.providerId, t.userId],
      foreignColumns: [courseUsers.providerId, courseUsers.id],
    }),
    foreignKey({
      name: 'tokens_admin_user_fk',
      columns: [t.providerId, t.adminUserId],
      foreignColumns: [adminMemberships.providerId, adminMemberships.adminUserId],
    }),
    foreignKey({ name: 'tokens_mail_fk', columns: [t.mailId], foreignColumns: [outbox.id] }),
    uniqueIndex('tokens_mail').on(t.mailId),
    index('tokens_user').on(t.providerId, t.userId),
    index('tokens_expires').on(t.expiresAt),
    check('tokens_person', sql`num_nonnulls(${t.userId}, ${t.adminUserId}) = 1`),
  ],
);

/** A course user who is signed in to the personal page; the cookie's secret is stored only as its SHA-256. */
export const sessions = pgTable(
  'sessions',
  {
    providerId: reference().notNull(),
    hash: text().primaryKey(),
    userId: reference().notNull(),
    createdAt: instant().notNull(),
    /** When it was used last, to the minute: an idle one ends before it expires. */
    usedAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    foreignKey({
      name: 'sessions_user_fk',
      columns: [t.providerId, t.userId],
      foreignColumns: [courseUsers.providerId, courseUsers.id],
    }),
    index('sessions_user').on(t.providerId, t.userId),
    index('sessions_expires').on(t.expiresAt),
  ],
);

/** What is stored of a username there, as SQL. People mistype: in its place may stand a password. */
export const usernameHashSql = (username: string) =>
  `encode(sha256(convert_to(${caseFoldedSql(username)}, 'UTF8')), 'hex')`;

/** Failed sign-ons for a username, known or not, within one window, and those under way. */
export const signOnFailures = pgTable(
  'sign_on_failures',
  {
    providerId: reference().notNull(),
    usernameHash: text().notNull(),
    windowStartedAt: instant().notNull(),
    failures: integer().notNull(),
    /** Attempts that are looked at right now; they count for half a minute after the last, in case their process died. */
    pending: integer().notNull().default(0),
    attemptedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ name: 'sign_on_failures_pk', columns: [t.providerId, t.usernameHash] }),
    foreignKey({ name: 'sign_on_failures_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    index('sign_on_failures_window').on(t.providerId, t.windowStartedAt),
  ],
);
