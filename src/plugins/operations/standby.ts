import { ok, warning, type SystemCheck } from '../../interfaces/plugin/checks.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';

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
      const { counters, standby } = database;
      const read = standby?.countLists() ?? 0;
      lists.set(counters.lists - read, { source: 'primary' });
      lists.set(read, { source: 'standby' });
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

export const standbyCheck: SystemCheck = {
  check: 'standby',
  async run({ database }) {
    if (!database?.standby) return [];
    const { fault, lag } = await database.standby.examine();
    if (fault)
      return [warning(`Lists are read from the primary, since the standby is not used: ${fault.text}; ${fault.hint}`)];
    const text = lag ? `is ${lag.seconds.toFixed(1)} seconds behind` : 'answers';
    return [ok(`The standby ${text}`)];
  },
};
