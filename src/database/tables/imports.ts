import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { indexWhere, instant, operational, personal, reference } from './columns.ts';
import { providers } from './providers.ts';

/** Item id of each imported `ref`, so that a later run can continue; `kind` is the record type. */
export const importRefs = pgTable(
  'import_refs',
  {
    providerId: reference().notNull(),
    kind: operational(text()).notNull(),
    ref: personal(text()).notNull(),
    itemId: reference().notNull(),
    /** Hash of the line; null for parts of lines, and after an erasure. */
    content: personal(text()),
    createdAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ name: 'import_refs_pk', columns: [t.providerId, t.kind, t.ref] }),
    // Partial, or the planner would look refs up by it before the table has statistics.
    indexWhere(
      'import_refs_item',
      [t.providerId, t.kind, t.itemId],
      sql`${t.kind} in ('booking', 'customer', 'order', 'order_line', 'participant', 'tag', 'user')`,
    ),
    foreignKey({ name: 'import_refs_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
  ],
);

const hashed = "'erased:'";
/** The ref of an erased item: an import of the same file still finds it. */
export const hashedRefSql = (ref: string) => `${hashed} || encode(sha256(convert_to(${ref}, 'UTF8')), 'hex')`;
export const isHashedRefSql = (ref: string) => `starts_with(${ref}, ${hashed})`;

/** The key of the advisory lock that an import of a provider has. */
export const importLockSql = (provider: string | number) => `hashtextextended('import', ${provider})`;

/** Lines of imports in progress, deleted before and after; unlogged for the speed of a temporary table. */
export const stagedLines = pgTable(
  'staged_lines',
  {
    providerId: reference().notNull(),
    line: integer().notNull(),
    /** 0 for the item, then its parts. */
    part: integer().notNull(),
    kind: operational(text()).notNull(),
    table: operational(text()).notNull(),
    data: personal(jsonb()).notNull(),
    refs: personal(jsonb()).notNull(),
    refKind: operational(text()),
    ref: personal(text()),
    uniqueText: personal(text()),
    content: personal(text()),
    bad: boolean(),
    stagedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'staged_lines_pk', columns: [t.providerId, t.line, t.part] }),
    index('staged_lines_line').on(t.providerId, t.kind, t.line),
    indexWhere('staged_lines_ref', [t.providerId, t.refKind, t.ref], sql`${t.ref} is not null`),
  ],
);
