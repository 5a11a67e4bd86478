import { sql } from 'drizzle-orm';
import { bigint, boolean, check, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, operational } from './columns.ts';

/** One row per attempt to make a backup. */
export const backupRuns = pgTable(
  'backup_runs',
  {
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    isNightly: boolean().notNull(),
    startedAt: instant().notNull(),
    /** Null while it runs. The next attempt ends one whose process died. */
    finishedAt: instant(),
    /** Path of the file on the machine that made it; null after a failure. */
    file: operational(text()),
    bytes: bigint({ mode: 'number' }),
    /** Null after a success. */
    error: operational(text()),
    /** Result of a test restore of the backup; null if none was due. */
    restoreTest: operational(text({ enum: ['passed', 'failed', 'skipped'] })),
  },
  (t) => [
    check(
      'backup_runs_result',
      sql`num_nonnulls(${t.file}, ${t.error}) = case when ${t.finishedAt} is null then 0 else 1 end`,
    ),
    check('backup_runs_restore_test', sql`${t.restoreTest} in ('passed', 'failed', 'skipped')`),
  ],
);
