import { getDeliveryCounters } from '../counters.ts';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

export const mailMetrics: CreateArea = (register, { database }) => {
  const attempts = createReadCounter(register, {
    name: 'booking_mail_attempts_total',
    help: 'Attempts of this process to send a mail, by result',
    labelNames: ['result'],
  });
  return {
    refresh() {
      for (const [result, count] of Object.entries(getDeliveryCounters(database).mails))
        attempts.set(count, { result });
    },
  };
};
