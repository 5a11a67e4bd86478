import { Type, type Static } from '@sinclair/typebox';
import { eventResources } from '../../../database/tables/events.ts';
import { disabledReasons, payloads, type webhookDeliveries, type webhooks } from '../../../database/tables/webhooks.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { EventType } from '../../../database/record-events.ts';
import { t } from '../../../core/schema/types.ts';
import { personalResources } from '../../../domains/records/changes/schema.ts';

export const maxWebhooks = 20;
/** How long the secret before a rotation still signs. */
export const overlapHours = 24;

const WebhookPayload = t.named('WebhookPayload', t.OneOf(payloads));
const WebhookDisabledReason = t.named('WebhookDisabledReason', t.OneOf(disabledReasons));

const fields = t.member.closed.all({
  id: Type.Integer(),
  url: Type.String(),
  types: t.Nullable(Type.Array(EventType, { description: 'Types of changes that are sent; null for all' })),
  description: Type.String(),
  payload: { ...WebhookPayload, description: '`full`: with the item as the interface shows it; `thin`: ids alone' },
  is_active: Type.Boolean(),
  disabled_at: t.Nullable(t.DateTime),
  disabled_reason: t.Nullable({
    ...WebhookDisabledReason,
    description: '`failing`: no success for 5 days; `gone`: the endpoint answered 410',
  }),
  failing_since: t.Nullable({ ...t.DateTime, description: 'First failure since the last success' }),
  next_attempt_at: t.Nullable({ ...t.DateTime, description: 'Next attempt while the endpoint fails' }),
  previous_secret_expires_at: t.Nullable({ ...t.DateTime, description: 'Until then the former secret signs too' }),
  created_at: t.DateTime,
  updated_at: t.DateTime,
});

export type Webhook = Static<typeof Webhook>;
export const Webhook = t.NamedObject('Webhook', fields);

export const WebhookWithSecret = t.NamedObject('WebhookWithSecret', {
  ...fields,
  secret: t.member.closed(
    Type.String({ description: 'Verifies signatures; shown only here', examples: ['whsec_C2FVsBQIhrscChlQIMV'] }),
  ),
});

/** One attempt to send a message. */
export const WebhookDelivery = t.NamedObject(
  'WebhookDelivery',
  t.member.closed.all({
    message_id: Type.String({ description: 'The header `webhook-id`, equal for all attempts of a message' }),
    type: Type.String({ examples: ['course.updated'] }),
    at: t.DateTime,
    status_code: t.Nullable(Type.Integer({ description: 'Null without a response' })),
    duration_ms: Type.Integer(),
    error: t.Nullable(Type.String({ description: 'Null after a success' })),
  }),
);

/** POST /v2/webhooks. */
export type WebhookBody = Static<typeof WebhookBody>;
export const WebhookBody = t.NamedObject(
  'WebhookCreate',
  {
    url: t.Url({
      description: 'http or https with a public address; port 80, 443 or 1024 to 65535; no user and password',
    }),
    types: Type.Optional(
      t.List(EventType, {
        maxItems: 100,
        description: 'Types of changes to send, and each `resync` of their resources; all unless sent',
      }),
    ),
    description: Type.Optional(t.Line()),
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

export const toWebhook = (row: typeof webhooks.$inferSelect): Webhook => ({
  id: row.id,
  url: row.url,
  types: row.types,
  description: row.description,
  payload: row.payload,
  is_active: row.isActive,
  disabled_at: formatTimestamp(row.disabledAt),
  disabled_reason: row.disabledReason,
  failing_since: formatTimestamp(row.failingSince),
  next_attempt_at: row.isActive && row.failingSince !== null ? formatTimestamp(row.dueAt) : null,
  previous_secret_expires_at: formatTimestamp(row.previousSecretExpiresAt),
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
});

/** A warning if messages with personal data of this webhook are not encrypted. */
export const toWarning = ({ url, payload, types }: Pick<Webhook, 'url' | 'payload' | 'types'>) =>
  /^http:/i.test(url) &&
  payload === 'full' &&
  (types === null || types.some((type) => personalResources.includes(type.split('.')[0]!)))
    ? { 'x-warning': 'Messages with personal data are sent unencrypted: use https, or the payload thin' }
    : {};

type DeliveryRow = Omit<typeof webhookDeliveries.$inferSelect, 'providerId' | 'webhookId' | 'slot' | 'number'>;

export const toDelivery = (row: DeliveryRow): Static<typeof WebhookDelivery> => ({
  message_id: row.messageId,
  type: row.type,
  at: formatTimestamp(row.at),
  status_code: row.statusCode,
  duration_ms: row.durationMs,
  error: row.error,
});

/** Values of `resyncs` for the resources of the types, or for all. The time makes the ids of their messages unique. */
export const toResyncs = (types: string[] | null): string[] =>
  eventResources
    .filter((resource) => types === null || types.some((type) => type === 'resync' || type.split('.')[0] === resource))
    .map((resource) => `${resource}_${Date.now()}`);

export type Attempt = {
  messageId: string;
  type: string;
  statusCode: number | null;
  durationMs: number;
  /** One line; null after a success. */
  error: string | null;
  retryAfterSeconds: number | null;
};

/** The body of a message and its id. */
export type Message = { id: string; type: string; timestamp: string; data: object };
