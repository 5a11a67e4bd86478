import { normalizeIP } from '@fastify/rate-limit';
import { LRUCache } from 'lru-cache';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { hashApiKey, mayBeApiKey, type KeyProfile } from '../../core/api-key.ts';
import type { Database } from '../../database/client.ts';
import { createKeyedQueue } from '../../database/keyed-queue.ts';
import { statement, typed, typedOrNull, type RowOf } from '../../database/statement.ts';

// Text: each request waits for it.
const findByHash = statement(
  'authenticate',
  {
    takes: { hash: 'text' },
    returns: {
      provider_id: 'int',
      /** The root of the school's parent chain. */
      tenant_queue_key: 'int',
      key_id: 'int',
      profile: typed<KeyProfile>('text'),
      origins: typedOrNull<string[]>('json'),
      is_active: 'bool',
      /** The quarter of an hour of the database's clock. */
      quarter: 'text',
      version: 'text',
      /** True if the last use was recorded more than a minute ago. */
      stale: 'bool',
      ...({ catalog: 'text', dates: 'text', people: 'text', money: 'text', school: 'text', shared: 'text' } as const),
    },
    acrossSchools: 'a key finds its school',
  },
  `select provider_id, fairness_key as tenant_queue_key, key_id, profile, to_json(origins) as origins, is_active, quarter, version, stale,
      catalog, dates, people, money, school, shared from find_key(:hash)`,
);
export type FoundKey = RowOf<typeof findByHash>;

type Key = string | string[] | undefined;

export type KeyLookup = {
  /** `address`: of the client, undefined once its connection is closed. */
  findKey(key: Key, address: string | undefined): Promise<FoundKey | undefined>;
  /** True if the key was valid at its last use in this process. */
  isKnown(key: Key): boolean;
};

const maxKnown = 10_000;
/** Lookups of other keys, fair by address, so that guesses do not delay the keys in use. */
const unknownKeys = { slots: 2, waiting: 1_000, waitMs: 1_500 };

/** Looks keys up for each request, so that revoking is immediate; requests of one turn share a statement. */
export function createKeyLookup({ unlocked }: Pick<Database, 'unlocked'>): KeyLookup {
  const inFlight = new Map<string, Promise<FoundKey | undefined>>();
  const known = new LRUCache<string, true>({ max: maxKnown });
  const queue = createKeyedQueue(unknownKeys);

  async function query(hash: string) {
    await nextTurn();
    inFlight.delete(hash);
    const [found] = await findByHash(unlocked, { hash });
    if (!found) known.delete(hash);
    return found;
  }

  const queryUnknown = (hash: string, address = '') =>
    queue(
      [],
      async () => {
        const found = await query(hash);
        if (found) known.set(hash, true);
        return found;
      },
      { tenantQueueKey: crc32(normalizeIP(address)) },
    );

  async function findKey(key: Key, address: string | undefined) {
    if (typeof key !== 'string' || !mayBeApiKey(key)) return undefined;
    const hash = hashApiKey(key);
    const pending = inFlight.get(hash);
    if (!pending) {
      const own = known.get(hash) ? query(hash) : queryUnknown(hash, address);
      inFlight.set(hash, own);
      // One that waited too long never starts.
      own.catch(() => inFlight.get(hash) === own && inFlight.delete(hash));
      return own;
    }
    const found = await pending;
    // A turn for each request, since the queries of one turn share a connection: a slow one would delay the others.
    await nextTurn();
    return found;
  }
  return {
    findKey,
    isKnown: (key) => typeof key === 'string' && known.has(hashApiKey(key)),
  };
}
