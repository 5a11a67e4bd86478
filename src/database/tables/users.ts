import { sql } from 'drizzle-orm';
import { boolean, date, foreignKey, index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import {
  caseFolded,
  folded,
  id,
  instant,
  reference,
  searchIndex,
  searchWords,
  tenantKey,
  timestamps,
} from './columns.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

/** A person who takes courses; belongs to one provider. */
export const courseUsers = pgTable(
  'course_users',
  {
    providerId: reference().notNull(),
    id: id(),
    username: text().notNull(),
    passwordHash: text(),
    firstname: text(),
    lastname: text(),
    email: text(),
    phone: text(),
    company: text(),
    orgnr: text(),
    position: text(),
    department: text(),
    legaldepartment: text(),
    dateOfBirth: date({ mode: 'string' }),
    customerId: reference(),
    invoiceAddress: text(),
    invoiceAddress2: text('invoice_address_2'),
    invoiceAddress3: text('invoice_address_3'),
    invoiceZipcode: text(),
    invoiceCity: text(),
    invoicePhone: text(),
    homeAddress: text(),
    homeAddress2: text('home_address_2'),
    homeAddress3: text('home_address_3'),
    homeZipcode: text(),
    homeCity: text(),
    homePhone: text(),
    workAddress: text(),
    workAddress2: text('work_address_2'),
    workAddress3: text('work_address_3'),
    workZipcode: text(),
    workCity: text(),
    workPhone: text(),
    externalId: text(),
    companyEmployeeNumber: text(),
    customProperties: jsonb().$type<Record<string, string | null>>(),
    ...timestamps(),
    informationGatheredAt: instant(),
    /** Stands for a person of a group who has no name yet. */
    isPlaceholder: boolean().notNull().default(false),
    /** When the personal data was erased; the row stays for the participants. */
    erasedAt: instant(),
    ...searchWords('firstname', 'lastname', 'email'),
  },
  (t) => [
    primaryKey({ name: 'course_users_pk', columns: [t.providerId, t.id] }),
    foreignKey({ name: 'course_users_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    tenantKey('course_users_customer_fk', t.customerId, customers.id),
    uniqueIndex('course_users_username').on(t.providerId, caseFolded(t.username)),
    index('course_users_folded_person').on(t.providerId, caseFolded(t.email), folded(t.lastname), folded(t.firstname)),
    index('course_users_folded_firstname').on(t.providerId, folded(t.firstname)),
    index('course_users_folded_lastname').on(t.providerId, folded(t.lastname)),
    index('course_users_folded_username').on(t.providerId, folded(t.username)),
    index('course_users_created').on(t.providerId, t.createdAt, t.id),
    index('course_users_updated').on(t.providerId, t.updatedAt, t.id),
    searchIndex('course_users_words', t),
    index('course_users_external_id')
      .on(t.providerId, t.externalId)
      .where(sql`${t.externalId} is not null`),
    index('course_users_customer').on(t.providerId, t.customerId, t.id),
  ],
);
