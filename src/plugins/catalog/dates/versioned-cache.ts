import { LRUCache } from 'lru-cache';
import type { Ctx } from '../../../database/context.ts';

/** Caches values by the versions of the data that public dates depend on. A failed load is tried again. */
export function createVersionedCache<T>(max: number) {
  const cache = new LRUCache<string, Promise<T>>({ max });
  return (ctx: Ctx, name: string, load: () => Promise<T>): Promise<T> => {
    const key = `${toVersionKey(ctx)} ${name}`;
    const known = cache.get(key);
    if (known) return known;
    const loading = load();
    cache.set(key, loading);
    loading.catch(() => cache.delete(key));
    return loading;
  };
}

function toVersionKey({ publishableFor, versions, language, settings }: Ctx) {
  const { id, quarter } = publishableFor!;
  const { shared, school, catalog, dates } = versions!;
  return [id, quarter, shared, school, catalog, dates, language, settings.timezone].join(' ');
}
