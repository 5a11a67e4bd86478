import { foreignKey, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, reference } from './columns.ts';
import { providers } from './providers.ts';

/** Item id of each imported `ref`, so that a later run can continue; `kind` is the record type. */
export const importRefs = pgTable(
  'import_refs',
  {
    providerId: reference().notNull(),
    kind: text().notNull(),
    ref: text().notNull(),
    itemId: reference().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ name: 'import_refs_pk', columns: [t.providerId, t.kind, t.ref] }),
    foreignKey({ name: 'import_refs_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
  ],
);
