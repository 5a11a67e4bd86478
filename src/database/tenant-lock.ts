import type { PoolClient } from 'pg';
import { clockOf, type Areas } from './areas.ts';

/** Takes a lock as the transaction's first statement; returns the transaction's timestamp. */
export type Lock = (client: PoolClient) => Promise<string>;

type Timestamp = { now: string };

/** SQL condition: the `api_keys` row with this alias is neither revoked nor expired. */
export const activeKeySql = (key: string) =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > now())`;

/** The clock never repeats or goes back, even if the system's does. */
const nextTimestamp = "greatest(clock_timestamp(), changed_at + interval '1 microsecond')";

/**
 * Locks `provider_state` rows in ascending order, which avoids deadlocks, and sets their clocks, also those of these
 * areas, to one timestamp. A separate statement: combined with an insert, ids would not follow commit order.
 */
export const lockProviders =
  (providerIds: number[], areas: Areas): Lock =>
  async (client) => {
    const { rows } = await client.query<Timestamp>(
      providerIds.length === 1 ? lockOne(providerIds, areas) : lockSeveral(providerIds, areas),
    );
    if (rows.length !== providerIds.length) throw new Error('a provider without its row in provider_state');
    return rows[0]!.now;
  };

const lockOne = (values: number[], areas: Areas) => ({
  name: ['lock_provider', ...areas].join('_'),
  // Without `offset 0` the planner may evaluate the clock once per column.
  text: `update provider_state set (${clocks(areas).join(', ')}) =
      (select ${clocks(areas).fill('next').join(', ')} from (select ${nextTimestamp} as next offset 0) clock)
    where provider_id = $1 returning changed_at::text as now`,
  values,
});

const clocks = (areas: Areas) => ['changed_at', ...areas.map(clockOf)];

const lockSeveral = (providerIds: number[], areas: Areas) => ({
  text: `with locked as materialized
      (select provider_id, changed_at from provider_state where provider_id = any($1) order by provider_id for no key update),
    clock as materialized
      (select greatest(clock_timestamp(), max(changed_at) + interval '1 microsecond') as now from locked)
    update provider_state s set ${clocks(areas)
      .map((name) => `${name} = clock.now`)
      .join(', ')} from locked, clock
    where s.provider_id = locked.provider_id returning s.changed_at::text as now`,
  values: [providerIds],
});

/** Locks the single row of `service_state`, for data that all providers share. */
export const lockShared: Lock = async (client) => {
  const { rows } = await client.query<Timestamp>(
    `update service_state set changed_at = ${nextTimestamp} returning changed_at::text as now`,
  );
  if (!rows[0]) throw new Error('service_state has no row');
  return rows[0].now;
};

/** Timestamp only: for a new provider without a parent, and for the negative controls of the race tests. */
export const noLock: Lock = async (client) => {
  const { rows } = await client.query<Timestamp>(`select clock_timestamp()::text as now`);
  return rows[0]!.now;
};
