import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses } from '../../../http/responses.ts';
import { propagateTraceparent } from '../../../http/request-log.ts';
import { t } from '../../../core/schema/types.ts';
import type { CallPolicy } from './outgoing-target.ts';
import * as schema from './schema.ts';
import * as service from './service.ts';

const tags = ['Webhooks'];
const params = Type.Object({ id: t.Id });

export const webhookRoutes: FastifyPluginAsyncTypebox<{ policy: CallPolicy }> = async (app, { policy }) => {
  const items = itemRoutes(app, 'Webhook', tags, schema.Webhook);

  // Without an ETag: delivery states change without a write of the school's.
  app.get('', {
    schema: {
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'All of the school, without their secrets.',
      tags,
      profiles: ['full', 'read'],
      response: responses.ok(Type.Array(schema.Webhook)),
    },
    ...listRoute.limited,
    handler: ({ ctx }) => service.listWebhooks(ctx),
  });

  app.post('', {
    schema: {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'Changes from now on are sent to the URL, one after the other. The secret is shown only in this response. ' +
        `A school has at most ${schema.maxWebhooks}.`,
      tags,
      profiles: ['full'],
      body: schema.WebhookBody,
      responseHeaders: ['X-Warning'],
      response: responses.created(schema.WebhookWithSecret),
    },
    handler: async ({ ctx, body }, reply) => {
      const created = await service.createWebhook(ctx, body, policy);
      return reply.headers(schema.toWarning(created)).created(created.id, created);
    },
  });

  items.get(service.getWebhook, {
    operationId: 'getWebhook',
    summary: 'Get a webhook',
    description: 'Without its secret.',
    profiles: ['full', 'read'],
  });

  app.put('/:id', {
    schema: {
      operationId: 'updateWebhook',
      summary: 'Update a webhook',
      description:
        'Only the fields sent change. With `is_active` true a disabled webhook continues after the last delivered ' +
        'change, or with a `resync` of each resource if changes after it are not stored any more.',
      tags,
      profiles: ['full'],
      item: 'Webhook',
      params,
      body: schema.WebhookChange,
      responseHeaders: ['X-Warning'],
      response: responses.ok(schema.Webhook),
    },
    handler: async ({ ctx, params, body }, reply) => {
      const changed = await service.updateWebhook(ctx, params.id, body, policy);
      return reply.headers(schema.toWarning(changed)).send(changed);
    },
  });

  items.delete(service.deleteWebhook, {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'With its log. A message that is being sent may still arrive.',
  });

  app.post('/:id/test', {
    schema: {
      operationId: 'testWebhook',
      summary: 'Send a test message',
      description: 'Sends a `webhook.test` at once, active or not, and returns the attempt, successful or not.',
      tags,
      profiles: ['full'],
      item: 'Webhook',
      params,
      response: responses.ok(schema.WebhookDelivery),
    },
    config: { refusesUnknown: true },
    handler: ({ ctx, params, headers }) =>
      service.testWebhook(ctx, params.id, policy, propagateTraceparent(headers['traceparent'])),
  });

  app.post('/:id/rotate', {
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description:
        `Shows the new secret, only in this response. For ${schema.overlapHours} hours each message has a signature by the ` +
        'former secret too, but not by one before that.',
      tags,
      profiles: ['full'],
      item: 'Webhook',
      params,
      response: responses.ok(schema.WebhookWithSecret),
    },
    config: { refusesUnknown: true },
    handler: ({ ctx, params }) => service.rotateSecret(ctx, params.id),
  });

  app.get('/:id/deliveries', {
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'List attempts of a webhook',
      description: 'The last 100, newest first, without bodies.',
      tags,
      profiles: ['full', 'read'],
      item: 'Webhook',
      params,
      response: responses.ok(Type.Array(schema.WebhookDelivery)),
    },
    ...listRoute.limited,
    handler: ({ ctx, params }) => service.listDeliveries(ctx, params.id),
  });
};
