import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { courseUsers as c } from '../../../database/tables/users.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { PasswordHash } from '../../school/auth/schema.ts';
import { Customer } from '../customers/fields.ts';
import { Address, toAddress } from '../customers/schema.ts';

const { Optional } = Type;
const text = t.Nullable(Type.String());

export type CourseUserRow = Omit<typeof c.$inferSelect, 'passwordHash'>;

const { define, personal, written, imported } = fieldsOf<CourseUserRow, { customer: Customer | null }>();

const InvoiceAddress = t.NamedObject('InvoiceAddress', {
  ...Address.properties,
  invoice_phone: t.member.personal(text),
});
const Day = Type.String({ format: 'date' });
const BirthDate = { ...Day, pattern: '^(?!0000)', description: 'yyyy-mm-dd, not after today' };

const fields = define({
  id: personal(c.id),
  firstname: personal(c.firstname, t.Title(), { imported: Optional(t.Line()) }),
  lastname: personal(c.lastname, t.Title(), { imported: Optional(t.Line()) }),
  email: personal(c.email, t.Email(), { imported: Optional(t.Email()) }),
  // Bookings derive it from an e-mail address and two names, and lower case may turn one letter into two.
  username: personal(
    c.username,
    Optional(t.Title({ maxLength: 1_600, description: 'Unique; one as by a booking unless sent' })),
    { shown: text, read: (row) => (row.isPlaceholder || row.erasedAt !== null ? null : row.username) },
  ),
  phone: personal.longLine(c.phone, 'Phone number'),
  company: personal.line(c.company, 'Company'),
  orgnr: personal.line(c.orgnr, 'Organization number of the company'),
  position: personal.longLine(c.position, 'Position in the company'),
  department: personal.line(c.department, 'Department of the company'),
  legaldepartment: personal.line(c.legaldepartment, 'Department as registered'),
  date_of_birth: personal(c.dateOfBirth, Optional(BirthDate), { shown: t.Nullable(Day), imported: true }),
  customer_id: written(c.customerId, Optional({ ...t.Id, description: 'Id of the customer that employs the person' }), {
    to: 'customer',
    reads: ['customer.id'],
  }),
  invoice_address_1: written.line(c.invoiceAddress, 'Invoice address, first line', 'invoice_address.address'),
  invoice_address_2: written.line(c.invoiceAddress2, 'Second line', 'invoice_address.address_2'),
  invoice_address_3: written.line(c.invoiceAddress3, 'Third line', 'invoice_address.address_3'),
  invoice_zipcode: written.line(c.invoiceZipcode, 'Invoice postal code', 'invoice_address.zipcode'),
  invoice_city: written.line(c.invoiceCity, 'Invoice city', 'invoice_address.city'),
  invoice_phone: written.longLine(c.invoicePhone, 'Phone number for invoices', 'invoice_address.invoice_phone'),
  invoice_address: personal.value(InvoiceAddress, (row) => ({
    address: row.invoiceAddress,
    address_2: row.invoiceAddress2,
    address_3: row.invoiceAddress3,
    zipcode: row.invoiceZipcode,
    city: row.invoiceCity,
    invoice_phone: row.invoicePhone,
  })),
  home_address_1: written.line(c.homeAddress, 'Home address, first line', 'home_address.address'),
  home_address_2: written.line(c.homeAddress2, 'Second line', 'home_address.address_2'),
  home_address_3: written.line(c.homeAddress3, 'Third line', 'home_address.address_3'),
  home_zipcode: written.line(c.homeZipcode, 'Home postal code', 'home_address.zipcode'),
  home_city: written.line(c.homeCity, 'Home city', 'home_address.city'),
  home_phone: imported(c.homePhone, Optional(t.LongLine())),
  home_address: personal.value(Address, (row) =>
    toAddress(row.homeAddress, row.homeAddress2, row.homeAddress3, row.homeZipcode, row.homeCity),
  ),
  work_address_1: written.line(c.workAddress, 'Work address, first line', 'work_address.address'),
  work_address_2: written.line(c.workAddress2, 'Second line', 'work_address.address_2'),
  work_address_3: written.line(c.workAddress3, 'Third line', 'work_address.address_3'),
  work_zipcode: written.line(c.workZipcode, 'Work postal code', 'work_address.zipcode'),
  work_city: written.line(c.workCity, 'Work city', 'work_address.city'),
  work_phone: imported(c.workPhone, Optional(t.LongLine())),
  work_address: personal.value(Address, (row) =>
    toAddress(row.workAddress, row.workAddress2, row.workAddress3, row.workZipcode, row.workCity),
  ),
  external_id: personal.line(c.externalId, 'Id of the person in your system'),
  company_employee_number: personal.line(c.companyEmployeeNumber, 'Number of the employee'),
  custom_properties: personal(
    c.customProperties,
    Optional({ ...t.CustomProperties, description: 'Further values of your own' }),
    { shown: t.Nullable(t.CustomProperties) },
  ),
  customer: personal.value(t.Nullable(Customer), (_, { customer }) => customer),
  created_at: personal(c.createdAt),
  updated_at: personal(c.updatedAt),
  information_gathered_at: personal(
    c.informationGatheredAt,
    Optional(t.StoredMoment({ description: 'When the person was informed that the data is held' })),
  ),
  erased_at: imported(c.erasedAt),
  password_hash: imported(c.passwordHash, Optional(PasswordHash)),
  is_placeholder: imported(c.isPlaceholder),
});
export const importedCourseUser = fields.imported;
export const { inputAliases } = fields;

/** A person who takes part in courses, with their employer. */
export type CourseUser = Static<typeof CourseUser>;
export const [CourseUser, toCourseUser] = fields.item('CourseUser');

/** POST /v2/course-users. */
export type CourseUserBody = Static<typeof CourseUserBody>;
export const CourseUserBody = fields.body('CourseUserCreate', {
  examples: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari.nordmann@fjordenergy.example' }],
});

/** PUT /v2/course-users/:id. */
export type CourseUserChange = Static<typeof CourseUserChange>;
export const CourseUserChange = fields.update(
  'CourseUserUpdate',
  { examples: [{ phone: '+47 22 33 44 55', external_id: 'E-17' }] },
  { username: t.Title({ maxLength: 1_600, description: 'Unique' }) },
);
