import { LRUCache } from 'lru-cache';
import { serialize } from 'node:v8';
import type { Area } from './areas.ts';
import { getSchoolId, type Ctx } from './context.ts';

type Entry<T> = { version: string; loading: Promise<T> };

/** Caches values by versions, one of each name, up to a size in serialized bytes; a failed load is tried again. */
export function createVersionedCache<T>(maxSize: number, areas: readonly Area[] = ['catalog', 'dates']) {
  const cache = new LRUCache<string, Entry<T>>({ maxSize });
  return (ctx: Ctx, name: string, load: () => Promise<T>): Promise<T> => {
    const { publishableFor, language, settings } = ctx;
    const versions = ctx.versions!;
    const key = [getSchoolId(ctx), language, settings.timezone, name].join(' ');
    const ofAreas = areas.map((area) => versions[area]);
    const version = [publishableFor?.quarter, versions.shared, versions.school, ...ofAreas].join(' ');
    const known = cache.get(key);
    if (known?.version === version) return known.loading;
    const entry = { version, loading: load() };
    cache.set(key, entry, { size: 1 });
    const isCurrent = () => cache.peek(key) === entry;
    entry.loading.then(
      // A value above the limit is not stored.
      (value) => isCurrent() && cache.set(key, entry, { size: estimateSize([value].flat()) }),
      () => isCurrent() && cache.delete(key),
    );
    return entry.loading;
  };
}

const sampled = 50;

/** Estimates serialized bytes, of a long list by its first items, since serializing takes long. */
const estimateSize = (values: unknown[]) =>
  Math.ceil(serialize(values.slice(0, sampled)).byteLength * Math.max(1, values.length / sampled));
