import { Type } from '@sinclair/typebox';
import { eventChanges } from '../../../database/tables/events.ts';
import { EventResource, EventType } from '../../../database/record-events.ts';
import { named } from '../../../core/schema/types.ts';
import post from './openapi.json' with { type: 'json' };

const WebhookMessage = named(
  'WebhookMessage',
  Type.Unsafe({
    type: 'object',
    properties: {
      type: {
        anyOf: [EventType, { type: 'string', const: 'webhook.test' }],
        description:
          `A resource and one of ${eventChanges.filter((change) => change !== 'resync').join(', ')}, as \`course.updated\`; ` +
          '`resync`: read all items of the resource again; `webhook.test`: a test',
      },
      timestamp: { type: 'string', description: 'Time of the change', format: 'date-time' },
      data: named(
        'WebhookMessageData',
        Type.Unsafe({
          type: 'object',
          properties: {
            id: { type: 'integer', description: 'Id of the change in `GET /v2/changes`' },
            resource: EventResource,
            resource_id: { type: ['integer', 'null'], description: 'Null for a `resync`' },
            into: { type: 'integer', description: 'Of a merge alone: the id of the item that stays' },
            item: {
              type: ['object', 'null'],
              description:
                'The item as the interface shows it at delivery, null if it is deleted or merged; absent in thin messages, over 1 MB, and for ' +
                'bookings and sub-schools',
            },
            webhook_id: { type: 'integer', description: 'Of a `webhook.test`, which has no other ids' },
          },
        }),
      ),
    },
    required: ['type', 'timestamp', 'data'],
  }),
);

const { examples } = post.requestBody.content['application/json'];
const content = { 'application/json': { schema: WebhookMessage, examples } };

/** The section `webhooks` of the OpenAPI document: the message that the service sends. */
export const webhookMessages = { change: { post: { ...post, requestBody: { required: true, content } } } };
