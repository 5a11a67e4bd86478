import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import { keyProfiles } from '../../core/api-key.ts';
import { languages, type Language } from '../../core/reference/language.ts';
import type { MailSwitches } from '../../core/reference/mail-kinds.ts';
import { currentTime, instant, operational, reference, tenantKey, tenantTable, timestamps } from './columns.ts';

export const lateCancellations = ['no', 'fee'] as const;

/** The tenant: a school or company. Its id is `provider_id` in every tenant table. */
export const providers = pg.pgTable(
  'providers',
  {
    id: pg.bigint({ mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    parentId: reference(),
    /** Root of a sub-school's parent chain; null for a root. */
    rootId: reference(),
    title: operational(pg.text()).notNull(),
    slug: operational(pg.text()).notNull(),
    isActive: pg.boolean().notNull().default(true),
    reference: operational(pg.text()),
    orgNr: operational(pg.text()).notNull().default(''),
    phone: operational(pg.text()).notNull().default(''),
    emailAdmin: operational(pg.text()).notNull().default(''),
    email: operational(pg.text()).notNull().default(''),
    emailBooking: operational(pg.text()).notNull().default(''),
    emailMoreInfo: operational(pg.text()).notNull().default(''),
    postAddress: operational(pg.text()).notNull().default(''),
    postZip: operational(pg.text()).notNull().default(''),
    postCity: operational(pg.text()).notNull().default(''),
    visitAddress: operational(pg.text()).notNull().default(''),
    visitZip: operational(pg.text()).notNull().default(''),
    visitCity: operational(pg.text()).notNull().default(''),
    webAddress: operational(pg.text()).notNull().default(''),
    textTagline: operational(pg.text()).notNull().default(''),
    textDescription: operational(pg.text()).notNull().default(''),
    /** When its API keys stopped working; the data stays. */
    closedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'providers_root_fk', columns: [t.rootId], foreignColumns: [t.id] }),
    pg.foreignKey({ name: 'providers_parent_fk', columns: [t.parentId], foreignColumns: [t.id] }),
    pg.index('providers_parent').on(t.parentId),
    pg.index('providers_root').on(t.rootId),
  ],
);
/** True for a row of a provider that is open. */
export const isOfOpenProvider = (row: { providerId: pg.AnyPgColumn }) =>
  sql`exists (select from ${providers} where ${providers.id} = ${row.providerId} and ${providers.closedAt} is null)`;

/** Texts of a school in its mails, in one language. */
export type MailTexts = { greeting: string | null; footer: string | null; reply_to: string | null };

/** Rules of a provider for bookings and mails; without a row, the defaults. */
export const bookingSettings = pg.pgTable(
  'booking_settings',
  {
    providerId: reference().primaryKey(),
    selfCancellation: pg.boolean().notNull().default(false),
    /** Once the time to cancel is over: against a fee, or not at all. */
    lateCancellation: operational(pg.text({ enum: lateCancellations }))
      .notNull()
      .default('no'),
    /** Language of mails; null is the service's. */
    language: operational(pg.text({ enum: languages })),
    mails: operational(pg.jsonb()).$type<MailSwitches>().notNull().default({}),
    texts: operational(pg.jsonb()).$type<Partial<Record<Language, MailTexts>>>().notNull().default({}),
    ...timestamps(),
  },
  (t) => [
    pg.foreignKey({
      name: 'booking_settings_provider_fk',
      columns: [t.providerId],
      foreignColumns: [providers.id],
    }),
    pg.check('booking_settings_late_cancellation', sql`${t.lateCancellation} in ('no', 'fee')`),
    pg.check('booking_settings_language', sql`${t.language} in ('en', 'no')`),
  ],
);

export const catalogFonts = ['sans', 'serif', 'mono'] as const;
export type CatalogTheme = { accent: string | null; background: string | null; font: (typeof catalogFonts)[number] };

/** Fields of a participant in the catalog's booking form, beside the name and the e-mail address. */
export const catalogFields = ['phone', 'company', 'position', 'date_of_birth', 'comment'] as const;
export type CatalogField = (typeof catalogFields)[number];
export const fieldUses = ['off', 'optional', 'required'] as const;
export type FieldUse = (typeof fieldUses)[number];

/** The public catalog of a provider; without a row it is off. */
export const catalogSettings = pg.pgTable(
  'catalog_settings',
  {
    providerId: reference().primaryKey(),
    isEnabled: pg.boolean().notNull().default(false),
    /** Its name in the addresses of its pages, as it was sent. */
    slug: operational(pg.text()),
    /** The host name of its own, in lower case. */
    host: operational(pg.text()),
    theme: operational(pg.jsonb()).$type<Partial<CatalogTheme>>().notNull().default({}),
    /** False asks search engines to leave it out. */
    isIndexed: pg.boolean().notNull().default(true),
    fields: operational(pg.jsonb()).$type<Partial<Record<CatalogField, FieldUse>>>().notNull().default({}),
    termsUrl: operational(pg.text()),
    privacyUrl: operational(pg.text()),
    withdrawalText: operational(pg.text()),
    ...timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'catalog_settings_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.check('catalog_settings_slug', sql`${t.slug} is not null or not ${t.isEnabled}`),
  ],
);

/** Lower-case names of a provider's catalog, unique among all: host name, slug, and former slugs, which redirect. */
export const catalogNames = pg.pgTable(
  'catalog_names',
  { name: operational(pg.text()).primaryKey(), providerId: reference().notNull(), createdAt: instant().notNull() },
  (t) => [
    pg.foreignKey({ name: 'catalog_names_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.index('catalog_names_provider').on(t.providerId),
  ],
);

const areaClock = () => instant().notNull().default(currentTime);

/** The lock that each write takes first and the source of its timestamp, with the last write of each area. */
export const providerState = pg.pgTable(
  'provider_state',
  {
    providerId: reference().primaryKey(),
    changedAt: instant().notNull(),
    catalogChangedAt: areaClock(),
    datesChangedAt: areaClock(),
    peopleChangedAt: areaClock(),
    moneyChangedAt: areaClock(),
    schoolChangedAt: areaClock(),
  },
  (t) => [
    pg.foreignKey({ name: 'provider_state_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
  ],
);

/** One row: lock and version of shared data (categories, places), and a secret of this database. */
export const serviceState = pg.pgTable(
  'service_state',
  {
    id: pg.smallint().primaryKey(),
    changedAt: instant().notNull(),
    /** Releases up to the one that migrated the database, oldest first. */
    releases: operational(pg.text().array()).notNull().default([]),
    /** Links of payers and hashes of addresses are derived with it. Neither logged nor exported. */
    secret: operational(pg.text())
      .notNull()
      .default(sql`gen_random_uuid()::text || gen_random_uuid()::text`),
    /** Host name in the UIDs of calendar entries, the first one of `PUBLIC_URL`. */
    uidHost: operational(pg.text()),
  },
  (t) => [pg.check('service_state_one_row', sql`${t.id} = 1`)],
);

/** API keys, stored and looked up as SHA-256. */
export const apiKeys = tenantTable(
  'api_keys',
  {
    hash: operational(pg.text()).notNull(),
    label: operational(pg.text()).notNull().default(''),
    profile: operational(pg.text({ enum: keyProfiles }))
      .notNull()
      .default('full'),
    /** Origins of the web pages that may use a publishable key; null without any. */
    origins: operational(pg.text().array()),
    createdAt: instant().notNull(),
    expiresAt: instant(),
    revokedAt: instant(),
    /** Unused: the last use is in `api_key_uses`. */
    lastUsedAt: instant(),
  },
  (t) => [
    pg.foreignKey({ name: 'api_keys_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.uniqueIndex('api_keys_hash').on(t.hash),
    pg.uniqueIndex('api_keys_id').on(t.id),
    pg.check('api_keys_profile', sql`${t.profile} in (${sql.raw(keyProfiles.map((one) => `'${one}'`).join(', '))})`),
    pg.check('api_keys_origins', sql`${t.origins} is null or ${t.profile} = 'publishable'`),
  ],
);

/** The last use of each key, to the minute. */
export const apiKeyUses = pg.pgTable(
  'api_key_uses',
  { providerId: reference().notNull(), keyId: reference().notNull(), lastUsedAt: instant().notNull() },
  (t) => [
    pg.primaryKey({ name: 'api_key_uses_pk', columns: [t.providerId, t.keyId] }),
    tenantKey('api_key_uses_key_fk', t.keyId, apiKeys.id),
  ],
);

/** If approved, `provider_id` may list the public items of `partner_id`, but not the reverse. */
export const partnerConnections = pg.pgTable(
  'partner_connections',
  {
    providerId: reference().notNull(),
    partnerId: reference().notNull(),
    status: operational(pg.text({ enum: ['requested', 'approved', 'revoked'] })).notNull(),
    ...timestamps(),
  },
  (t) => [
    pg.primaryKey({ name: 'partner_connections_pk', columns: [t.providerId, t.partnerId] }),
    pg.foreignKey({ name: 'partner_connections_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.foreignKey({ name: 'partner_connections_partner_fk', columns: [t.partnerId], foreignColumns: [providers.id] }),
    pg.index('partner_connections_partner').on(t.partnerId),
    pg.check('partner_connections_status', sql`${t.status} in ('requested', 'approved', 'revoked')`),
    pg.check('partner_connections_two_providers', sql`${t.providerId} <> ${t.partnerId}`),
  ],
);

/** Requests of one provider in one hour, of all processes. No foreign key: it is written without the provider's lock. */
export const providerUsage = pg.pgTable(
  'provider_usage',
  {
    /** 0: providers beyond the limit of the recorder. */
    providerId: reference().notNull(),
    hour: instant().notNull(),
    requests: pg.bigint({ mode: 'number' }).notNull(),
    /** Status 429. */
    refused: pg.bigint({ mode: 'number' }).notNull(),
    /** Status 5xx. */
    failed: pg.bigint({ mode: 'number' }).notNull(),
    /** Sum of the response times. */
    milliseconds: pg.bigint({ mode: 'number' }).notNull(),
    /** Requests in the busiest minute of one process. */
    peakPerMinute: pg.integer().notNull(),
  },
  (t) => [pg.primaryKey({ name: 'provider_usage_pk', columns: [t.providerId, t.hour] })],
);

/** Rate limits that replace the server's for a provider and its sub-schools. */
export const providerLimits = pg.pgTable(
  'provider_limits',
  {
    providerId: reference().primaryKey(),
    perSecond: pg.integer().notNull(),
    burst: pg.integer().notNull(),
  },
  (t) => [
    pg.foreignKey({ name: 'provider_limits_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg.check('provider_limits_rate', sql`${t.perSecond} > 0 and ${t.burst} >= ${t.perSecond}`),
  ],
);
