import { setImmediate as nextTick } from 'node:timers/promises';
import { hashApiKey, mayBeApiKey } from '../../lib/api-key.ts';
import type { KeyProfile } from '../../lib/key-profiles.ts';
import type { Versions } from '../../core/context.ts';
import type { Database } from '../../database/client.ts';

export type FoundKey = Versions & {
  provider_id: number;
  /** The root of the school's parent chain. */
  fairness_key: number;
  key_id: number;
  profile: KeyProfile;
  origins: string[] | null;
  is_active: boolean;
  /** The quarter of an hour of the database's clock. */
  quarter: string;
  version: string;
  /** True if the last use was recorded more than a minute ago. */
  stale: boolean;
};

export type FindKey = (key: string | string[] | undefined) => Promise<FoundKey | undefined>;

/**
 * Looks a key up for each request, so that a revoked key is invalid at once. Requests of one event-loop tick with the
 * same key share one statement.
 */
export function createKeyLookup({ pool }: Database): FindKey {
  const inFlight = new Map<string, Promise<FoundKey | undefined>>();

  async function query(hash: string) {
    await nextTick();
    inFlight.delete(hash);
    const { rows } = await pool.query<FoundKey>({
      name: 'authenticate',
      text: 'select * from find_key($1)',
      values: [hash],
    });
    return rows[0];
  }

  return async (key) => {
    if (typeof key !== 'string' || !mayBeApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const pending = inFlight.get(hash);
    if (!pending) {
      const own = query(hash);
      inFlight.set(hash, own);
      return own;
    }
    const found = await pending;
    // A tick for each request, since the queries of one tick share a connection: a slow one would delay the others.
    await nextTick();
    return found;
  };
}
