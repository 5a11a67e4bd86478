import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import {
  caseFolded,
  digitsOf,
  id,
  instant,
  reference,
  searchIndex,
  searchWords,
  tenantKey,
  timestamps,
} from './columns.ts';
import { adminMemberships } from './people.ts';
import { providers } from './providers.ts';

/** A company or private person that pays for courses. */
export const customers = pgTable(
  'customers',
  {
    providerId: reference().notNull(),
    id: id(),
    parentCustomerId: reference(),
    sellerId: reference(),
    title: text().notNull(),
    department: text(),
    type: smallint().notNull().default(1),
    status: smallint().notNull().default(1),
    orgnr: text(),
    email: text(),
    phone: text(),
    fax: text(),
    webaddress: text(),
    country: text().notNull().default('NO'),
    customerReferenceId: text(),
    customerReference: text(),
    alwaysUseCustomerReference: boolean().notNull().default(false),
    note: text(),
    turnover: text(),
    invoiceMethod: text().notNull().default('electronic'),
    invoiceEmail: text(),
    duedateDays: integer().notNull().default(0),
    invoiceAddress: text(),
    invoiceAddress2: text('invoice_address_2'),
    invoiceAddress3: text('invoice_address_3'),
    invoiceZipcode: text(),
    invoiceCity: text(),
    postAddress: text(),
    postAddress2: text('post_address_2'),
    postAddress3: text('post_address_3'),
    postZipcode: text(),
    postCity: text(),
    visitAddress: text(),
    visitAddress2: text('visit_address_2'),
    visitAddress3: text('visit_address_3'),
    visitZipcode: text(),
    visitCity: text(),
    customProperties: jsonb().$type<Record<string, string | null>>(),
    ...timestamps(),
    /** Of an erased private person, whose data an invoice still needs: when it is erased too. */
    keptUntil: instant(),
    ...searchWords('title', 'orgnr', 'email', 'customer_reference_id', 'customer_reference'),
  },
  (t) => [
    primaryKey({ name: 'customers_pk', columns: [t.providerId, t.id] }),
    foreignKey({ name: 'customers_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('customers_parent_fk', t.parentCustomerId, t.id),
    tenantKey('customers_seller_fk', t.sellerId, adminMemberships.adminUserId),
    index('customers_orgnr')
      .on(t.providerId, digitsOf(t.orgnr))
      .where(sql`${t.orgnr} is not null`),
    index('customers_email')
      .on(t.providerId, caseFolded(t.email))
      .where(sql`${t.email} is not null`),
    index('customers_reference_id')
      .on(t.providerId, caseFolded(t.customerReferenceId))
      .where(sql`${t.customerReferenceId} is not null`),
    index('customers_reference')
      .on(t.providerId, caseFolded(t.customerReference))
      .where(sql`${t.customerReference} is not null`),
    searchIndex('customers_words', t),
    index('customers_created').on(t.providerId, t.createdAt, t.id),
    index('customers_parent').on(t.providerId, t.parentCustomerId),
    index('customers_updated').on(t.providerId, t.updatedAt, t.id),
    index('customers_kept')
      .on(t.providerId, t.keptUntil)
      .where(sql`${t.keptUntil} is not null`),
    check('customers_title', sql`${t.title} <> ''`),
    check('customers_type', sql`${t.type} in (1, 2)`),
    check('customers_status', sql`${t.status} in (1, 2)`),
    check('customers_country', sql`${t.country} ~ '^[A-Z]{2}$'`),
  ],
);
