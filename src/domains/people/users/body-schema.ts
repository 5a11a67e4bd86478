import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { courseUsers } from '../../../database/tables/users.ts';

const { Optional } = Type;

const BirthDate = Type.String({ format: 'date', pattern: '^(?!0000)', description: 'yyyy-mm-dd, not after today' });
const InformedAt = t.StoredMoment({ description: 'When the person was informed that the data is held' });

/** POST /v2/course-users. */
export type CourseUserBody = Static<typeof CourseUserBody>;
export const CourseUserBody = t.NamedObject(
  'CourseUserCreate',
  {
    firstname: t.stored(courseUsers.firstname, t.Title()),
    lastname: t.stored(courseUsers.lastname, t.Title()),
    email: t.stored(courseUsers.email, t.Email()),
    username: t.stored(
      courseUsers.username,
      Optional(t.Title({ maxLength: 1_600, description: 'Unique; one as by a booking unless sent' })),
    ),
    phone: t.storedLongLine(courseUsers.phone, 'Phone number'),
    company: t.storedLine(courseUsers.company, 'Company'),
    orgnr: t.storedLine(courseUsers.orgnr, 'Organization number of the company'),
    position: t.storedLongLine(courseUsers.position, 'Position in the company'),
    department: t.storedLine(courseUsers.department, 'Department of the company'),
    legaldepartment: t.storedLine(courseUsers.legaldepartment, 'Department as registered'),
    date_of_birth: t.stored(courseUsers.dateOfBirth, Optional(BirthDate)),
    customer_id: t.stored(
      courseUsers.customerId,
      Optional({ ...t.Id, description: 'Id of the customer that employs the person' }),
      'customer',
    ),
    invoice_address_1: t.storedLine(courseUsers.invoiceAddress, 'Invoice address, first line'),
    invoice_address_2: t.storedLine(courseUsers.invoiceAddress2, 'Second line'),
    invoice_address_3: t.storedLine(courseUsers.invoiceAddress3, 'Third line'),
    invoice_zipcode: t.storedLine(courseUsers.invoiceZipcode, 'Invoice postal code'),
    invoice_city: t.storedLine(courseUsers.invoiceCity, 'Invoice city'),
    invoice_phone: t.storedLongLine(courseUsers.invoicePhone, 'Phone number for invoices'),
    home_address_1: t.storedLine(courseUsers.homeAddress, 'Home address, first line'),
    home_address_2: t.storedLine(courseUsers.homeAddress2, 'Second line'),
    home_address_3: t.storedLine(courseUsers.homeAddress3, 'Third line'),
    home_zipcode: t.storedLine(courseUsers.homeZipcode, 'Home postal code'),
    home_city: t.storedLine(courseUsers.homeCity, 'Home city'),
    work_address_1: t.storedLine(courseUsers.workAddress, 'Work address, first line'),
    work_address_2: t.storedLine(courseUsers.workAddress2, 'Second line'),
    work_address_3: t.storedLine(courseUsers.workAddress3, 'Third line'),
    work_zipcode: t.storedLine(courseUsers.workZipcode, 'Work postal code'),
    work_city: t.storedLine(courseUsers.workCity, 'Work city'),
    external_id: t.storedLine(courseUsers.externalId, 'Id of the person in your system'),
    company_employee_number: t.storedLine(courseUsers.companyEmployeeNumber, 'Number of the employee'),
    custom_properties: t.stored(
      courseUsers.customProperties,
      Optional({ ...t.CustomProperties, description: 'Further values of your own' }),
    ),
    information_gathered_at: t.stored(courseUsers.informationGatheredAt, Optional(InformedAt)),
  },
  { examples: [{ firstname: 'Kari', lastname: 'Nordmann', email: 'kari.nordmann@fjordenergy.example' }] },
);

/** PUT /v2/course-users/:id. */
export type CourseUserChange = Static<typeof CourseUserChange>;
export const CourseUserChange = t.NamedObject(
  'CourseUserUpdate',
  t.partialUpdate({
    ...CourseUserBody.properties,
    username: t.stored(courseUsers.username, t.Title({ maxLength: 1_600, description: 'Unique' })),
  }),
  { examples: [{ phone: '+47 22 33 44 55', external_id: 'E-17' }] },
);
