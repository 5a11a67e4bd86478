import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, index, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, reference } from './columns.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';
import { courseUsers } from './users.ts';

/** One mail to send: its purpose and its person, no text and no token. Written with the change it tells of. */
export const outbox = pgTable(
  'outbox',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    providerId: reference().notNull(),
    purpose: text({ enum: ['invitation'] }).notNull(),
    userId: reference(),
    adminUserId: reference(),
    createdAt: instant().notNull(),
    dueAt: instant().notNull(),
    sentAt: instant(),
  },
  (t) => [
    foreignKey({ name: 'outbox_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    foreignKey({
      name: 'outbox_user_fk',
      columns: [t.providerId, t.userId],
      foreignColumns: [courseUsers.providerId, courseUsers.id],
    }),
    foreignKey({
      name: 'outbox_admin_user_fk',
      columns: [t.providerId, t.adminUserId],
      foreignColumns: [adminMemberships.providerId, adminMemberships.adminUserId],
    }),
    index('outbox_due')
      .on(t.dueAt, t.id)
      .where(sql`${t.sentAt} is null`),
    check('outbox_person', sql`num_nonnulls(${t.userId}, ${t.adminUserId}) = 1`),
  ],
);
