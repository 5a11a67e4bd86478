import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { customers } from '../../../database/tables/customers.ts';
import { instructors, locations } from '../../../database/tables/places.ts';
import { todayIn } from '../../../core/timestamps.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { importedCustomer } from '../../../domains/people/customers/fields.ts';
import { importedCourseUser } from '../../../domains/people/users/fields.ts';
import { importedInstructor } from '../../../domains/courses/instructors/fields.ts';
import { importedLocation } from '../../../domains/courses/locations/fields.ts';
import { findPasswordFault, Password } from '../../../domains/school/auth/schema.ts';
import { hashPassword } from '../../../domains/school/auth/password-service.ts';
import { storedFields, type BulkRecordType, type Fields } from '../record-type.ts';

const { Optional } = Type;

export const instructor: BulkRecordType = {
  kind: 'instructor',
  table: instructors,
  fields: storedFields(importedInstructor),
};

export const location: BulkRecordType = {
  kind: 'location',
  table: locations,
  fields: storedFields(importedLocation),
  complete({ timezone }, { zones }) {
    if (timezone !== undefined && !zones.has(timezone as string))
      throw Problem.invalidFields({ notValid: ['timezone'] });
    return undefined;
  },
};

export const customer: BulkRecordType = {
  kind: 'customer',
  table: customers,
  fields: storedFields(importedCustomer),
};

const { username, ...userFields } = storedFields(importedCourseUser);

export const user: BulkRecordType = {
  kind: 'user',
  table: courseUsers,
  unique: { field: 'username', among: 'true', applies: ({ username }) => username !== undefined },
  fields: { username: username!, ...userFields },
  // Exports contain the hash instead.
  accepts: { password: Optional(Password) },
  exported: {
    username: 'case when not t.is_placeholder then t.username end',
    is_placeholder: 'nullif(t.is_placeholder, false)',
  },
  async complete(fields, { schoolTitle, timezone }) {
    if (fields['is_placeholder'] === true) {
      assertAlone(fields);
      fields['username'] = randomUUID();
      return {};
    }
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
  // The interface does not show placeholders.
  async afterInsert({ providerId, tx }, ids) {
    await tx.execute(sql`
      delete from events where provider_id = ${providerId} and id >= first_event_id() and resource = 'courseuser'
        and resource_id = any(array(
          select id from course_users where provider_id = ${providerId} and id = any(array(${ids})) and is_placeholder
        ))`);
  },
};

/** A placeholder has no values of a person. */
function assertAlone(fields: Fields) {
  const set = Object.keys(fields).filter((name) => fields[name] !== undefined && fields[name] !== null);
  if (set.some((name) => !['kind', 'ref', 'is_placeholder'].includes(name)))
    throw Problem.invalidFields({ notValid: ['is_placeholder'] });
}
