import type { Command } from 'commander';
import { command, id, run, table, timestamp, type Options } from '../../../interfaces/cli/run.ts';
import type { Database } from '../../../database/client.ts';

type UsageOptions = Options & { provider?: number; since?: string };

export function usageCommand(program: Command) {
  command(
    program,
    'usage',
    'Show the requests, bookings, rows and storage of each provider, the busiest first; a server stores its counts every hour',
  )
    .option('--provider <id>', 'only this provider; shares are still of all', id)
    .option('--since <date>', 'from the hour of this time on, in the service time zone; default 7 days ago', timestamp)
    .action((options: UsageOptions) =>
      run(
        options,
        async ({ database, getCtx }) => {
          const { provider = null, since = new Date(Date.now() - 7 * 86_400_000).toISOString() } = options;
          if (provider !== null) await getCtx(provider);
          const usages = await listUsage(database, since, provider);
          return { json: usages, text: table(usages, 'No providers yet') };
        },
        { statementMs: 300_000 },
      ),
    );
}

type ProviderUsage = {
  provider_id: number;
  title: string | null;
  requests: number;
  /** Status 429. */
  refused: number;
  /** Status 5xx. */
  failed: number;
  /** Requests in the busiest minute of one process. */
  peak_per_minute: number;
  /** Share of the response times of all providers, in percent. */
  time_percent: number;
  bookings: number;
  rows: number;
  /** Share of the tables with their indexes, by the number of rows. */
  storage_mb: number;
};

/** Usage by provider since a moment, the one with most time first. Rows and storage are those of now. */
export async function listUsage({ pool }: Pick<Database, 'pool'>, since: string, providerId: number | null) {
  const { rows: usages } = await pool.query<Omit<ProviderUsage, 'rows' | 'storage_mb'>>(usageSince, [since]);
  const storage = await readStorage(pool);
  return usages
    .filter((usage) => providerId === null || usage.provider_id === providerId)
    .map((usage): ProviderUsage => {
      const { rows = 0, bytes = 0 } = storage.get(usage.provider_id) ?? {};
      return { ...usage, rows, storage_mb: Math.round(bytes / 104_857.6) / 10 };
    });
}

/** Counts the rows of each provider in every table that has a `provider_id`. */
async function readStorage(pool: Database['pool']) {
  const { rows: tables } = await pool.query<{ name: string; bytes: number }>(`
    select quote_ident(c.relname) as name, pg_total_relation_size(c.oid)::float8 as bytes
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'provider_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`);
  const storage = new Map<number, { rows: number; bytes: number }>();
  for (const { name, bytes } of tables) {
    const counted = await pool.query<{ id: number; rows: number }>(
      `select provider_id as id, count(*)::bigint as rows from ${name} group by provider_id`,
    );
    const total = counted.rows.reduce((sum, { rows }) => sum + rows, 0);
    for (const { id, rows } of counted.rows) {
      const before = storage.get(id) ?? { rows: 0, bytes: 0 };
      storage.set(id, { rows: before.rows + rows, bytes: before.bytes + (bytes * rows) / total });
    }
  }
  return storage;
}

const usageSince = `
  with used as (
      select provider_id, sum(requests)::bigint as requests, sum(refused)::bigint as refused,
        sum(failed)::bigint as failed, max(peak_per_minute) as peak, sum(milliseconds)::bigint as milliseconds
      from provider_usage where hour >= date_trunc('hour', $1::timestamptz) group by provider_id),
    booked as (
      select provider_id, count(*)::bigint as bookings from bookings where created_at >= $1 group by provider_id)
  select coalesce(p.id, u.provider_id) as provider_id, p.title, coalesce(u.requests, 0) as requests,
    coalesce(u.refused, 0) as refused, coalesce(u.failed, 0) as failed, coalesce(u.peak, 0) as peak_per_minute,
    coalesce(round(100.0 * u.milliseconds / nullif(sum(u.milliseconds) over (), 0), 1), 0)::float8 as time_percent,
    coalesce(b.bookings, 0) as bookings
  from providers p full join used u on u.provider_id = p.id left join booked b on b.provider_id = p.id
  order by coalesce(u.milliseconds, 0) desc, 1`;
