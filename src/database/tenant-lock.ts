import type { PoolClient } from 'pg';
import { Problem } from '../core/errors.ts';
import type { Areas } from './areas.ts';

/** Takes a lock as the transaction's first statement; returns the transaction's timestamp. */
export type Lock = (client: PoolClient) => Promise<string>;

/**
 * Locks `provider_state` rows in ascending order, which avoids deadlocks, and sets their clocks, also those of these
 * areas, to one timestamp. A separate statement: combined with an insert, ids would not follow commit order. The clock
 * never repeats or goes back, even if the system's does.
 */
export const lockProviders =
  (providerIds: number[], areas: Areas): Lock =>
  async (client) => {
    const [one, ...others] = providerIds;
    const statement = others.length === 0 ? lockOne : lockSeveral;
    const values = [others.length === 0 ? one : providerIds, areas];
    const now = await takeLock(client, statement, values);
    if (now === null) throw Problem.notFound('School');
    return now;
  };

const lockOne = { name: 'lock_provider', text: 'select lock_provider($1, $2)::text as now' };
const lockSeveral = { name: 'lock_providers', text: 'select lock_providers($1, $2)::text as now' };

/** Locks the single row of `service_state`, for data that all providers share. */
export const lockShared: Lock = async (client) => {
  const now = await takeLock(client, { text: 'select lock_shared()::text as now' });
  if (now === null) throw new Error('service_state has no row');
  return now;
};

async function takeLock(client: PoolClient, statement: { name?: string; text: string }, values: unknown[] = []) {
  const { rows } = await client.query<{ now: string | null }>({ ...statement, values });
  return rows[0]!.now;
}

/** Timestamp only: for a new provider without a parent. */
export const noLock: Lock = async (client) => {
  const { rows } = await client.query<{ now: string }>(`select clock_timestamp()::text as now`);
  return rows[0]!.now;
};
