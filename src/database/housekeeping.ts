import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../core/config.ts';
import type { Database } from './client.ts';
import type { Log } from '../core/log.ts';
import { warnOfFailure, type Job } from './periodic.ts';

const intervalMs = 60 * 60_000;
/** Rows per statement: its locks last for some milliseconds. */
const batchSize = 1_000;
const pauseMs = 50;

export type Task = {
  table: string;
  /** Days until a row is deleted, or the variable with them. */
  days: number | string;
  /** Deletes at most `$2` rows, each at least `$1` days too old; without an index it reads the table every hour. */
  statement: string;
};

export const old = (moment: string) => `${moment} < now() - $1 * interval '1 day'`;
/** The condition is repeated, so that PostgreSQL checks it again for a row that changed meanwhile. */
export const deleteWhere = (table: string, key: string, condition: string) =>
  `delete from ${table} where (${key}) in (select ${key} from ${table} where ${condition} limit $2) and ${condition}`;

/** The core's tables that grow with use and not with the data of the providers; docs/operate/operating.md lists all. */
export const coreTasks: Task[] = [
  {
    table: 'audit_entries',
    days: 'AUDIT_RETENTION_DAYS',
    // Of the oldest entries, so that it is cheap if none is too old.
    statement: `delete from audit_entries where (provider_id, id) in (
      select provider_id, id from (select provider_id, id, at from audit_entries order by id limit $2) oldest
      where ${old('at')})`,
  },
  {
    table: 'events',
    days: 'EVENTS_RETENTION_DAYS',
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
    table: 'tokens',
    days: 1,
    statement: deleteWhere('tokens', 'provider_id, hash', old('expires_at')),
  },
  {
    table: 'booking_links',
    days: 1,
    // The link of a postponed course works until the new end.
    statement: deleteWhere(
      'booking_links',
      'provider_id, hash',
      `${old('expires_at')} and not exists (
        select from participants p
          join course_dates d on d.provider_id = p.provider_id and d.id = p.course_date_id and d.ends_at > now()
        where p.provider_id = booking_links.provider_id and p.booking_id = booking_links.booking_id
          and coalesce(booking_links.participant_id, p.id) = p.id)`,
    ),
  },
  {
    table: 'sessions',
    days: 0,
    statement: deleteWhere('sessions', 'provider_id, hash', old('expires_at')),
  },
  {
    table: 'sign_on_failures',
    days: 0,
    statement: deleteWhere(
      'sign_on_failures',
      'provider_id, username_hash',
      old(`greatest(window_started_at + interval '15 minutes', attempted_at + interval '30 seconds')`),
    ),
  },
  {
    table: 'idempotency_records',
    days: 0,
    statement: deleteWhere('idempotency_records', 'provider_id, key_hash', old('expires_at')),
  },
  {
    table: 'course_interests',
    days: 30,
    // Those that are not confirmed end earlier.
    statement: deleteWhere(
      'course_interests',
      'provider_id, id',
      `(${old('notified_at')} or confirmed_at is null and created_at < now() - interval '7 days')`,
    ),
  },
];

/** Deletes rows older than `days` in batches, unless another process does; returns their number. */
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

type HousekeepingOptions = {
  tasks: Task[];
  config: Pick<Config, 'values'>;
  database: Database;
  log: Pick<Log, 'warn'>;
};

/** Deletes old rows at the start and every hour. */
export function housekeepingJob({ tasks, config, database, log }: HousekeepingOptions): Job {
  const run = async (signal: AbortSignal) => {
    for (const task of tasks) {
      const days = typeof task.days === 'number' ? task.days : (config.values[task.days] as number);
      if (signal.aborted) return;
      await deleteOld(database, task, days, signal).catch((error: unknown) =>
        warnOfFailure(log, `The deletion of old rows of ${task.table}`, error),
      );
    }
  };
  return { name: 'Housekeeping', intervalMs, run };
}
