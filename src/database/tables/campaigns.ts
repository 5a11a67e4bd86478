import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import { tags } from './catalog.ts';
import * as c from './columns.ts';
import { courses } from './courses.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

/** A discount for a period: a campaign or a customer's agreement. Its status follows from the time and its orders. */
export const campaigns = c.tenantTable(
  'campaigns',
  {
    title: c.operational(pg.text()),
    type: c.operational(pg.text({ enum: ['Campaign', 'Agreement'] })).notNull(),
    isActive: pg.boolean().notNull().default(true),
    isArchived: pg.boolean().notNull().default(false),
    campaignCode: c.financial(pg.text()),
    startsAt: c.instant(),
    endsAt: c.instant(),
    maxUses: pg.integer(),
    /** Its orders of which a place or an amount is left, counted by triggers. */
    uses: pg.integer().notNull().default(0),
    currency: c.financial(pg.text()).notNull().default('NOK'),
    discountType: c.financial(pg.text({ enum: ['Percent', 'Value'] })).notNull(),
    discountValue: pg.numeric({ precision: 12, scale: 2 }).notNull(),
    ...c.timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'campaigns_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg
      .uniqueIndex('campaigns_code')
      .on(t.providerId, c.caseFolded(t.campaignCode))
      .where(sql`${t.campaignCode} is not null and not ${t.isArchived}`),
    pg.check('campaigns_type', sql`${t.type} in ('Campaign', 'Agreement')`),
    pg.check('campaigns_discount_type', sql`${t.discountType} in ('Percent', 'Value')`),
    pg.check(
      'campaigns_discount',
      sql`${t.discountValue} >= 0 and (${t.discountType} = 'Value' or ${t.discountValue} <= 100)`,
    ),
    pg.check('campaigns_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
    pg.check('campaigns_window', sql`${t.endsAt} > ${t.startsAt}`),
    pg.check('campaigns_max_uses', sql`${t.maxUses} > 0`),
  ],
);

export const campaignCourses = pg.pgTable(
  'campaign_courses',
  { providerId: c.reference().notNull(), campaignId: c.reference().notNull(), courseId: c.reference().notNull() },
  (t) => [
    pg.primaryKey({ name: 'campaign_courses_pk', columns: [t.providerId, t.campaignId, t.courseId] }),
    c.tenantKey('campaign_courses_campaign_fk', t.campaignId, campaigns.id),
    c.tenantKey('campaign_courses_course_fk', t.courseId, courses.id),
  ],
);

export const campaignCustomers = pg.pgTable(
  'campaign_customers',
  { providerId: c.reference().notNull(), campaignId: c.reference().notNull(), customerId: c.reference().notNull() },
  (t) => [
    pg.primaryKey({ name: 'campaign_customers_pk', columns: [t.providerId, t.campaignId, t.customerId] }),
    c.tenantKey('campaign_customers_campaign_fk', t.campaignId, campaigns.id),
    c.tenantKey('campaign_customers_customer_fk', t.customerId, customers.id),
    pg.index('campaign_customers_customer').on(t.providerId, t.customerId, t.campaignId),
  ],
);

export const campaignTags = pg.pgTable(
  'campaign_tags',
  { providerId: c.reference().notNull(), campaignId: c.reference().notNull(), tagId: c.reference().notNull() },
  (t) => [
    pg.primaryKey({ name: 'campaign_tags_pk', columns: [t.providerId, t.campaignId, t.tagId] }),
    c.tenantKey('campaign_tags_campaign_fk', t.campaignId, campaigns.id),
    c.tenantKey('campaign_tags_tag_fk', t.tagId, tags.id),
  ],
);

/** A voucher, redeemable in parts. `balance` = `amount` − `spent_before` (before the import) − redemptions. */
export const vouchers = c.tenantTable(
  'vouchers',
  {
    code: c.financial(pg.text()).notNull(),
    currency: c.financial(pg.text()).notNull().default('NOK'),
    amount: pg.numeric({ precision: 12, scale: 2 }).notNull(),
    spentBefore: pg.numeric({ precision: 12, scale: 2 }).notNull().default('0'),
    balance: pg.numeric({ precision: 12, scale: 2 }).notNull(),
    expiresAt: c.instant(),
    archivedAt: c.instant(),
    deletedAt: c.instant(),
    ...c.timestamps(),
  },
  (t) => [
    pg.foreignKey({ name: 'vouchers_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    pg
      .uniqueIndex('vouchers_code')
      .on(t.providerId, c.caseFolded(t.code))
      .where(sql`${t.deletedAt} is null`),
    pg.index('vouchers_code_any').on(t.providerId, c.caseFolded(t.code), t.id),
    pg.index('vouchers_created').on(t.providerId, t.createdAt, t.id),
    pg.index('vouchers_updated').on(t.providerId, t.updatedAt, t.id),
    pg.check('vouchers_balance', sql`${t.balance} >= 0 and ${t.balance} <= ${t.amount}`),
    pg.check('vouchers_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
  ],
);
