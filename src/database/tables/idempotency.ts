import { boolean, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { caseFoldedSql, instant, reference, tenantKey } from './columns.ts';
import { bookings } from './orders.ts';

/** First response to an `Idempotency-Key`, ignored once expired. The key is hashed. */
export const idempotencyRecords = pgTable(
  'idempotency_records',
  {
    providerId: reference().notNull(),
    keyHash: text().notNull(),
    fingerprint: text().notNull(),
    /** Set by the version before, for bookings. */
    bookingId: reference(),
    answer: jsonb().notNull(),
    /** True if the answer shows a course user, whose erasure deletes it. */
    hasCourseUser: boolean().notNull().default(false),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'idempotency_records_pk', columns: [t.providerId, t.keyHash] }),
    tenantKey('idempotency_records_booking_fk', t.bookingId, bookings.id),
    index('idempotency_records_expires').on(t.providerId, t.expiresAt),
  ],
);

/**
 * Bookings by the form of the catalog in the last day: by the key of the form, which books once, and what its limits count.
 * The key, the address and the recipients are hashed.
 */
export const catalogPosts = pgTable(
  'catalog_posts',
  {
    providerId: reference().notNull(),
    keyHash: text().notNull(),
    bookingId: reference().notNull(),
    addressHash: text().notNull(),
    /** Each mail that was queued, by its recipient. */
    recipients: text().array().notNull(),
    places: integer().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ name: 'catalog_posts_pk', columns: [t.providerId, t.keyHash] }),
    tenantKey('catalog_posts_booking_fk', t.bookingId, bookings.id),
    index('catalog_posts_booking').on(t.providerId, t.bookingId),
    index('catalog_posts_address').on(t.providerId, t.addressHash, t.createdAt),
    index('catalog_posts_created').on(t.providerId, t.createdAt),
  ],
);

/** SQL expression of an element of `catalog_posts.recipients`. */
export const recipientHashSql = (provider: string, email: string) =>
  `encode(sha256(convert_to(concat_ws(' ', ${provider}::bigint, ${caseFoldedSql(email)}), 'UTF8')), 'hex')`;
