import { Type, type Static } from '@sinclair/typebox';
import { formatPlainTimestamp } from '../../../core/timestamps.ts';
import { t } from '../../../core/schema/types.ts';
import { adminMemberships as c, adminUsers, roles } from '../../../database/tables/people.ts';
import { fieldsOf } from '../../../lists/fields.ts';

const { Optional } = Type;

type Person = Pick<typeof adminUsers.$inferSelect, 'id' | 'email'>;
type Membership = Omit<typeof c.$inferSelect, 'adminUserId'>;

/** A person at one provider; the timestamps are those of the membership. */
export type AdminUserRow = Person & Membership;

const { define, closed, personal, written } = fieldsOf<AdminUserRow, { role_ids: number[] }>();

const name = t.Title({
  description: 'The name at this school; required for a new person. An existing name is not changed',
});
const roleIds = { description: 'Ids of roles: 1 is Administrator, the others are those of GET /v2/admin-roles' };
const invite = {
  default: true,
  description: 'true: a new admin user without a password gets an invitation by e-mail',
};

const fields = define(
  {
    id: personal(adminUsers.id),
    firstname: personal(c.firstname, Optional(name)),
    lastname: personal(c.lastname, Optional(name)),
    email: personal(adminUsers.email, t.Email()),
    position: personal.longLine(c.position),
    phone_prefix: personal.longLine(c.phonePrefix),
    phone: personal.longLine(c.phone),
    booking_email: personal.email(c.bookingEmail),
    role_ids: personal.value(Type.Array(Type.Integer(), roleIds), (_, { role_ids }) => role_ids, t.List(t.Id, roleIds)),
    send_invite: written.value(Optional(Type.Boolean(invite))),
    created_at: personal.value(t.PlainDateTime, (row) => formatPlainTimestamp(row.createdAt)),
    updated_at: personal.value(t.PlainDateTime, (row) => formatPlainTimestamp(row.updatedAt)),
  },
  { body: 'firstname lastname position phone_prefix phone booking_email send_invite' },
);

export type AdminUser = Static<typeof AdminUser>;
export const [AdminUser, toAdminUser] = fields.item('AdminUser');

/** POST /v2/admin-users. The e-mail names the person, so it is trimmed and normalized as titles are. */
export type AdminUserBody = Static<typeof AdminUserBody>;
export const AdminUserBody = fields.body('AdminUserCreate', {
  examples: [{ email: 'kari@fjordschool.example', role_ids: [1], firstname: 'Kari', lastname: 'Nordmann' }],
});

const { id, firstname, lastname, email } = AdminUser.properties;

/** An admin user who may own a customer as its seller. */
export type AppUser = Static<typeof AppUser>;
export const AppUser = t.NamedObject('AppUser', { id, firstname, lastname, email });

export const Role = define({
  id: closed(roles.id),
  title: closed(roles.title),
  description: closed(roles.description),
}).schema('Role');
