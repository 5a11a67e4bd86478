import { within, type CreateArea, type MetricsSources } from '../../../interfaces/plugin/metrics.ts';

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

/** Counts up to 10,000 mails, so that a scrape costs the same; reminders wait for others until they are due. */
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
  // Over one connection; the smallest statement is answered first.
  const ping = pool.query({ name: 'metrics_ping', text: 'select 1' }).then(() => performance.now() - sentAt);
  const [roundTripMs, { rows }] = await Promise.all([ping, pool.query<State>(selectState)]);
  return { roundTripMs, state: rows[0]! };
}
