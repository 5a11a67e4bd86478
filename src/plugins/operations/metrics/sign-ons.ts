import { signOnCounts } from '../../../resources/auth/session-service.ts';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

export const signOnMetrics: CreateArea = (register) => {
  const signOns = createReadCounter(register, {
    name: 'booking_sign_ons_total',
    help: 'Sign-ons of course users at this process by way and result; `limited` after too many failures',
    labelNames: ['way', 'result'],
  });
  return {
    refresh() {
      for (const [way, counts] of Object.entries(signOnCounts))
        for (const [result, count] of Object.entries(counts)) signOns.set(count, { way, result });
    },
  };
};
