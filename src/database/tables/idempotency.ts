import { boolean, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, operational, personal, reference, tenantKey } from './columns.ts';
import { bookings } from './orders.ts';

/** Members of items in answers: one that no other items have, and one that refers to the item. */
export const itemMembers = {
  courseuser: { mark: 'username', reference: 'user_id' },
  customer: { mark: 'idParentCustomer', reference: 'customer_id' },
};
/** Beginning of a path of JSON: an object about the item `$id`. */
export const aboutItem = (resource: keyof typeof itemMembers) => {
  const { mark, reference } = itemMembers[resource];
  return `strict $.** ? (@.${reference} == $id || @.id == $id && exists(@.${mark})`;
};
/** First response to an `Idempotency-Key`, ignored once expired. The key is hashed. */
export const idempotencyRecords = pgTable(
  'idempotency_records',
  {
    providerId: reference().notNull(),
    keyHash: operational(text()).notNull(),
    fingerprint: operational(text()).notNull(),
    /** Set by the version before, for bookings. */
    bookingId: reference(),
    answer: personal(jsonb()).notNull(),
    /** True if the answer may show a person, whose erasure deletes it. */
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
