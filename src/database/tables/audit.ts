import { sql } from 'drizzle-orm';
import { bigint, check, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, indexWhere, instant, operational, reference } from './columns.ts';

const actors = ['key', 'course_user', 'admin_user', 'operator', 'server'] as const;
export type Actor = (typeof actors)[number];

/** `provider_id` of entries on shared data; no provider has it. */
export const sharedDataProviderId = 0;

/** The audit log. No foreign keys, since entries outlive the rows they name, and no payload. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: id(),
    /** `sharedDataProviderId` for data that all providers share. */
    providerId: reference().notNull(),
    at: instant().notNull(),
    actor: operational(text({ enum: actors })).notNull(),
    /** Id of the key, course user or admin user; null for operators and the server. */
    actorId: reference(),
    /** A route such as `POST /v2/courses`, or the name of a command. */
    action: operational(text()).notNull(),
    itemIds: operational(bigint({ mode: 'number' }).array()).notNull(),
  },
  (t) => [
    primaryKey({ name: 'audit_entries_pk', columns: [t.providerId, t.id] }),
    index('audit_entries_id').on(t.id),
    indexWhere('audit_entries_course_user', [t.providerId, t.actorId, t.id], sql`${t.actor} = 'course_user'`),
    check('audit_entries_actor', sql`${t.actor} in ('key', 'course_user', 'admin_user', 'operator', 'server')`),
    check('audit_entries_actor_id', sql`(${t.actorId} is null) = (${t.actor} in ('operator', 'server'))`),
  ],
);
