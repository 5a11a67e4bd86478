import { LRUCache } from 'lru-cache';
import type { PageHints, PageHintStore } from '../../database/context.ts';
import { createPageHints } from '../../lists/paging/index.ts';

export type CachedResponse = { body: Buffer | string; headers: Record<string, string> };
export type ResponseCache = ReturnType<typeof createResponseCache>;

/** Responses by cache key, which contains the versions, so that none is ever stale; at most `bytes` in memory. */
export function createResponseCache(bytes: number) {
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: bytes,
    maxEntrySize: Math.ceil(bytes / 6),
    // 1,000 bytes stand for the headers and the entry itself.
    sizeCalculation: ({ body }, key) => Buffer.byteLength(body) + 2 * key.length + 1_000,
  });
  const lookups = { hits: 0, misses: 0 };
  const inFlight = new Map<string, Promise<CachedResponse | null>>();
  return {
    entries: responses,
    lookups,
    get: (key: string) => responses.get(key),
    /** The response that another request is computing, if there is one. */
    pending: (key: string) => inFlight.get(key),
    /** Registers a response that is being computed; the returned function ends that, once. */
    start(key: string) {
      let settle!: (outcome: CachedResponse | Error | null) => void;
      const computed = new Promise<CachedResponse | null>((resolve, reject) => {
        settle = (outcome) => {
          if (inFlight.get(key) !== computed) return;
          inFlight.delete(key);
          if (outcome instanceof Error) {
            reject(outcome);
            return;
          }
          if (outcome) responses.set(key, outcome);
          resolve(outcome);
        };
      });
      // Without a waiting request an error would be unhandled.
      computed.catch(() => undefined);
      inFlight.set(key, computed);
      return settle;
    },
  };
}

type PageHintCache = LRUCache<string, PageHints>;

/** Creates a cache of at most 1 MB. */
export const createPageHintCache = (): PageHintCache =>
  new LRUCache({ maxSize: 1_048_576, sizeCalculation: (_hints, key) => 2 * key.length + 600 });

/** The hints of one list's queries; `prefix` contains the versions and the list. */
export const getPageHints = (cache: PageHintCache, prefix: string): PageHintStore => ({
  find: (queryKey) => cache.get(`${prefix} ${queryKey}`),
  open(queryKey) {
    const key = `${prefix} ${queryKey}`;
    const hints = cache.get(key) ?? createPageHints();
    cache.set(key, hints);
    return hints;
  },
});
