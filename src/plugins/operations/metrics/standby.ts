import { Gauge } from 'prom-client';
import { createReadCounter, within, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

/** Values of a standby are absent without `DATABASE_READ_URL`. */
export const standbyMetrics: CreateArea = (register, { database }) => {
  const registers = [register];
  const up = new Gauge({
    name: 'booking_standby_up',
    help: '1 if the database of DATABASE_READ_URL answered this scrape within a second and is a standby',
    registers,
  });
  const seconds = new Gauge({
    name: 'booking_standby_lag_seconds',
    help: 'How long ago the standby had everything that the primary has',
    registers,
  });
  const bytes = new Gauge({
    name: 'booking_standby_lag_bytes',
    help: 'Log of the primary that the standby has not replayed',
    registers,
  });
  const lists = createReadCounter(register, {
    name: 'booking_lists_total',
    help: 'Lists that were queried, by the server that had the rows; not those from the response cache',
    labelNames: ['source'],
  });
  return {
    async refresh() {
      for (const [source, count] of Object.entries(database.counters.lists)) lists.set(count, { source });
      const gauges = [up, seconds, bytes];
      const { standby } = database;
      const state = standby && (await within(standby.examine()).catch(() => ({ isUp: false, lag: undefined })));
      for (const one of gauges) one.remove();
      if (!state) return;
      up.set(state.isUp ? 1 : 0);
      if (!state.lag) return;
      seconds.set(state.lag.seconds);
      bytes.set(state.lag.bytes);
    },
  };
};
