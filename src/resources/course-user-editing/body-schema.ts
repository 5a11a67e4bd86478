import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { courseUsers } from '../../database/tables/users.ts';

const { Optional } = Type;

const line = (description: string) => Optional({ ...t.Line(), description });
const longLine = (description: string) => Optional({ ...t.LongLine(), description });

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
    phone: t.stored(courseUsers.phone, longLine('Phone number')),
    company: t.stored(courseUsers.company, line('Company')),
    orgnr: t.stored(courseUsers.orgnr, line('Organization number of the company')),
    position: t.stored(courseUsers.position, longLine('Position in the company')),
    department: t.stored(courseUsers.department, line('Department of the company')),
    legaldepartment: t.stored(courseUsers.legaldepartment, line('Department as registered')),
    date_of_birth: t.stored(courseUsers.dateOfBirth, Optional(BirthDate)),
    customer_id: t.stored(
      courseUsers.customerId,
      Optional({ ...t.Id, description: 'Id of the customer that employs the person' }),
      'customer',
    ),
    invoice_address_1: t.stored(courseUsers.invoiceAddress, line('Invoice address, first line')),
    invoice_address_2: t.stored(courseUsers.invoiceAddress2, line('Second line')),
    invoice_address_3: t.stored(courseUsers.invoiceAddress3, line('Third line')),
    invoice_zipcode: t.stored(courseUsers.invoiceZipcode, line('Invoice postal code')),
    invoice_city: t.stored(courseUsers.invoiceCity, line('Invoice city')),
    invoice_phone: t.stored(courseUsers.invoicePhone, longLine('Phone number for invoices')),
    home_address_1: t.stored(courseUsers.homeAddress, line('Home address, first line')),
    home_address_2: t.stored(courseUsers.homeAddress2, line('Second line')),
    home_address_3: t.stored(courseUsers.homeAddress3, line('Third line')),
    home_zipcode: t.stored(courseUsers.homeZipcode, line('Home postal code')),
    home_city: t.stored(courseUsers.homeCity, line('Home city')),
    work_address_1: t.stored(courseUsers.workAddress, line('Work address, first line')),
    work_address_2: t.stored(courseUsers.workAddress2, line('Second line')),
    work_address_3: t.stored(courseUsers.workAddress3, line('Third line')),
    work_zipcode: t.stored(courseUsers.workZipcode, line('Work postal code')),
    work_city: t.stored(courseUsers.workCity, line('Work city')),
    external_id: t.stored(courseUsers.externalId, line('Id of the person in your system')),
    company_employee_number: t.stored(courseUsers.companyEmployeeNumber, line('Number of the employee')),
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
