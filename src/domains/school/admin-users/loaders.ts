import { asc, eq, isNull, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { omitColumns } from '../../../database/tables/columns.ts';
import { adminMembershipRoles, adminMemberships, adminUsers } from '../../../database/tables/people.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

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
    .select({ id: adminUsers.id, email: adminUsers.email, ...omitColumns(adminMemberships, ['adminUserId']) })
    .from(adminMemberships)
    .innerJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .where(condition)
    .orderBy(asc(adminMemberships.adminUserId));

/** A condition on `admin_memberships`: members of the provider that are not detached, or the one with this id. */
export const matchMembers = (ctx: Ctx, id?: number) =>
  tenantWhere(
    ctx,
    adminMemberships,
    isNull(adminMemberships.detachedAt),
    id === undefined ? undefined : eq(adminMemberships.adminUserId, id),
  );

/** Detached ones too, which customers and orders still name. */
export const fetchAdminUsers = batchLoader((ctx, keys) =>
  fetchMembers(ctx, keys.match(adminMemberships, adminMemberships.adminUserId)),
);
