import { Gauge } from 'prom-client';
import { readWebhookStates } from './state.ts';
import { getDeliveryCounters } from '../counters.ts';
import { createReadCounter, within, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

const states = ['working', 'failing', 'disabled'] as const;

/** The attempts of this process, and the webhooks of the whole database. */
export const webhookMetrics: CreateArea = (register, { database }) => {
  const attempts = createReadCounter(register, {
    name: 'booking_webhook_attempts_total',
    help: 'Attempts of this process to deliver a message to a webhook, by result',
    labelNames: ['result'],
  });
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['state'] as const, registers: [register] });
  const webhooks = gauge('booking_webhooks', 'Webhooks that are not switched off by their school, by state');
  const oldest = gauge('booking_webhook_oldest_seconds', 'Age of the oldest event that a webhook has not got');
  return {
    async refresh() {
      for (const [result, count] of Object.entries(getDeliveryCounters(database).webhooks))
        attempts.set(count, { result });
      webhooks.reset();
      oldest.reset();
      const found = await within(readWebhookStates(database.pool)).catch(() => undefined);
      if (!found) return;
      for (const state of states) {
        const { count = 0, oldestSeconds = 0 } = found.find((one) => one.state === state) ?? {};
        webhooks.set({ state }, count);
        if (state !== 'disabled') oldest.set({ state }, oldestSeconds ?? 0);
      }
    },
  };
};
