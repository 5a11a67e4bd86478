import { Type, type Static } from '@sinclair/typebox';
import { formatPlainTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import type { adminMemberships, adminUsers } from '../../../database/tables/people.ts';

const text = Type.String();

type Person = Pick<typeof adminUsers.$inferSelect, 'id' | 'email'>;
type Membership = Omit<typeof adminMemberships.$inferSelect, 'adminUserId'>;

/** A person at one provider; the timestamps are those of the membership. */
export type AdminUserRow = Person & Membership;

export const roleIds = 'Ids of roles: 1 is Administrator, the others are those of GET /v2/admin-roles';

export type AdminUser = Static<typeof AdminUser>;
export const AdminUser = t.NamedObject(
  'AdminUser',
  t.member.personal.all({
    id: Type.Integer(),
    firstname: text,
    lastname: text,
    email: text,
    position: text,
    phone_prefix: text,
    phone: text,
    booking_email: text,
    role_ids: Type.Array(Type.Integer(), { description: roleIds }),
    created_at: t.PlainDateTime,
    updated_at: t.PlainDateTime,
  }),
);

export const toAdminUser = (row: AdminUserRow, { role_ids }: { role_ids: number[] }): AdminUser => ({
  id: row.id,
  firstname: row.firstname,
  lastname: row.lastname,
  email: row.email,
  position: row.position,
  phone_prefix: row.phonePrefix,
  phone: row.phone,
  booking_email: row.bookingEmail,
  role_ids,
  created_at: formatPlainTimestamp(row.createdAt),
  updated_at: formatPlainTimestamp(row.updatedAt),
});

/** An admin user who may own a customer as its seller. */
export type AppUser = Static<typeof AppUser>;
export const AppUser = t.NamedObject(
  'AppUser',
  t.member.personal.all({ id: Type.Integer(), firstname: text, lastname: text, email: text }),
);

export const Role = t.NamedObject('Role', t.member.closed.all({ id: Type.Integer(), title: text, description: text }));
