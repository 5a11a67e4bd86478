import { Type, type Static } from '@sinclair/typebox';
import { EventType } from '../../../database/event-types.ts';
import { t } from '../../../core/schema/types.ts';
import { WebhookPayload } from './schema.ts';

const { Optional } = Type;

/** POST /v2/webhooks. */
export type WebhookBody = Static<typeof WebhookBody>;
export const WebhookBody = t.NamedObject(
  'WebhookCreate',
  {
    url: t.Url({
      description: 'http or https with a public address; port 80, 443 or 1024 to 65535; no user and password',
    }),
    types: Optional(
      t.List(EventType, {
        maxItems: 100,
        description: 'Types of changes to send, and each `resync` of their resources; all unless sent',
      }),
    ),
    description: Optional(t.Line()),
    payload: t.withDefault({ ...WebhookPayload, description: '`thin` sends ids alone' }, 'full'),
    is_active: t.withDefault(Type.Boolean(), true),
  },
  {
    examples: [{ url: 'https://crm.example/hooks', types: ['participant.created', 'coursedate.seats_changed'] }],
  },
);

/** PUT /v2/webhooks/:id. */
export type WebhookChange = Static<typeof WebhookChange>;
export const WebhookChange = t.NamedObject('WebhookUpdate', t.partialUpdate(WebhookBody.properties), {
  examples: [{ is_active: true }],
});
