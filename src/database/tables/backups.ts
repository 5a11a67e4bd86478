import { sql } from 'drizzle-orm';
import { bigint, boolean, check, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/** One row per finished backup, or per failed attempt. */
export const backupRuns = pgTable(
  'backup_runs',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    isNightly: boolean().notNull(),
    startedAt: instant().notNull(),
    finishedAt: instant().notNull(),
    /** Path of the file on the machine that made it; null after a failure. */
    file: text(),
    bytes: bigint({ mode: 'number' }),
    /** Null after a success. */
    error: text(),
    /** Whether the backup was restored into a database for a test; null if that was not due. */
    restoreTest: text({ enum: ['passed', 'failed', 'skipped'] }),
  },
  (t) => [
    check('backup_runs_result', sql`(${t.error} is null) = (${t.file} is not null)`),
    check('backup_runs_restore_test', sql`${t.restoreTest} in ('passed', 'failed', 'skipped')`),
  ],
);
