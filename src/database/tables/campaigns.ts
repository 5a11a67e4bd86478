import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { tags } from './catalog.ts';
import {
  caseFolded,
  financial,
  instant,
  operational,
  reference,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { courses } from './courses.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

/** A discount for a period: a campaign or a customer's agreement. Its status follows from the time and its orders. */
export const campaigns = tenantTable(
  'campaigns',
  {
    title: operational(text()),
    type: operational(text({ enum: ['Campaign', 'Agreement'] })).notNull(),
    isActive: boolean().notNull().default(true),
    isArchived: boolean().notNull().default(false),
    campaignCode: financial(text()),
    startsAt: instant(),
    endsAt: instant(),
    maxUses: integer(),
    /** Its orders of which a place or an amount is left, counted by triggers. */
    uses: integer().notNull().default(0),
    currency: financial(text()).notNull().default('NOK'),
    discountType: financial(text({ enum: ['Percent', 'Value'] })).notNull(),
    discountValue: numeric({ precision: 12, scale: 2 }).notNull(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'campaigns_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('campaigns_code')
      .on(t.providerId, caseFolded(t.campaignCode))
      .where(sql`${t.campaignCode} is not null and not ${t.isArchived}`),
    check('campaigns_type', sql`${t.type} in ('Campaign', 'Agreement')`),
    check('campaigns_discount_type', sql`${t.discountType} in ('Percent', 'Value')`),
    check(
      'campaigns_discount',
      sql`${t.discountValue} >= 0 and (${t.discountType} = 'Value' or ${t.discountValue} <= 100)`,
    ),
    check('campaigns_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
    check('campaigns_window', sql`${t.endsAt} > ${t.startsAt}`),
    check('campaigns_max_uses', sql`${t.maxUses} > 0`),
  ],
);

export const campaignCourses = pgTable(
  'campaign_courses',
  { providerId: reference().notNull(), campaignId: reference().notNull(), courseId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'campaign_courses_pk', columns: [t.providerId, t.campaignId, t.courseId] }),
    tenantKey('campaign_courses_campaign_fk', t.campaignId, campaigns.id),
    tenantKey('campaign_courses_course_fk', t.courseId, courses.id),
  ],
);

export const campaignCustomers = pgTable(
  'campaign_customers',
  { providerId: reference().notNull(), campaignId: reference().notNull(), customerId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'campaign_customers_pk', columns: [t.providerId, t.campaignId, t.customerId] }),
    tenantKey('campaign_customers_campaign_fk', t.campaignId, campaigns.id),
    tenantKey('campaign_customers_customer_fk', t.customerId, customers.id),
    index('campaign_customers_customer').on(t.providerId, t.customerId, t.campaignId),
  ],
);

export const campaignTags = pgTable(
  'campaign_tags',
  { providerId: reference().notNull(), campaignId: reference().notNull(), tagId: reference().notNull() },
  (t) => [
    primaryKey({ name: 'campaign_tags_pk', columns: [t.providerId, t.campaignId, t.tagId] }),
    tenantKey('campaign_tags_campaign_fk', t.campaignId, campaigns.id),
    tenantKey('campaign_tags_tag_fk', t.tagId, tags.id),
  ],
);

/** A voucher, redeemable in parts. `balance` = `amount` − `spent_before` (before the import) − redemptions. */
export const vouchers = tenantTable(
  'vouchers',
  {
    code: financial(text()).notNull(),
    currency: financial(text()).notNull().default('NOK'),
    amount: numeric({ precision: 12, scale: 2 }).notNull(),
    spentBefore: numeric({ precision: 12, scale: 2 }).notNull().default('0'),
    balance: numeric({ precision: 12, scale: 2 }).notNull(),
    expiresAt: instant(),
    archivedAt: instant(),
    deletedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    foreignKey({ name: 'vouchers_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    uniqueIndex('vouchers_code')
      .on(t.providerId, caseFolded(t.code))
      .where(sql`${t.deletedAt} is null`),
    index('vouchers_code_any').on(t.providerId, caseFolded(t.code), t.id),
    index('vouchers_created').on(t.providerId, t.createdAt, t.id),
    index('vouchers_updated').on(t.providerId, t.updatedAt, t.id),
    check('vouchers_balance', sql`${t.balance} >= 0 and ${t.balance} <= ${t.amount}`),
    check('vouchers_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
  ],
);
