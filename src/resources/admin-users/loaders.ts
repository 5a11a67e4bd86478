import { asc, eq, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { adminMembershipRoles, adminMemberships, adminUsers } from '../../database/tables/people.ts';
import { batchLoader } from '../../lists/loaders.ts';

const { id, email } = adminUsers;
const { providerId, firstname, lastname, position, phonePrefix, phone, bookingEmail, createdAt, updatedAt } =
  adminMemberships;
const person = { id, email };
const membership = {
  providerId,
  firstname,
  lastname,
  position,
  phonePrefix,
  phone,
  bookingEmail,
  createdAt,
  updatedAt,
};

export const fetchRoleIds = batchLoader((ctx, keys) =>
  ctx.db
    .select({ ownerId: adminMembershipRoles.adminUserId, roleId: adminMembershipRoles.roleId })
    .from(adminMembershipRoles)
    .where(keys.match(adminMembershipRoles, adminMembershipRoles.adminUserId))
    .orderBy(asc(adminMembershipRoles.roleId)),
);

/** Members by a condition on `admin_memberships`, which must hold the tenant predicate; ordered by id. */
export const fetchMembers = (ctx: Pick<Ctx, 'db'>, condition: SQL) =>
  ctx.db
    .select({ ...person, ...membership })
    .from(adminMemberships)
    .innerJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .where(condition)
    .orderBy(asc(adminMemberships.adminUserId));

/** Members by their ids. */
export const fetchAdminUsers = batchLoader((ctx, keys) =>
  fetchMembers(ctx, keys.match(adminMemberships, adminMemberships.adminUserId)),
);
