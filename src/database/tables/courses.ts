import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import {
  caseFolded,
  financial,
  folded,
  indexWhere,
  instant,
  longText,
  operational,
  reference,
  searchIndex,
  searchWords,
  tenantKey,
  tenantTable,
  timestamps,
} from './columns.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

const written = () => operational(longText()).notNull().default('');

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

export const courses = tenantTable(
  'courses',
  {
    customerId: reference(),
    title: operational(text()).notNull(),
    /** The last segment of the course's catalog address. */
    slug: operational(text()).notNull(),
    /** True if the slug ends with the id, since its address once belonged to another course; it stays so. */
    slugHasId: boolean().notNull().default(false),
    reference: operational(text()),
    /** The school's internal reference, shown only in its calendar. */
    referenceInternal: operational(text()),
    isActive: boolean().notNull().default(true),
    /** Share of the gatherings, 0 to 1, that completes the course; null: only by hand. */
    completionMinShare: numeric({ precision: 4, scale: 3 }),
    isFullTime: boolean(),
    isPartTime: boolean(),
    type: operational(text({ enum: ['public', 'internal', 'corporate'] }))
      .notNull()
      .default('public'),
    publishingPlatform: operational(text({ enum: ['both', 'catalog', 'own'] }))
      .notNull()
      .default('both'),
    levelId: integer().notNull(),
    formOfTeachingId: integer().notNull(),
    teachingLanguageId: operational(text()).notNull(),
    timeOfDayId: integer(),
    durationValue: integer(),
    durationUnitId: integer(),
    priceValue: numeric({ precision: 12, scale: 2 }),
    priceCurrency: financial(text()).notNull().default('NOK'),
    priceComment: financial(text()),
    externalBookingUrl: operational(text()),
    externalMoreInfoUrl: operational(text()),
    emailBooking: operational(text()).notNull().default(''),
    emailMoreInfo: operational(text()).notNull().default(''),
    ...texts(),
    customProperties: operational(jsonb()).$type<Record<string, string | null>>(),
    visitAddress: operational(text()),
    visitAddress2: operational(text('visit_address2')),
    visitZipcode: operational(text()),
    visitCity: operational(text()),
    ...timestamps(),
    deletedAt: instant(),
    relatedItemsUpdatedAt: instant(),
    ...searchWords('title', 'reference'),
  },
  (t) => [
    foreignKey({ name: 'courses_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('courses_customer_fk', t.customerId, customers.id),
    uniqueIndex('courses_active_title')
      .on(t.providerId, caseFolded(t.title))
      .where(sql`${t.isActive} and ${t.deletedAt} is null`),
    indexWhere('courses_folded_title', [t.providerId, folded(t.title)], sql`${t.isActive} and ${t.deletedAt} is null`),
    // Covers a list's filters, so that a page's ids come from an index-only scan.
    indexWhere(
      'courses_list',
      [t.providerId, t.id, t.isActive, t.type, t.publishingPlatform],
      sql`${t.deletedAt} is null`,
    ),
    index('courses_active').on(t.providerId, t.isActive, t.id),
    indexWhere('courses_reference', [t.providerId, caseFolded(t.reference)], sql`${t.reference} is not null`),
    searchIndex('courses_words', t),
    index('courses_created').on(t.providerId, t.createdAt, t.id),
    index('courses_updated').on(t.providerId, t.updatedAt, t.id),
    indexWhere('courses_customer', [t.providerId, t.customerId, t.id], sql`${t.customerId} is not null`),
    indexWhere('courses_completion', [t.providerId, t.id], sql`${t.completionMinShare} is not null`),
    check('courses_completion_min_share', sql`${t.completionMinShare} between 0 and 1`),
    check('courses_title', sql`${t.title} <> ''`),
    check('courses_type', sql`${t.type} in ('public', 'internal', 'corporate')`),
    check('courses_platform', sql`${t.publishingPlatform} in ('both', 'catalog', 'own')`),
    check('courses_duration', sql`(${t.durationValue} is null) = (${t.durationUnitId} is null)`),
    check('courses_price', sql`${t.priceValue} >= 0`),
    check('courses_currency', sql`${t.priceCurrency} ~ '^[A-Z]{3}$'`),
    check('courses_corporate', sql`(${t.type} = 'corporate') = (${t.customerId} is not null)`),
  ],
);

/** Descriptions of a course in another language. */
export const courseTranslations = pgTable(
  'course_translations',
  {
    providerId: reference().notNull(),
    courseId: reference().notNull(),
    languageId: operational(text()).notNull(),
    ...texts(),
  },
  (t) => [
    primaryKey({ name: 'course_translations_pk', columns: [t.providerId, t.courseId, t.languageId] }),
    tenantKey('course_translations_course_fk', t.courseId, courses.id),
  ],
);

/** A product of a course, sold by order lines; each course is created with one main product. */
export const products = tenantTable(
  'products',
  {
    courseId: reference().notNull(),
    itemNumber: financial(text()).notNull().default(''),
    title: operational(text()).notNull(),
    titleLabel: operational(text()),
    price: numeric({ precision: 12, scale: 2 }).notNull().default('0'),
    currency: financial(text()).notNull().default('NOK'),
    vatPercentage: numeric({ precision: 5, scale: 2 }).notNull().default('0'),
    isMainProduct: boolean().notNull().default(false),
    accountNumber: financial(text()),
    costUnit: financial(text()),
    /** Id in the provider's accounting system. */
    externalId: financial(text()),
    archivedAt: instant(),
    ...timestamps(),
  },
  (t) => [
    tenantKey('products_course_fk', t.courseId, courses.id),
    index('products_course').on(t.providerId, t.courseId, t.id),
    index('products_created').on(t.providerId, t.createdAt, t.id),
    index('products_updated').on(t.providerId, t.updatedAt, t.id),
    uniqueIndex('products_main')
      .on(t.providerId, t.courseId)
      .where(sql`${t.isMainProduct}`),
    check('products_price', sql`${t.price} >= 0`),
    check('products_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
    check('products_vat', sql`${t.vatPercentage} between 0 and 100`),
  ],
);
