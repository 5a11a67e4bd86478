import { LRUCache } from 'lru-cache';
import { serialize } from 'node:v8';
import type { Ctx } from '../../../database/context.ts';

type Entry<T> = { version: string; loading: Promise<T> };

/**
 * Caches values by the versions of the data that public dates depend on, one version of each name, school and language,
 * up to a size in serialized bytes; in memory they take about three times as much. A failed load is tried again.
 */
export function createVersionedCache<T>(maxSize: number) {
  const cache = new LRUCache<string, Entry<T>>({ maxSize });
  return (ctx: Ctx, name: string, load: () => Promise<T>): Promise<T> => {
    const { publishableFor, versions, language, settings } = ctx;
    const { shared, school, catalog, dates } = versions!;
    const key = [publishableFor!.id, language, settings.timezone, name].join(' ');
    const version = [publishableFor!.quarter, shared, school, catalog, dates].join(' ');
    const known = cache.get(key);
    if (known?.version === version) return known.loading;
    const entry = { version, loading: load() };
    cache.set(key, entry, { size: 1 });
    const isCurrent = () => cache.peek(key) === entry;
    entry.loading.then(
      // A value above the limit is not stored.
      (value) => isCurrent() && cache.set(key, entry, { size: estimateSize(value) }),
      () => isCurrent() && cache.delete(key),
    );
    return entry.loading;
  };
}

const sampled = 50;

/** In serialized bytes; of a long list from a part of it, since serializing takes long. */
function estimateSize(value: unknown): number {
  if (Buffer.isBuffer(value)) return value.byteLength;
  if (!Array.isArray(value) || value.length <= sampled) return serialize(value).byteLength;
  const step = Math.ceil(value.length / sampled);
  const sample = value.filter((_, n) => n % step === 0);
  return Math.ceil((serialize(sample).byteLength * value.length) / sample.length);
}
