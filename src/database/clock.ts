import type { Pool } from 'pg';

/** A stored clock that is ahead of the database's; the one that all providers share has no provider. */
export type ClockAhead = { provider_id: number | null; seconds: number };

/** The clocks that are more than a minute ahead, the furthest first. */
export async function clocksAhead(pool: Pick<Pool, 'query'>, providerId?: number): Promise<ClockAhead[]> {
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

/** One line, or undefined when no clock is ahead. It names no provider: `/ready` shows it to everybody. */
export function clockWarning(ahead: ClockAhead[]) {
  if (ahead.length === 0) return undefined;
  const clocks = ahead.length === 1 ? '1 stored clock is' : `${ahead.length} stored clocks are`;
  return `${clocks} ahead of the database's clock, by up to ${ahead[0]!.seconds} s: \`doctor\` lists them`;
}
