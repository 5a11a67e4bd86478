import { sql } from 'drizzle-orm';
import { bigint, boolean, check, foreignKey, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { id, indexWhere, instant, operational, reference, tenantKey, tenantTable, timestamps } from './columns.ts';
import { providers } from './providers.ts';

export const payloads = ['full', 'thin'] as const;
export const disabledReasons = ['failing', 'gone'] as const;

/** Endpoints that get each event of their provider. The lock guards the settings; a lease guards the delivery state. */
export const webhooks = tenantTable(
  'webhooks',
  {
    url: operational(text()).notNull(),
    /** Host of the URL, for the limit of requests to it. */
    host: operational(text()).notNull(),
    /** Null for all types. */
    types: operational(text().array()),
    description: operational(text()).notNull().default(''),
    payload: operational(text({ enum: payloads }))
      .notNull()
      .default('full'),
    isActive: boolean().notNull().default(true),
    /** Not hashed: each message is signed with it. */
    secret: operational(text()).notNull(),
    previousSecret: operational(text()),
    previousSecretExpiresAt: instant(),
    /** Id of the last delivered event, and its time in microseconds. */
    position: bigint({ mode: 'number' }).notNull(),
    positionClock: bigint({ mode: 'number' }).notNull(),
    /** A `resync` to be sent first of each, as `<resource>_<milliseconds since 1970>`. */
    resyncs: operational(text().array()).notNull().default([]),
    /** Failed attempts since the last success. */
    attempts: integer().notNull().default(0),
    failingSince: instant(),
    /** Time of the next attempt. */
    dueAt: instant().notNull(),
    /** Events may follow the position. Set and cleared by `claim_webhooks` alone. */
    isWaiting: boolean().notNull().default(true),
    /** Rises with each slow attempt and falls with each quick one; 3 or more use the places for slow endpoints. */
    slowAttempts: integer().notNull().default(0),
    leasedBy: operational(text()),
    leasedUntil: instant(),
    /** Number of attempts so far, for the slot of the next one in the log. */
    attemptCount: bigint({ mode: 'number' }).notNull().default(0),
    disabledAt: instant(),
    disabledReason: operational(text({ enum: disabledReasons })),
    ...timestamps(),
  },
  (t) => [
    indexWhere('webhooks_due', [t.dueAt], sql`${t.isActive} and (${t.isWaiting} or ${t.resyncs} <> '{}')`),
    foreignKey({ name: 'webhooks_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    check('webhooks_payload', sql`${t.payload} in ('full', 'thin')`),
    check('webhooks_disabled', sql`(${t.disabledAt} is null) = (${t.disabledReason} is null)`),
    check('webhooks_previous_secret', sql`(${t.previousSecret} is null) = (${t.previousSecretExpiresAt} is null)`),
  ],
);

/** Number of attempts that are logged per webhook. */
export const loggedAttempts = 100;

/** The latest attempts of each webhook, without bodies: a new one replaces the oldest. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    providerId: reference().notNull(),
    webhookId: reference().notNull(),
    /** Number of the attempt modulo the number of logged ones. */
    slot: integer().notNull(),
    number: bigint({ mode: 'number' }).notNull(),
    at: instant().notNull(),
    messageId: operational(text()).notNull(),
    type: operational(text()).notNull(),
    /** Null without a response. */
    statusCode: integer(),
    durationMs: integer().notNull(),
    error: operational(text()),
  },
  (t) => [
    primaryKey({ name: 'webhook_deliveries_pk', columns: [t.providerId, t.webhookId, t.slot] }),
    tenantKey('webhook_deliveries_webhook_fk', t.webhookId, webhooks.id),
  ],
);

/** A transaction with events for webhooks, by a trigger; `claim_webhooks` deletes those of committed ones. */
export const webhookWakeups = pgTable('webhook_wakeups', { providerId: reference().notNull(), id: id() }, (t) => [
  primaryKey({ name: 'webhook_wakeups_pk', columns: [t.providerId, t.id] }),
]);

/** The test message that a provider and its sub-schools are sending. */
export const webhookTests = pgTable(
  'webhook_tests',
  {
    /** The root of the sub-schools. */
    providerId: reference().notNull(),
    token: operational(text()).notNull(),
    startedAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'webhook_tests_pk', columns: [t.providerId] }),
    foreignKey({ name: 'webhook_tests_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
  ],
);
