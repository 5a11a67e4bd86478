import { Type } from '@sinclair/typebox';
import { eventChanges } from '../database/tables/events.ts';
import { EventResource, EventType } from '../database/event-types.ts';
import { named } from '../core/schema/types.ts';

const text = (description: string) => ({ type: 'string', description });
const header = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string' },
});

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
      timestamp: { ...text('Time of the change'), format: 'date-time' },
      data: {
        type: 'object',
        properties: {
          id: { type: 'integer', description: 'Id of the change in `GET /v2/changes`' },
          resource: EventResource,
          resource_id: { type: ['integer', 'null'], description: 'Null for a `resync`' },
          item: {
            type: ['object', 'null'],
            description:
              'The item as the interface shows it at delivery, null if it is deleted; absent in thin messages, over 1 MB, and for ' +
              'items that the interface does not show by themselves: bookings and sub-schools',
          },
          webhook_id: { type: 'integer', description: 'Of a `webhook.test`, which has no other ids' },
        },
      },
    },
    required: ['type', 'timestamp', 'data'],
  }),
);

const timestamp = '2026-07-01T09:00:00.123456+02:00';
const sample = (summary: string, type: string, data: object) => ({ summary, value: { type, timestamp, data } });
const examples = {
  full: sample('With the item', 'tag.created', {
    ...{ id: 1204, resource: 'tag', resource_id: 7, item: { id: 7, title: 'Weekend' } },
  }),
  thin: sample('Ids alone', 'coursedate.seats_changed', { id: 1205, resource: 'coursedate', resource_id: 31 }),
  deleted: sample('A deleted item', 'course.deleted', { id: 1206, resource: 'course', resource_id: 12, item: null }),
  resync: sample('Read all orders again', 'resync', { id: 1207, resource: 'order', resource_id: null }),
  test: sample('A test', 'webhook.test', { webhook_id: 3 }),
};

/** The section `webhooks` of the OpenAPI document: the message that the service sends. */
export const webhookMessages = {
  change: {
    post: {
      operationId: 'receiveChange',
      summary: 'A change of the school',
      description: 'Sent to each webhook, in order and at least once. See the guide on webhooks.',
      tags: ['Webhooks'],
      security: [],
      parameters: [
        header('webhook-id', 'Equal for all attempts of a message'),
        header('webhook-timestamp', 'Seconds since 1970 of this attempt'),
        header('webhook-signature', 'Signatures as of Standard Webhooks, separated by blanks: `v1,…`'),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: WebhookMessage, examples } } },
      responses: {
        '204': { description: 'Received; any 2xx is' },
        '410': { description: 'Disables the webhook' },
        default: { description: 'Any other status: repeated later, after `Retry-After` at the earliest' },
      },
    },
  },
};
