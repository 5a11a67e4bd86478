import { boolean, foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, instant, operational, reference } from './columns.ts';
import { providers } from './providers.ts';

/** Ids and times of erasures, repeated when an older backup is restored; no foreign keys, since the rows go. */
export const erasures = pgTable(
  'erasures',
  {
    providerId: reference().notNull(),
    id: id(),
    userId: reference(),
    /** When the erased row was created: after a restore its id may be given to another one. */
    createdAt: instant().notNull(),
    erasedAt: instant().notNull(),
    /** True for a provider of whom what its invoices need is left. */
    ordersKept: boolean().notNull().default(false),
    /** The names of the mails, whose files are deleted by the process that has them. */
    mails: operational(text().array()).notNull().default([]),
  },
  (t) => [primaryKey({ name: 'erasures_pk', columns: [t.providerId, t.id] }), index('erasures_erased').on(t.erasedAt)],
);

/** Course users that were merged into another one, and are erased with it in backups that still have them. */
export const mergedUsers = pgTable(
  'merged_users',
  {
    providerId: reference().notNull(),
    userId: reference().notNull(),
    createdAt: instant().notNull(),
    intoId: reference().notNull(),
  },
  (t) => [
    primaryKey({ name: 'merged_users_pk', columns: [t.providerId, t.userId] }),
    foreignKey({ name: 'merged_users_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    index('merged_users_into').on(t.providerId, t.intoId),
  ],
);
