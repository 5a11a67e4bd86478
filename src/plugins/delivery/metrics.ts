import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';
import { getDeliveryCounters } from './counters.ts';
import { readWebhookStates } from './webhooks/state.ts';

export const mailMetrics: CreateArea = ({ readCounter }, { database }) => {
  const attempts = readCounter(
    'booking_mail_attempts_total',
    'Attempts of this process to send a mail, by result',
    'result',
  );
  return {
    refresh() {
      for (const [result, count] of Object.entries(getDeliveryCounters(database).mails))
        attempts.set(count, { result });
    },
  };
};

const states = ['working', 'failing', 'disabled'] as const;

/** The attempts of this process, and the webhooks of the whole database. */
export const webhookMetrics: CreateArea = ({ gauge, readCounter }, { database }) => {
  const attempts = readCounter(
    'booking_webhook_attempts_total',
    'Attempts of this process to deliver a message to a webhook, by result',
    'result',
  );
  const webhooks = gauge('booking_webhooks', 'Webhooks that are not switched off by their school, by state', 'state');
  const oldest = gauge('booking_webhook_oldest_seconds', 'Age of the oldest event that a webhook has not got', 'state');
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
