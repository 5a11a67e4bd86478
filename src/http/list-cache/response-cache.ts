import { LRUCache } from 'lru-cache';

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
