import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../core/config.ts';
import type { Database } from './client.ts';
import type { Log } from '../core/log.ts';
import { warnOfFailure, type Job } from './periodic.ts';
import { statement } from './statement.ts';

// Text: conditions that a deletion repeats, and chains of `with`.

const intervalMs = 60 * 60_000;
/** Rows per statement: its locks last for some milliseconds. */
const batchSize = 1_000;
const pauseMs = 50;

export type Task = ReturnType<typeof defineTask>;

/**
 * Declares the deletion of at most `:limit` rows, each at least `:days` too old, once for a table; without an index it
 * reads the table every hour. `days` are those until a row is deleted, or the variable with them.
 */
export const defineTask = (table: string, days: number | string, text: string) => {
  const declared = { takes: { days: 'float', limit: 'int' }, acrossSchools: 'a job of all schools' } as const;
  return { table, days, deleteSome: statement(`delete_old_${table}`, declared, text) };
};

export const old = (moment: string) => `${moment} < now() - :days * interval '1 day'`;
/** The condition is repeated, so that PostgreSQL checks it again for a row that changed meanwhile. */
export const deleteWhere = (table: string, key: string, condition: string) =>
  `delete from ${table} where (${key}) in (select ${key} from ${table} where ${condition} limit :limit) and ${condition}`;

/** The core's tables that grow with use and not with the data of the providers; docs/operate/operating.md lists all. */
export const coreTasks: Task[] = [
  // Of the oldest entries, so that it is cheap if none is too old.
  defineTask(
    'audit_entries',
    'AUDIT_RETENTION_DAYS',
    `delete from audit_entries where (provider_id, id) in (
      select provider_id, id from (select provider_id, id, at from audit_entries order by id limit :limit) oldest
      where ${old('at')})`,
  ),
  // The last one before the limit stays, so that a client that has read everything can continue from it. Those from
  // the position of an active webhook on stay 5 days longer: one that fails is disabled within these.
  defineTask(
    'events',
    'EVENTS_RETENTION_DAYS',
    `with old as (
        select p.id as provider_id, e.id
        from providers p
          cross join lateral (
            select id, lead(at) over (order by id) as next_at
            from (select id, at from events where provider_id = p.id order by id limit :limit + 1) oldest) e
        where (select ${old('at')} from events where provider_id = p.id order by id offset 1 limit 1)
          and ${old('e.next_at')}
          and e.id < (select coalesce(min(position), e.id + 1) from webhooks where provider_id = p.id and is_active
            and position_clock > extract(epoch from now() - (:days + 5) * interval '1 day') * 1000000)
        limit :limit)
      delete from events e using old where e.provider_id = old.provider_id and e.id = old.id`,
  ),
  defineTask('tokens', 1, deleteWhere('tokens', 'provider_id, hash', old('expires_at'))),
  // The link of a postponed course works until the new end.
  defineTask(
    'booking_links',
    1,
    deleteWhere(
      'booking_links',
      'provider_id, hash',
      `${old('expires_at')} and not exists (
        select from participants p
          join course_dates d on d.provider_id = p.provider_id and d.id = p.course_date_id and d.ends_at > now()
        where p.provider_id = booking_links.provider_id and p.booking_id = booking_links.booking_id
          and coalesce(booking_links.participant_id, p.id) = p.id)`,
    ),
  ),
  defineTask('sessions', 0, deleteWhere('sessions', 'provider_id, hash', old('expires_at'))),
  defineTask(
    'sign_on_failures',
    0,
    deleteWhere(
      'sign_on_failures',
      'provider_id, username_hash',
      old(`greatest(window_started_at + interval '15 minutes', attempted_at + interval '30 seconds')`),
    ),
  ),
  defineTask('idempotency_records', 0, deleteWhere('idempotency_records', 'provider_id, key_hash', old('expires_at'))),
  // Those that are not confirmed end earlier.
  defineTask(
    'course_interests',
    30,
    deleteWhere(
      'course_interests',
      'provider_id, id',
      `(${old('notified_at')} or confirmed_at is null and created_at < now() - interval '7 days')`,
    ),
  ),
];

/** Deletes rows older than `days` in batches, unless another process does; returns their number. */
export async function deleteOld(
  database: Pick<Database, 'exclusively'>,
  { table, deleteSome }: Task,
  days: number,
  signal?: AbortSignal,
) {
  for (let deleted = 0; ;) {
    const count = await database.exclusively(`housekeeping of ${table}`, ($client) =>
      deleteSome.count({ $client }, { days, limit: batchSize }),
    );
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
