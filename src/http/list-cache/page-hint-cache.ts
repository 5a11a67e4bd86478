import { LRUCache } from 'lru-cache';
import type { PageHints, PageHintStore } from '../../database/context.ts';
import { createPageHints } from '../../lists/paging/index.ts';

type PageHintCache = LRUCache<string, PageHints>;

/** At most 1 MB. */
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
