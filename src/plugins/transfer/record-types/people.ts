import { Type } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import { CustomProperties, Email, Flag, Line, LongLine, StoredMoment, Title } from '../../../core/schema/types.ts';
import { customers } from '../../../database/tables/customers.ts';
import { instructors, locations } from '../../../database/tables/places.ts';
import { todayIn } from '../../../core/timestamps.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { BookingBody, ParticipantBody } from '../../../resources/booking/body-schema.ts';
import { CustomerBody } from '../../../resources/customers/body-schema.ts';
import { InstructorBody } from '../../../resources/instructors/body-schema.ts';
import { LocationBody } from '../../../resources/locations/body-schema.ts';
import { findPasswordFault, Password, PasswordHash } from '../../../resources/auth/password-schema.ts';
import { hashPassword } from '../../../resources/auth/password-service.ts';
import { field, storedFields, refersTo, withLast, type BulkRecordType } from '../record-type.ts';
import { Day } from './value-formats.ts';

const { Optional } = Type;
const line = Optional(Line());

export const instructor: BulkRecordType = {
  kind: 'instructor',
  table: instructors,
  fields: {
    ...storedFields(InstructorBody.properties),
    archived_at: field(instructors.archivedAt, Optional(StoredMoment())),
  },
};

export const location: BulkRecordType = {
  kind: 'location',
  table: locations,
  fields: {
    ...withLast(storedFields(LocationBody.properties), [
      ...['cancellation_days', 'capacity_budget', 'capacity_max', 'capacity_min', 'capacity_overbook'],
      ...['capacity_wait', 'notification_days', 'is_archived', 'is_default', 'is_notification_enabled', 'is_virtual'],
    ]),
    title: field(locations.title, Optional(Title())),
  },
  complete({ timezone }, { zones }) {
    if (timezone !== undefined && !zones.has(timezone as string))
      throw Problem.invalidFields({ notValid: ['timezone'] });
    return undefined;
  },
};

export const customer: BulkRecordType = {
  kind: 'customer',
  table: customers,
  fields: {
    ...withLast(storedFields(CustomerBody.properties), ['seller_id']),
    idParentCustomer: refersTo('customer', customers.parentCustomerId),
    turnover: field(customers.turnover, line),
    invoice_method: field(customers.invoiceMethod, line),
    always_use_customer_reference: field(customers.alwaysUseCustomerReference, Optional(Flag())),
    custom_properties: field(customers.customProperties, Optional(CustomProperties)),
  },
};

const { properties } = ParticipantBody;
/** Bookings derive usernames from an e-mail address and two names, and lower case may turn one letter into two. */
const Username = Title({ maxLength: 1_600 });

export const user: BulkRecordType = {
  kind: 'user',
  table: courseUsers,
  unique: { field: 'username', among: 'true', applies: ({ username }) => username !== undefined },
  fields: {
    username: field(courseUsers.username, Optional(Username)),
    firstname: field(courseUsers.firstname, line),
    lastname: field(courseUsers.lastname, line),
    email: field(courseUsers.email, Optional(Email())),
    phone: field(courseUsers.phone, properties.phone),
    company: field(courseUsers.company, properties.company),
    orgnr: field(courseUsers.orgnr, BookingBody.properties.company_number),
    position: field(courseUsers.position, properties.position),
    department: field(courseUsers.department, line),
    legaldepartment: field(courseUsers.legaldepartment, line),
    date_of_birth: field(courseUsers.dateOfBirth, Optional(Day)),
    customer_id: refersTo('customer', courseUsers.customerId),
    invoice_address_1: field(courseUsers.invoiceAddress, line),
    invoice_address_2: field(courseUsers.invoiceAddress2, line),
    invoice_address_3: field(courseUsers.invoiceAddress3, line),
    invoice_zipcode: field(courseUsers.invoiceZipcode, line),
    invoice_city: field(courseUsers.invoiceCity, line),
    invoice_phone: field(courseUsers.invoicePhone, Optional(LongLine())),
    home_address_1: field(courseUsers.homeAddress, line),
    home_address_2: field(courseUsers.homeAddress2, line),
    home_address_3: field(courseUsers.homeAddress3, line),
    home_zipcode: field(courseUsers.homeZipcode, line),
    home_city: field(courseUsers.homeCity, line),
    home_phone: field(courseUsers.homePhone, Optional(LongLine())),
    work_address_1: field(courseUsers.workAddress, line),
    work_address_2: field(courseUsers.workAddress2, line),
    work_address_3: field(courseUsers.workAddress3, line),
    work_zipcode: field(courseUsers.workZipcode, line),
    work_city: field(courseUsers.workCity, line),
    work_phone: field(courseUsers.workPhone, Optional(LongLine())),
    external_id: field(courseUsers.externalId, line),
    company_employee_number: field(courseUsers.companyEmployeeNumber, line),
    custom_properties: field(courseUsers.customProperties, Optional(CustomProperties)),
    information_gathered_at: field(courseUsers.informationGatheredAt, Optional(StoredMoment())),
    password_hash: field(courseUsers.passwordHash, Optional(PasswordHash)),
  },
  // Exports contain the hash instead.
  accepts: { password: Optional(Password) },
  async complete(fields, { schoolTitle, timezone }) {
    const { date_of_birth: born } = fields as Record<string, string | undefined>;
    if (born !== undefined && born > todayIn(timezone)) throw Problem.invalidFields({ notValid: ['date_of_birth'] });
    if (fields['username'] === undefined && fields['email'] === undefined)
      throw Problem.invalidFields({ missing: ['username'] });
    if (fields['password'] !== undefined) {
      const password = fields['password'] as string;
      const names = [schoolTitle, ...['username', 'firstname', 'lastname', 'email'].map((name) => fields[name])];
      if (findPasswordFault(password, names) !== undefined) throw Problem.invalidFields({ notValid: ['password'] });
      fields['password_hash'] = await hashPassword(password);
    }
    return {};
  },
};
