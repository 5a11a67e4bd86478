import { Gauge } from 'prom-client';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

/** The cache of lists; nothing with RESPONSE_CACHE_MB=0. */
export const responseCacheMetrics: CreateArea = (register) => {
  const registers = [register];
  const lookups = createReadCounter(register, {
    name: 'booking_response_cache_lookups_total',
    help: 'Lists that were looked up in the cache; those answered by 304 before are not among them',
    labelNames: ['result'],
  });
  const bytes = new Gauge({
    name: 'booking_response_cache_bytes',
    help: 'Memory of the cached responses',
    registers,
  });
  const entries = new Gauge({ name: 'booking_response_cache_entries', help: 'Cached responses', registers });
  return {
    refresh({ listCache: { responses } }) {
      if (!responses) return;
      lookups.set(responses.lookups.hits, { result: 'hit' });
      lookups.set(responses.lookups.misses, { result: 'miss' });
      bytes.set(responses.entries.calculatedSize);
      entries.set(responses.entries.size);
    },
  };
};
