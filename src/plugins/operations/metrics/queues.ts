import type { FastifyInstance } from 'fastify';
import type { QueueUsage } from '../../../database/keyed-queue.ts';
import type { CreateAppArea } from '../../../interfaces/plugin/metrics.ts';
import { passwordQueueUsage } from '../../../domains/school/auth/password-service.ts';

/** Queues of requests: lists, writes and password hashes. */
export const queueMetrics: CreateAppArea = ({ gauge, readCounter }, { database }) => {
  const waiting = gauge('booking_queue_waiting', 'Work that waits in a queue', 'queue');
  const running = gauge('booking_queue_running', 'Work that has left a queue and is in progress', 'queue');
  const longestWait = gauge(
    'booking_queue_longest_wait_seconds',
    'How long the first in the queue waits by now',
    'queue',
  );
  const started = readCounter(
    'booking_queue_started_total',
    'Work that left a queue, after a wait or without one',
    'queue',
  );
  const waited = readCounter(
    'booking_queue_wait_seconds_total',
    'Sum of the waits of the work that left a queue',
    'queue',
  );
  return {
    refresh(app) {
      for (const [queue, usage] of Object.entries(getQueues(app, database.usage().writes))) {
        waiting.set({ queue }, usage.waiting);
        running.set({ queue }, usage.running);
        longestWait.set({ queue }, usage.longestWaitMs / 1_000);
        started.set(usage.started, { queue });
        waited.set(usage.waitedMs / 1_000, { queue });
      }
    },
  };
};

/** The hashes of all applications in a process share one queue. */
const getQueues = ({ listCache: { limiter } }: FastifyInstance, writes: QueueUsage) => ({
  ...(limiter && { lists: limiter.usage() }),
  ...{ writes, passwords: passwordQueueUsage() },
});

/** The cache of lists; nothing with RESPONSE_CACHE_MB=0. */
export const responseCacheMetrics: CreateAppArea = ({ gauge, readCounter }) => {
  const lookups = readCounter(
    'booking_response_cache_lookups_total',
    'Lists that were looked up in the cache; those answered by 304 before are not among them',
    'result',
  );
  const bytes = gauge('booking_response_cache_bytes', 'Memory of the cached responses');
  const entries = gauge('booking_response_cache_entries', 'Cached responses');
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
