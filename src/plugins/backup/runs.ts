import type { PoolOrClient } from '../../database/statements.ts';

export type LastBackup = {
  /** Seconds since the end of the last successful backup; null without one. */
  ageSeconds: number | null;
  /** Null if a backup has succeeded since. */
  lastError: string | null;
  lastRestoreTest: RestoreTest | null;
  /** That of the last successful backup. */
  file: string | null;
};

export type RestoreTest = 'passed' | 'failed' | 'skipped';

const selectLast = {
  name: 'last_backup',
  text: `with success as (select max(finished_at) as at, (array_agg(file order by finished_at desc nulls last))[1] as file
        from backup_runs where error is null),
      failure as (select finished_at as at, error from backup_runs where error is not null order by finished_at desc limit 1),
      test as (select restore_test from backup_runs where restore_test is not null
        order by finished_at desc limit 1)
    select extract(epoch from clock_timestamp() - success.at)::float8 as "ageSeconds",
      case when failure.at > success.at or success.at is null then failure.error end as "lastError",
      test.restore_test as "lastRestoreTest", success.file
    from success left join failure on true left join test on true`,
};

/** The state of the backups of all processes, for metrics and `doctor`. */
export async function findLastBackup(pool: PoolOrClient): Promise<LastBackup> {
  return (await pool.query<LastBackup>(selectLast)).rows[0]!;
}

export type Result = {
  /** Milliseconds from the start. */
  elapsedMs: number;
  file: string | null;
  bytes: number | null;
  error: string | null;
  restoreTest: RestoreTest | null;
};

/** Stores the start of an attempt, and returns its id. Nightly ones without an end have ended with their process. */
export async function recordStart(pool: PoolOrClient, isNightly: boolean, startedAt: string) {
  if (isNightly)
    await pool.query(
      `update backup_runs set finished_at = $1, error = 'interrupted' where is_nightly and finished_at is null`,
      [startedAt],
    );
  const { rows } = await pool.query<{ id: string }>(
    'insert into backup_runs (is_nightly, started_at) values ($1, $2) returning id',
    [isNightly, startedAt],
  );
  return rows[0]!.id;
}

export const recordResult = (pool: PoolOrClient, id: string, { elapsedMs, file, bytes, error, restoreTest }: Result) =>
  pool.query(
    `update backup_runs set finished_at = started_at + $2 * interval '1 millisecond', file = $3, bytes = $4, error = $5,
      restore_test = $6 where id = $1`,
    [id, elapsedMs, file, bytes, error, restoreTest],
  );

/**
 * The present moment, if a nightly backup is due, else undefined: none since the last `at` in the time zone, no failure
 * for 8 minutes, no attempt without an end for an hour. `restoreTestDue` if none has passed or was skipped for a week.
 */
export async function findDue(pool: PoolOrClient, { at, timezone }: { at: string; timezone: string }) {
  const { rows } = await pool.query<{ startedAt: string; restoreTestDue: boolean }>(
    `with clock as (select clock_timestamp() as now),
      due as (select now, max(moment) as at from clock, lateral (
        select ((now at time zone $2)::date - days + $1::time) at time zone $2 as moment from generate_series(0, 1) days
      ) moments where moment <= now group by now)
    select now::text as "startedAt", not exists (
      select from backup_runs where restore_test <> 'failed' and started_at > now - interval '6 days 12 hours'
    ) as "restoreTestDue"
    from due
    where not exists (select from backup_runs where is_nightly and file is not null and started_at >= due.at)
      and not exists (select from backup_runs where is_nightly and file is null and case when error is null
        then started_at > now - interval '1 hour' else finished_at > now - interval '8 minutes' end)`,
    [at, timezone],
  );
  return rows[0];
}
