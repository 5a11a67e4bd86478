import { setImmediate as turn } from 'node:timers/promises';
import { hashApiKey, mayBeApiKey } from '../../lib/api-key.ts';
import type { Database } from '../../database/client.ts';
import { opensSql } from '../../database/tenant-lock.ts';

/** Whose key it is, and the state of all that it may read. */
export type FoundKey = {
  provider_id: number;
  fairness_key: number;
  key_id: number;
  version: string;
  data_version: string;
  stale: boolean;
};

export type FindKey = (key: string | string[] | undefined) => Promise<FoundKey | undefined>;

/**
 * Looks a key up on each request, so that a revoked one is out at once. Requests of one turn of the event loop that bring
 * the same key share one statement, which leaves after the last of them has come.
 */
export function createKeyLookup({ pool }: Database): FindKey {
  const inFlight = new Map<string, Promise<FoundKey | undefined>>();

  async function lookUp(hash: string) {
    await turn();
    inFlight.delete(hash);
    const { rows } = await pool.query<FoundKey>({ name: 'authenticate', text, values: [hash] });
    return rows[0];
  }

  return async (key) => {
    if (typeof key !== 'string' || !mayBeApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const shared = inFlight.get(hash);
    if (!shared) {
      const own = lookUp(hash);
      inFlight.set(hash, own);
      return own;
    }
    const found = await shared;
    // Each goes on in a turn of its own: what is asked in one goes over one connection, where a slow read holds up the rest.
    await turn();
    return found;
  };
}

const text = `select k.provider_id, coalesce(r.root_id, r.id) as fairness_key, k.id as key_id, p.changed_at::text as version,
    concat_ws(' ', p.changed_at, p.xmin, s.changed_at, s.xmin, pg_postmaster_start_time()) as data_version,
    k.last_used_at is null or k.last_used_at < now() - interval '1 minute' as stale
  from api_keys k join providers r on r.id = k.provider_id join provider_state p on p.provider_id = k.provider_id
    cross join service_state s
  where k.hash = $1 and r.closed_at is null and ${opensSql('k')}`;
