import type { Pool } from 'pg';
import type { Database } from './client.ts';
import type { Log } from '../core/log.ts';
import { startPeriodic } from './periodic.ts';

/** A stored clock that is ahead of the database's by `seconds`; null is the clock of shared data. */
export type ClockAhead = { provider_id: number | null; seconds: number };

type ClocksAhead = { count: number; seconds: number };

/** Clocks that are more than a minute ahead, the furthest first. */
export async function findClocksAhead(pool: Pick<Pool, 'query'>, providerId?: number): Promise<ClockAhead[]> {
  const { rows } = await pool.query<ClockAhead>(
    `select provider_id, floor(extract(epoch from changed_at - now()))::float8 as seconds
      from (select provider_id, changed_at from provider_state where $1::bigint is null or provider_id = $1
        union all select null, changed_at from service_state where $1::bigint is null) clocks
      where changed_at > now() + interval '1 minute'
      order by changed_at desc, provider_id`,
    [providerId ?? null],
  );
  return rows;
}

/** Number of clocks that are more than a minute ahead, and the seconds of the furthest. */
export async function summarizeClocksAhead(pool: Pick<Pool, 'query'>): Promise<ClocksAhead> {
  const { rows } = await pool.query<ClocksAhead>(
    `select count(*)::int as count, coalesce(floor(extract(epoch from max(changed_at) - now())), 0)::float8 as seconds
      from (select changed_at from provider_state union all select changed_at from service_state) clocks
      where changed_at > now() + interval '1 minute'`,
  );
  return rows[0]!;
}

/** A one-line warning, or undefined if no clock is ahead. Names no provider, since `/ready` is public. */
export function clockWarning({ count, seconds }: ClocksAhead) {
  if (count === 0) return undefined;
  const clocks = count === 1 ? '1 stored clock is' : `${count} stored clocks are`;
  return `${clocks} ahead of the database's clock, by up to ${seconds} s: \`doctor\` lists them`;
}

const intervalMs = 60_000;

/** Logs a warning about tenant clocks in the future, now and when their number changes. Returns a function that stops it. */
export function startClockCheck({ pool }: Pick<Database, 'pool'>, log: Pick<Log, 'warn'>) {
  let count = 0;
  const run = async () => {
    const ahead = await summarizeClocksAhead(pool);
    const warning = clockWarning(ahead);
    if (warning !== undefined && ahead.count !== count) log.warn(warning);
    count = ahead.count;
  };
  return startPeriodic({ name: 'Comparing the clocks', intervalMs, run }, log);
}
