import type { FastifyInstance } from 'fastify';
import type { QueueUsage } from '../../../database/keyed-queue.ts';
import { passwordQueueUsage } from '../../../domains/school/auth/password-service.ts';
import {
  within,
  type CreateArea,
  type MetricsSources,
  type CreateAppArea,
} from '../../../interfaces/plugin/metrics.ts';

/** The connections of this process. */
export const databaseMetrics: CreateArea = ({ gauge, readCounter }, { database }) => {
  const connections = gauge('booking_database_connections', 'Connections of this process by state', 'state');
  const maximum = gauge('booking_database_connections_max', 'The most connections that this process opens (POOL_SIZE)');
  const waiting = gauge('booking_database_connections_waiting', 'Work that waits for a free connection');
  const retries = readCounter(
    'booking_database_retries_total',
    'Write transactions that were tried again, by reason',
    'reason',
  );
  const slow = readCounter(
    'booking_database_slow_statements_total',
    'Statements of more than half a second; the log names them',
  );
  return {
    refresh() {
      const { max, open, idle, waiting: requests } = database.usage().connections;
      maximum.set(max);
      connections.set({ state: 'in_use' }, open - idle);
      connections.set({ state: 'idle' }, idle);
      waiting.set(requests);
      for (const [reason, count] of Object.entries(database.counters.retries)) retries.set(count, { reason });
      slow.set(database.counters.slowStatements);
    },
  };
};

type State = { unsent: number; oldest_seconds: number; events: number };

/**
 * Counting stops at 10,000, so that a scrape costs the same with any number of mails. Reminders give way to other mails
 * until they are due.
 */
const selectState = {
  name: 'metrics_state',
  text: `select o.unsent, o.oldest_seconds,
      coalesce(pg_stat_get_tuples_inserted(to_regclass('events')), 0) as events
    from (select count(*)::int as unsent,
        coalesce(extract(epoch from now() - min(created_at)
          filter (where purpose <> 'reminder' or due_at <= now() or last_error is not null)), 0)::float8 as oldest_seconds
      from (select created_at, purpose, due_at, last_error from outbox where sent_at is null and failed_at is null
        order by provider_id, due_at, id limit 10000) unsent) o`,
};

/** Values that all processes share: each reports the same, so queries take the maximum. */
export const databaseStateMetrics: CreateArea = ({ gauge, readCounter }, { database }) => {
  const up = gauge('booking_database_up', '1 if the database answered this scrape within a second');
  const roundTrip = gauge(
    'booking_database_round_trip_seconds',
    'Time of the smallest statement, with the wait for a connection',
  );
  const unsent = gauge('booking_outbox_unsent', 'Mails that are still to be sent; counted up to 10,000');
  const oldest = gauge('booking_outbox_oldest_seconds', 'Age of the oldest mail that is still to be sent');
  const events = readCounter(
    'booking_events_total',
    'Entries written to the change feed since the statistics of the database began',
  );
  return {
    async refresh() {
      for (const one of [roundTrip, unsent, oldest]) one.remove();
      events.reset();
      try {
        const { roundTripMs, state } = await within(readState(database));
        up.set(1);
        roundTrip.set(roundTripMs / 1_000);
        unsent.set(state.unsent);
        oldest.set(state.oldest_seconds);
        events.set(state.events);
      } catch {
        up.set(0);
      }
    },
  };
};

async function readState({ pool }: MetricsSources['database']) {
  const sentAt = performance.now();
  // In one write; the smallest statement is answered first.
  const ping = pool.query({ name: 'metrics_ping', text: 'select 1' }).then(() => performance.now() - sentAt);
  const [roundTripMs, { rows }] = await Promise.all([ping, pool.query<State>(selectState)]);
  return { roundTripMs, state: rows[0]! };
}

/** Values of a standby are absent without `DATABASE_READ_URL`. */
export const standbyMetrics: CreateArea = ({ gauge, readCounter }, { database }) => {
  const up = gauge(
    'booking_standby_up',
    '1 if the database of DATABASE_READ_URL answered this scrape within a second and is a standby',
  );
  const seconds = gauge('booking_standby_lag_seconds', 'How long ago the standby had everything that the primary has');
  const bytes = gauge('booking_standby_lag_bytes', 'Log of the primary that the standby has not replayed');
  const lists = readCounter(
    'booking_lists_total',
    'Lists that were queried, by the server that had the rows; not those from the response cache',
    'source',
  );
  return {
    async refresh() {
      for (const [source, count] of Object.entries(database.counters.lists)) lists.set(count, { source });
      const { standby } = database;
      const state = standby && (await within(standby.examine()).catch(() => ({ isUp: false, lag: undefined })));
      for (const one of [up, seconds, bytes]) one.remove();
      if (!state) return;
      up.set(state.isUp ? 1 : 0);
      if (!state.lag) return;
      seconds.set(state.lag.seconds);
      bytes.set(state.lag.bytes);
    },
  };
};

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
