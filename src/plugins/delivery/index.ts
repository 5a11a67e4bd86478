import { defineTask, old } from '../../database/housekeeping.ts';
import { definePlugin, type OperationGroup } from '../../interfaces/plugin/define-plugin.ts';
import { deliverySettings } from './settings.ts';

const endedAt = 'coalesce(sent_at, failed_at)';

// Mails that were sent or have failed, with their links; links to bookings stay valid.
const outboxTask = defineTask(
  'outbox',
  'MAIL_RETENTION_DAYS',
  `with old as (select provider_id, id from outbox where ${old(endedAt)} order by id limit :limit),
    links as (delete from tokens where (provider_id, mail_id) in (select provider_id, id from old)
      and ${old('created_at')}),
    booking_links as (update booking_links set mail_id = null
      where (provider_id, mail_id) in (select provider_id, id from old))
    delete from outbox where (provider_id, id) in (select provider_id, id from old) and ${old(endedAt)}`,
);

/** Mails from the outbox, and the messages of webhooks from the change feed. */
export const delivery = definePlugin({
  name: 'delivery',
  settings: deliverySettings,
  commands: [{ names: ['webhook', 'mail'], load: async () => (await import('./commands.ts')).deliveryCommands }],
  async operations(config) {
    const [{ mailRoutes }, { webhookRoutes }, { webhookMessages }] = await Promise.all([
      import('./mail/routes.ts'),
      import('./webhooks/routes.ts'),
      import('./webhooks/openapi.ts'),
    ]);
    const { callPolicy: policy } = config.of(deliverySettings);
    const groups: OperationGroup[] = [
      { prefix: '/mails', routes: mailRoutes },
      {
        prefix: '/webhooks',
        routes: async (app) => {
          await app.register(webhookRoutes, { policy });
        },
      },
    ];
    return { groups, messages: webhookMessages };
  },
  async watched() {
    const { mailCheck, mailConditions, mailMetrics, webhookCheck, webhookMetrics } = await import('./watched.ts');
    return {
      checks: [mailCheck, webhookCheck],
      conditions: mailConditions,
      metrics: [mailMetrics, webhookMetrics],
    };
  },
  housekeeping: [outboxTask],
  docs: { pages: ['webhooks', 'mails'] },
  server: async (context) => (await import('./server.ts')).openDelivery(context),
});
