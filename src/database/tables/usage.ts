import { sql } from 'drizzle-orm';
import { bigint, check, foreignKey, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { instant, reference } from './columns.ts';
import { providers } from './providers.ts';

/** Requests of one provider in one hour, of all processes. No foreign key: it is written without the provider's lock. */
export const providerUsage = pgTable(
  'provider_usage',
  {
    /** 0: providers beyond the limit of the recorder. */
    providerId: reference().notNull(),
    hour: instant().notNull(),
    requests: bigint({ mode: 'number' }).notNull(),
    /** Status 429. */
    refused: bigint({ mode: 'number' }).notNull(),
    /** Status 5xx. */
    failed: bigint({ mode: 'number' }).notNull(),
    /** Sum of the response times. */
    milliseconds: bigint({ mode: 'number' }).notNull(),
    /** Requests in the busiest minute of one process. */
    peakPerMinute: integer().notNull(),
  },
  (t) => [primaryKey({ name: 'provider_usage_pk', columns: [t.providerId, t.hour] })],
);

/** Rate limits that replace the server's for a provider and its sub-schools. */
export const providerLimits = pgTable(
  'provider_limits',
  {
    providerId: reference().primaryKey(),
    perSecond: integer().notNull(),
    burst: integer().notNull(),
  },
  (t) => [
    foreignKey({ name: 'provider_limits_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    check('provider_limits_rate', sql`${t.perSecond} > 0 and ${t.burst} >= ${t.perSecond}`),
  ],
);
