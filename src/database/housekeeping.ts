import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../core/config.ts';
import type { Database } from './client.ts';
import type { Log } from '../core/log.ts';
import { startPeriodic, warnOfFailure } from './periodic.ts';

const intervalMs = 60 * 60_000;
/** Rows per statement: its locks last for some milliseconds. */
const batchSize = 1_000;
const pauseMs = 50;

type RetentionVariable = Extract<keyof Config, `${string}_RETENTION_DAYS`>;
export type Task = {
  table: string;
  /** Days until a row is deleted; without a value rows are kept for ever. */
  variable: RetentionVariable;
  /**
   * Deletes at most `$2` rows, each by at least `$1` days too old. Without an index or
   * the order of the primary key it reads the whole table every hour: for a small one, or where it is off by default.
   */
  statement: string;
};

const old = (moment: string) => `${moment} < now() - $1 * interval '1 day'`;
/** The condition is repeated, so that PostgreSQL checks it again for a row that changed meanwhile. */
const deleteWhere = (table: string, key: string, condition: string) =>
  `delete from ${table} where (${key}) in (select ${key} from ${table} where ${condition} limit $2) and ${condition}`;

const endedAt = 'coalesce(sent_at, failed_at)';

/** All tables that grow with use and not with the data of the providers; docs/operating.md lists them too. */
export const tasks: Task[] = [
  {
    table: 'audit_entries',
    variable: 'AUDIT_RETENTION_DAYS',
    // Of the oldest entries, so that it is cheap if none is too old.
    statement: `delete from audit_entries where (provider_id, id) in (
      select provider_id, id from (select provider_id, id, at from audit_entries order by id limit $2) oldest
      where ${old('at')})`,
  },
  {
    table: 'events',
    variable: 'EVENTS_RETENTION_DAYS',
    // The last one before the limit stays, so that a client that has read everything can continue from it. Those from
    // the position of an active webhook on stay 5 days longer: one that fails is disabled within these.
    statement: `with old as (
        select p.id as provider_id, e.id
        from providers p
          cross join lateral (
            select id, lead(at) over (order by id) as next_at
            from (select id, at from events where provider_id = p.id order by id limit $2 + 1) oldest) e
        where (select ${old('at')} from events where provider_id = p.id order by id offset 1 limit 1)
          and ${old('e.next_at')}
          and e.id < (select coalesce(min(position), e.id + 1) from webhooks where provider_id = p.id and is_active
            and position_clock > extract(epoch from now() - ($1 + 5) * interval '1 day') * 1000000)
        limit $2)
      delete from events e using old where e.provider_id = old.provider_id and e.id = old.id`,
  },
  {
    table: 'outbox',
    variable: 'MAIL_RETENTION_DAYS',
    // Mails that were sent or have failed, with their links.
    statement: `with old as (select provider_id, id from outbox where ${old(endedAt)} order by id limit $2),
      links as (delete from tokens where (provider_id, mail_id) in (select provider_id, id from old)
        and ${old('created_at')})
      delete from outbox where (provider_id, id) in (select provider_id, id from old) and ${old(endedAt)}`,
  },
  {
    table: 'tokens',
    variable: 'TOKENS_RETENTION_DAYS',
    statement: deleteWhere('tokens', 'provider_id, hash', old('expires_at')),
  },
  {
    table: 'sessions',
    variable: 'SESSIONS_RETENTION_DAYS',
    statement: deleteWhere('sessions', 'provider_id, hash', old('expires_at')),
  },
  {
    table: 'sign_on_failures',
    variable: 'SIGN_ON_FAILURES_RETENTION_DAYS',
    statement: deleteWhere(
      'sign_on_failures',
      'provider_id, username_hash',
      old(`greatest(window_started_at + interval '15 minutes', attempted_at + interval '30 seconds')`),
    ),
  },
  {
    table: 'idempotency_records',
    variable: 'IDEMPOTENCY_RETENTION_DAYS',
    statement: deleteWhere('idempotency_records', 'provider_id, key_hash', old('expires_at')),
  },
  {
    table: 'backup_runs',
    variable: 'BACKUP_RUNS_RETENTION_DAYS',
    statement: deleteWhere('backup_runs', 'id', old('started_at')),
  },
  {
    table: 'provider_usage',
    variable: 'USAGE_RETENTION_DAYS',
    statement: deleteWhere('provider_usage', 'provider_id, hour', old('hour')),
  },
  {
    table: 'import_refs',
    variable: 'IMPORT_REFS_RETENTION_DAYS',
    statement: deleteWhere('import_refs', 'provider_id, kind, ref', old('created_at')),
  },
  {
    table: 'staged_lines',
    variable: 'STAGED_LINES_RETENTION_DAYS',
    // Of imports that did not end; each import deletes its own.
    statement: deleteWhere('staged_lines', 'provider_id, line, part', old('staged_at')),
  },
];

/**
 * Deletes the rows of a task that are older than `days`, in batches. One process of many does it: where another one has
 * the lock, it goes on and this one ends. Returns the number of deleted rows.
 */
export async function deleteOld(
  database: Pick<Database, 'exclusively'>,
  { table, statement }: Task,
  days: number,
  signal?: AbortSignal,
) {
  for (let deleted = 0; ;) {
    const count = await database.exclusively(`housekeeping of ${table}`, async (client) => {
      const { rowCount } = await client.query({ text: statement, values: [days, batchSize] });
      return rowCount ?? 0;
    });
    deleted += count ?? 0;
    if (count === undefined || count < batchSize || signal?.aborted) return deleted;
    await sleep(pauseMs);
  }
}

/** Deletes the rows that webhooks wait for, for the case that no process sends their messages. */
async function wakeWebhooks({ pool }: Pick<Database, 'pool'>, signal: AbortSignal) {
  while (!signal.aborted) {
    const { rows } = await pool.query<{ count: number }>('select wake_webhooks() as count');
    if (rows[0]!.count === 0) return;
    await sleep(pauseMs);
  }
}

/** Deletes old rows now and every hour. Returns a function that stops it. */
export function startHousekeeping(config: Config, database: Database, log: Pick<Log, 'warn'>) {
  const run = async (signal: AbortSignal) => {
    for (const task of tasks) {
      const days = config[task.variable];
      if (days === undefined || signal.aborted) continue;
      await deleteOld(database, task, days, signal).catch((error: unknown) =>
        warnOfFailure(log, `The deletion of old rows of ${task.table}`, error),
      );
    }
    await wakeWebhooks(database, signal).catch((error: unknown) =>
      warnOfFailure(log, 'The deletion of rows of webhook_wakeups', error),
    );
  };
  return startPeriodic({ name: 'Housekeeping', intervalMs, run }, log);
}
