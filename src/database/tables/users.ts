import { sql, type SQL } from 'drizzle-orm';
import { boolean, date, foreignKey, index, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core';
import * as c from './columns.ts';
import { customers } from './customers.ts';
import { providers } from './providers.ts';

/** A person who takes courses; belongs to one provider. */
export const courseUsers = c.tenantTable(
  'course_users',
  {
    username: c.personal(text()).notNull(),
    passwordHash: c.personal(text()),
    firstname: c.personal(text()),
    lastname: c.personal(text()),
    email: c.personal(text()),
    phone: c.personal(text()),
    company: c.personal(text()),
    orgnr: c.personal(text()),
    position: c.personal(text()),
    department: c.personal(text()),
    legaldepartment: c.personal(text()),
    dateOfBirth: c.personal(date({ mode: 'string' })),
    customerId: c.reference(),
    invoiceAddress: c.personal(text()),
    invoiceAddress2: c.personal(text('invoice_address_2')),
    invoiceAddress3: c.personal(text('invoice_address_3')),
    invoiceZipcode: c.personal(text()),
    invoiceCity: c.personal(text()),
    invoicePhone: c.personal(text()),
    homeAddress: c.personal(text()),
    homeAddress2: c.personal(text('home_address_2')),
    homeAddress3: c.personal(text('home_address_3')),
    homeZipcode: c.personal(text()),
    homeCity: c.personal(text()),
    homePhone: c.personal(text()),
    workAddress: c.personal(text()),
    workAddress2: c.personal(text('work_address_2')),
    workAddress3: c.personal(text('work_address_3')),
    workZipcode: c.personal(text()),
    workCity: c.personal(text()),
    workPhone: c.personal(text()),
    externalId: c.personal(text()),
    companyEmployeeNumber: c.personal(text()),
    customProperties: c.personal(jsonb()).$type<Record<string, string | null>>(),
    ...c.timestamps(),
    informationGatheredAt: c.instant(),
    /** Stands for a person of a group who has no name yet. */
    isPlaceholder: boolean().notNull().default(false),
    /** When the personal data was erased; the row stays for the participants. */
    erasedAt: c.instant(),
    ...c.searchWords('firstname', 'lastname', 'email'),
  },
  (t) => [
    foreignKey({ name: 'course_users_provider_fk', columns: [t.providerId], foreignColumns: [providers.id] }),
    c.tenantKey('course_users_customer_fk', t.customerId, customers.id),
    uniqueIndex('course_users_username').on(t.providerId, c.caseFolded(t.username)),
    index('course_users_folded_person').on(
      t.providerId,
      c.caseFolded(t.email),
      c.folded(t.lastname),
      c.folded(t.firstname),
    ),
    index('course_users_folded_firstname').on(t.providerId, c.folded(t.firstname)),
    index('course_users_folded_lastname').on(t.providerId, c.folded(t.lastname)),
    index('course_users_folded_username').on(t.providerId, c.folded(t.username)),
    index('course_users_created').on(t.providerId, t.createdAt, t.id),
    index('course_users_updated').on(t.providerId, t.updatedAt, t.id),
    c.searchIndex('course_users_words', t),
    c.indexWhere('course_users_external_id', [t.providerId, t.externalId], sql`${t.externalId} is not null`),
    index('course_users_customer').on(t.providerId, t.customerId, t.id),
  ],
);

/** First and last name of a row of the table, or its alias. */
export const fullNameSql = (user: string) => `concat_ws(' ', ${user}.firstname, ${user}.lastname)`;
export const fullName = sql.raw(fullNameSql('course_users')) as SQL<string>;
