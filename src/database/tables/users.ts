import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  date,
  foreignKey,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { caseFolded, id, instant, reference, timestamps } from './columns.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

/** Supports `LIKE 'prefix%'`, which an index with a language collation does not. */
const fromStart = (column: AnyPgColumn) => sql`${caseFolded(column)} text_pattern_ops`;

/** A person who takes courses; belongs to one provider. */
export const courseUsers = pgTable(
  'course_users',
  {
    providerId: reference().notNull(),
    id: id(),
    customerId: reference(),
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
  },
  (t) => [
    primaryKey({ name: 'course_users_pk', columns: [t.providerId, t.id] }),
    foreignKey({ name: 'course_users_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    foreignKey({
      name: 'course_users_customer_fk',
      columns: [t.providerId, t.customerId],
      foreignColumns: [customers.providerId, customers.id],
    }),
    uniqueIndex('course_users_username').on(t.providerId, caseFolded(t.username)),
    index('course_users_person').on(t.providerId, caseFolded(t.email), caseFolded(t.lastname), caseFolded(t.firstname)),
    index('course_users_firstname').on(t.providerId, fromStart(t.firstname)),
    index('course_users_lastname').on(t.providerId, fromStart(t.lastname)),
    index('course_users_username_start').on(t.providerId, fromStart(t.username)),
    index('course_users_customer').on(t.providerId, t.customerId, t.id),
  ],
);
