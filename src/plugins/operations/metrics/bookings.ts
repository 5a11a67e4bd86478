import { Counter } from 'prom-client';
import { codesOf } from '../../../http/errors/error-handler.ts';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

export const bookingMetrics: CreateArea = (register, { database: { counters } }) => {
  const made = createReadCounter(register, {
    name: 'booking_bookings_total',
    help: 'Bookings made; a repeated request with the same Idempotency-Key counts once',
  });
  const promotions = createReadCounter(register, {
    name: 'booking_waiting_list_promotions_total',
    help: 'Participants who got a better place because one became free',
  });
  const refused = new Counter({
    name: 'booking_bookings_refused_total',
    help: 'Refused booking requests by error code; one with several codes counts for each',
    labelNames: ['code'] as const,
    registers: [register],
  });
  return {
    refresh() {
      made.set(counters.committed.bookings);
      promotions.set(counters.committed.promotions);
    },
    onResponse({ routeOptions, problem }) {
      if (problem === null || !routeOptions.config.countsRefusals) return;
      for (const code of codesOf(problem)) refused.inc({ code });
    },
  };
};
