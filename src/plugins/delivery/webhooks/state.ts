import type { Pool } from 'pg';
import { personalResources } from '../../../domains/records/changes/schema.ts';

export type WebhookState = {
  /** `failing`: its last attempt failed; `disabled`: the server has switched it off. */
  state: 'working' | 'failing' | 'disabled';
  count: number;
  /** Age of the oldest event that one of them has not got; null if none waits. */
  oldestSeconds: number | null;
};

const selectStates = {
  name: 'webhook_states',
  text: `select case when not w.is_active then 'disabled' when w.failing_since is null then 'working' else 'failing' end
      as state, count(*)::int as count, extract(epoch from now() - min(waiting.at))::float8 as "oldestSeconds"
    from webhooks w
      join providers p on p.id = w.provider_id and p.closed_at is null
      left join (select distinct provider_id from webhook_wakeups) u on u.provider_id = w.provider_id
      left join lateral (
        select e.at from events e where w.is_active and (w.is_waiting or u.provider_id is not null)
          and e.provider_id = w.provider_id and e.id > w.position
        order by e.id limit 1) waiting on true
    where w.is_active or w.disabled_at is not null
    group by 1`,
};

/** The active webhooks to which messages with personal data are sent unencrypted. */
export async function countUnencrypted(pool: Pick<Pool, 'query'>) {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from webhooks w join providers p on p.id = w.provider_id and p.closed_at is null
      where w.is_active and w.url ilike 'http:%' and w.payload = 'full' and (w.types is null
        or exists (select from unnest(w.types) type where split_part(type, '.', 1) = any($1)))`,
    [personalResources],
  );
  return rows[0]!.count;
}

/** The webhooks of all schools by state, for metrics and `doctor`; a state without a webhook is absent. */
export async function readWebhookStates(pool: Pick<Pool, 'query'>) {
  return (await pool.query<WebhookState>(selectStates)).rows;
}
