import { Type, type Static } from '@sinclair/typebox';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import type { courseUsers } from '../../../database/tables/users.ts';
import { Customer } from '../customers/fields.ts';
import { Address, toAddress } from '../customers/schema.ts';

const text = t.Nullable(Type.String());

export type CourseUserRow = Omit<typeof courseUsers.$inferSelect, 'passwordHash'>;

/** A person who takes part in courses, with their employer. */
export type CourseUser = Static<typeof CourseUser>;
export const CourseUser = t.NamedObject(
  'CourseUser',
  t.member.personal.all({
    id: Type.Integer(),
    firstname: text,
    lastname: text,
    email: text,
    username: text,
    phone: text,
    company: text,
    orgnr: text,
    position: text,
    department: text,
    legaldepartment: text,
    date_of_birth: t.Nullable(Type.String({ format: 'date' })),
    invoice_address: t.NamedObject('InvoiceAddress', { ...Address.properties, invoice_phone: t.member.personal(text) }),
    home_address: Address,
    work_address: Address,
    external_id: text,
    company_employee_number: text,
    custom_properties: t.Nullable(t.CustomProperties),
    customer: t.Nullable(Customer),
    created_at: t.DateTime,
    updated_at: t.DateTime,
    information_gathered_at: t.Nullable(t.DateTime),
  }),
);

export const toCourseUser = (row: CourseUserRow, { customer }: { customer: Customer | null }): CourseUser => ({
  id: row.id,
  firstname: row.firstname,
  lastname: row.lastname,
  email: row.email,
  username: row.isPlaceholder || row.erasedAt !== null ? null : row.username,
  phone: row.phone,
  company: row.company,
  orgnr: row.orgnr,
  position: row.position,
  department: row.department,
  legaldepartment: row.legaldepartment,
  date_of_birth: row.dateOfBirth,
  invoice_address: {
    address: row.invoiceAddress,
    address_2: row.invoiceAddress2,
    address_3: row.invoiceAddress3,
    zipcode: row.invoiceZipcode,
    city: row.invoiceCity,
    invoice_phone: row.invoicePhone,
  },
  home_address: toAddress(row.homeAddress, row.homeAddress2, row.homeAddress3, row.homeZipcode, row.homeCity),
  work_address: toAddress(row.workAddress, row.workAddress2, row.workAddress3, row.workZipcode, row.workCity),
  external_id: row.externalId,
  company_employee_number: row.companyEmployeeNumber,
  custom_properties: row.customProperties,
  customer,
  created_at: formatTimestamp(row.createdAt),
  updated_at: formatTimestamp(row.updatedAt),
  information_gathered_at: formatTimestamp(row.informationGatheredAt),
});
