import { sql, type SQL } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, type AnyPgColumn } from 'drizzle-orm/pg-core';
import { caseFolded, instant, operational, personal, reference, tenantKey, toSqlText, type Value } from './columns.ts';
import { bookings } from './orders.ts';

/** Posts of the catalog's forms and others that cause mails, in the last day; keys and addresses are hashed. */
export const catalogPosts = pgTable(
  'catalog_posts',
  {
    providerId: reference().notNull(),
    keyHash: operational(text()).notNull(),
    /** Null for mails of other forms. */
    bookingId: reference(),
    /** Null for those that do not count by address. */
    addressHash: personal(text()),
    /** Each mail that was queued, by its recipient. */
    recipients: personal(text().array()).notNull(),
    places: integer().notNull(),
    createdAt: instant().notNull(),
    /** Hash of the fields with the key of the form; null for mails of other forms. */
    fingerprint: personal(text()),
  },
  (t) => [
    primaryKey({ name: 'catalog_posts_pk', columns: [t.providerId, t.keyHash] }),
    tenantKey('catalog_posts_booking_fk', t.bookingId, bookings.id),
    index('catalog_posts_booking').on(t.providerId, t.bookingId),
    index('catalog_posts_address').on(t.providerId, t.addressHash, t.createdAt),
    index('catalog_posts_created').on(t.providerId, t.createdAt),
  ],
);

/** SQL expression of an element of `catalog_posts.recipients`. `kari+1@` and `kari@` are one recipient. */
export const recipientHash = (provider: number | SQL | AnyPgColumn, email: Value) =>
  sql`encode(sha256(convert_to(concat_ws(' ', (select secret from service_state), ${provider}::bigint, ${recipient(email)}), 'UTF8')), 'hex')`;
export const recipientHashSql = (provider: string, email: string) =>
  toSqlText(recipientHash(sql.raw(provider), sql.raw(email)));

/** SQL expression of an address without the part after `+`. */
const recipient = (email: Value) => sql`regexp_replace(${caseFolded(email)}, '\\+[^@]*@', '@')`;
