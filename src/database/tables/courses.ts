import { sql } from 'drizzle-orm';
import * as pg from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

const written = () => c.operational(c.longText()).notNull().default('');

/** Descriptions of a course, in its own language or a translation. */
const texts = () => ({
  textLead: written(),
  textDescription: written(),
  textPlace: written(),
  textPrerequisites: written(),
  textDuration: written(),
  textCredits: written(),
  textSubmissions: written(),
  textHotelInfo: written(),
  textAudience: written(),
});

export const courses = c.tenantTable(
  'courses',
  {
    customerId: c.reference(),
    title: c.operational(pg.text()).notNull(),
    /** The last segment of the course's catalog address. */
    slug: c.operational(pg.text()).notNull(),
    /** True if the slug ends with the id, since its address once belonged to another course; it stays so. */
    slugHasId: pg.boolean().notNull().default(false),
    reference: c.operational(pg.text()),
    /** The school's internal reference, shown only in its calendar. */
    referenceInternal: c.operational(pg.text()),
    isActive: pg.boolean().notNull().default(true),
    /** Share of the gatherings, 0 to 1, that completes the course; null: only by hand. */
    completionMinShare: pg.numeric({ precision: 4, scale: 3 }),
    isFullTime: pg.boolean(),
    isPartTime: pg.boolean(),
    type: c
      .operational(pg.text({ enum: ['public', 'internal', 'corporate'] }))
      .notNull()
      .default('public'),
    publishingPlatform: c
      .operational(pg.text({ enum: ['both', 'catalog', 'own'] }))
      .notNull()
      .default('both'),
    levelId: pg.integer().notNull(),
    formOfTeachingId: pg.integer().notNull(),
    teachingLanguageId: c.operational(pg.text()).notNull(),
    timeOfDayId: pg.integer(),
    durationValue: pg.integer(),
    durationUnitId: pg.integer(),
    priceValue: pg.numeric({ precision: 12, scale: 2 }),
    priceCurrency: c.financial(pg.text()).notNull().default('NOK'),
    priceComment: c.financial(pg.text()),
    externalBookingUrl: c.operational(pg.text()),
    externalMoreInfoUrl: c.operational(pg.text()),
    emailBooking: c.operational(pg.text()).notNull().default(''),
    emailMoreInfo: c.operational(pg.text()).notNull().default(''),
    ...texts(),
    customProperties: c.operational(pg.jsonb()).$type<Record<string, string | null>>(),
    visitAddress: c.operational(pg.text()),
    visitAddress2: c.operational(pg.text('visit_address2')),
    visitZipcode: c.operational(pg.text()),
    visitCity: c.operational(pg.text()),
    ...c.timestamps(),
    deletedAt: c.instant(),
    relatedItemsUpdatedAt: c.instant(),
    ...c.searchWords('title', 'reference'),
  },
  (t) => [
    pg.foreignKey({ name: 'courses_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    c.tenantKey('courses_customer_fk', t.customerId, customers.id),
    pg
      .uniqueIndex('courses_active_title')
      .on(t.providerId, c.caseFolded(t.title))
      .where(sql`${t.isActive} and ${t.deletedAt} is null`),
    c.indexWhere(
      'courses_folded_title',
      [t.providerId, c.folded(t.title)],
      sql`${t.isActive} and ${t.deletedAt} is null`,
    ),
    // Covers a list's filters, so that a page's ids come from an index-only scan.
    c.indexWhere(
      'courses_list',
      [t.providerId, t.id, t.isActive, t.type, t.publishingPlatform],
      sql`${t.deletedAt} is null`,
    ),
    pg.index('courses_active').on(t.providerId, t.isActive, t.id),
    c.indexWhere('courses_reference', [t.providerId, c.caseFolded(t.reference)], sql`${t.reference} is not null`),
    c.searchIndex('courses_words', t),
    pg.index('courses_created').on(t.providerId, t.createdAt, t.id),
    pg.index('courses_updated').on(t.providerId, t.updatedAt, t.id),
    c.indexWhere('courses_customer', [t.providerId, t.customerId, t.id], sql`${t.customerId} is not null`),
    c.indexWhere('courses_completion', [t.providerId, t.id], sql`${t.completionMinShare} is not null`),
    pg.check('courses_completion_min_share', sql`${t.completionMinShare} between 0 and 1`),
    pg.check('courses_title', sql`${t.title} <> ''`),
    pg.check('courses_type', sql`${t.type} in ('public', 'internal', 'corporate')`),
    pg.check('courses_platform', sql`${t.publishingPlatform} in ('both', 'catalog', 'own')`),
    pg.check('courses_duration', sql`(${t.durationValue} is null) = (${t.durationUnitId} is null)`),
    pg.check('courses_price', sql`${t.priceValue} >= 0`),
    pg.check('courses_currency', sql`${t.priceCurrency} ~ '^[A-Z]{3}$'`),
    pg.check('courses_corporate', sql`(${t.type} = 'corporate') = (${t.customerId} is not null)`),
  ],
);

/** Descriptions of a course in another language. */
export const courseTranslations = pg.pgTable(
  'course_translations',
  {
    providerId: c.reference().notNull(),
    courseId: c.reference().notNull(),
    languageId: c.operational(pg.text()).notNull(),
    ...texts(),
  },
  (t) => [
    pg.primaryKey({ name: 'course_translations_pk', columns: [t.providerId, t.courseId, t.languageId] }),
    c.tenantKey('course_translations_course_fk', t.courseId, courses.id),
  ],
);

/** A product of a course, sold by order lines; each course is created with one main product. */
export const products = c.tenantTable(
  'products',
  {
    courseId: c.reference().notNull(),
    itemNumber: c.financial(pg.text()).notNull().default(''),
    title: c.operational(pg.text()).notNull(),
    titleLabel: c.operational(pg.text()),
    price: pg.numeric({ precision: 12, scale: 2 }).notNull().default('0'),
    currency: c.financial(pg.text()).notNull().default('NOK'),
    vatPercentage: pg.numeric({ precision: 5, scale: 2 }).notNull().default('0'),
    isMainProduct: pg.boolean().notNull().default(false),
    accountNumber: c.financial(pg.text()),
    costUnit: c.financial(pg.text()),
    /** Id in the provider's accounting system. */
    externalId: c.financial(pg.text()),
    archivedAt: c.instant(),
    ...c.timestamps(),
  },
  (t) => [
    c.tenantKey('products_course_fk', t.courseId, courses.id),
    pg.index('products_course').on(t.providerId, t.courseId, t.id),
    pg.index('products_created').on(t.providerId, t.createdAt, t.id),
    pg.index('products_updated').on(t.providerId, t.updatedAt, t.id),
    pg
      .uniqueIndex('products_main')
      .on(t.providerId, t.courseId)
      .where(sql`${t.isMainProduct}`),
    pg.check('products_price', sql`${t.price} >= 0`),
    pg.check('products_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
    pg.check('products_vat', sql`${t.vatPercentage} between 0 and 100`),
  ],
);
