import { Gauge, type Registry } from 'prom-client';
import { createReadCounter, within, type CreateArea, type MetricsSources } from '../../../interfaces/plugin/metrics.ts';

type State = { unsent: number; oldest_seconds: number; events: number };

/** Counting stops at 10,000, so that a scrape costs the same with any number of mails. */
const selectState = {
  name: 'metrics_state',
  text: `select o.unsent, o.oldest_seconds,
      coalesce(pg_stat_get_tuples_inserted(to_regclass('events')), 0) as events
    from (select count(*)::int as unsent,
        coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
      from (select created_at from outbox where sent_at is null and failed_at is null
        order by provider_id, due_at, id limit 10000) unsent) o`,
};

/** Values that all processes share: each reports the same, so queries take the maximum. */
export const databaseStateMetrics: CreateArea = (register, { database }) => {
  const { up, roundTrip, unsent, oldest, events } = createGauges(register);
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

const createGauges = (register: Registry) => ({
  up: gauge(register, 'booking_database_up', '1 if the database answered this scrape within a second'),
  roundTrip: gauge(
    register,
    'booking_database_round_trip_seconds',
    'Time of the smallest statement, with the wait for a connection',
  ),
  unsent: gauge(register, 'booking_outbox_unsent', 'Mails that are still to be sent; counted up to 10,000'),
  oldest: gauge(register, 'booking_outbox_oldest_seconds', 'Age of the oldest mail that is still to be sent'),
  events: createReadCounter(register, {
    name: 'booking_events_total',
    help: 'Entries written to the change feed since the statistics of the database began',
  }),
});

const gauge = (register: Registry, name: string, help: string) => new Gauge({ name, help, registers: [register] });

async function readState({ pool }: MetricsSources['database']) {
  const sentAt = performance.now();
  // In one write; the smallest statement is answered first.
  const ping = pool.query({ name: 'metrics_ping', text: 'select 1' }).then(() => performance.now() - sentAt);
  const [roundTripMs, { rows }] = await Promise.all([ping, pool.query<State>(selectState)]);
  return { roundTripMs, state: rows[0]! };
}
