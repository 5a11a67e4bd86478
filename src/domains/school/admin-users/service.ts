import { asc, eq, isNotNull, sql, type SQL } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import type { Tx, Write } from '../../../database/client.ts';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { caseFolded, currentTime } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import {
  administratorRoleId,
  adminMembershipRoles,
  adminMemberships,
  adminUsers,
  roles,
} from '../../../database/tables/people.ts';
import { bodyColumns } from '../../../lists/body-writer.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { defineReferences } from '../../../lists/references.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { allOf, tenantWhere } from '../../../lists/tenant-scope.ts';
import { defineTimestampFilters, type TimestampQuery } from '../../../lists/list-query.ts';
import { voidAdminTokens } from '../auth/token-service.ts';
import { AdminUser, AdminUserBody, toAdminUser, type AdminUserRow, type AppUser } from './fields.ts';
import { fetchRoleIds, fetchMembers, matchMembers } from './loaders.ts';

const loadRoleIds = relation.hasMany(fetchRoleIds, ({ roleId }) => roleId);

const adminUserSerializer = defineSerializer<AdminUserRow>()({
  reads: ['people'],
  responseSchema: AdminUser,
  relations: { role_ids: loadRoleIds },
  toResponse: toAdminUser,
});

export const toMembership = bodyColumns(adminMemberships, AdminUserBody.properties);

export const adminUserReferences = defineReferences<AdminUserBody>({ role_ids: roles.id });

export const adminUserFilters = defineTimestampFilters(adminMemberships);

/** All admin users of the provider, without paging. */
export const listAdminUsers = (ctx: Ctx, query: TimestampQuery) =>
  loadMembers(ctx, allOf(matchMembers(ctx), adminUserFilters.where(ctx, query)));

export const listAppUsers = (ctx: Ctx): PromiseLike<AppUser[]> => fetchMembers(ctx, matchMembers(ctx));

export const getAdminUser = async (ctx: Ctx, id: number): Promise<AdminUser> =>
  Problem.assertFound((await loadMembers(ctx, matchMembers(ctx, id)))[0], 'Admin user');

const loadMembers = async (ctx: Ctx, condition: SQL): Promise<AdminUser[]> =>
  adminUserSerializer.embed(ctx, await fetchMembers(ctx, condition), {}, []);

export const listRoles = (ctx: Ctx) =>
  ctx.db
    .select({ id: roles.id, title: roles.title, description: roles.description })
    .from(roles)
    .where(tenantWhere(ctx, roles))
    .orderBy(asc(roles.id));

/**
 * Makes a person a member of the provider with exactly these roles. A person with this e-mail at any provider is
 * attached under its names as first given, without the names and the profile of the body; one who was detached, under
 * the names at this provider.
 */
export function saveAdminUser(ctx: Ctx, body: AdminUserBody): Promise<{ user: AdminUser; isNew: boolean }> {
  const { providerId } = ctx;
  const roleIds = [...new Set(body.role_ids)];
  return ctx.write(['people'], async (w) => {
    const { tx, now } = w;
    const existing = await findPerson(tx, body.email);
    await assertValid(w, existing === undefined, body);
    if (existing && !roleIds.includes(administratorRoleId) && (await isLastAdministrator(w, existing.id)))
      throw Problem.coded('last_administrator', 'The last administrator of the school keeps the role 1', {
        notValid: ['role_ids'],
      });
    const { person, isNew } = existing ? { person: existing, isNew: false } : await createPerson(w, body);
    const adminUserId = person.id;

    const { firstname, lastname } = person;
    const values = { providerId, adminUserId, firstname, lastname, createdAt: now, updatedAt: now };
    const joined = await tx
      .insert(adminMemberships)
      .values(isNew ? { ...values, ...toMembership(body) } : values)
      .onConflictDoUpdate({
        target: [adminMemberships.providerId, adminMemberships.adminUserId],
        set: { detachedAt: null, updatedAt: now },
        setWhere: isNotNull(adminMemberships.detachedAt),
      })
      .returning({ adminUserId: adminMemberships.adminUserId });
    const member = matchMembers(ctx, adminUserId);
    const hasOtherRoles = await replaceLinks(w, adminMembershipRoles, { adminUserId }, 'roleId', roleIds);
    const isJoined = joined.length > 0;
    if (hasOtherRoles && !isJoined) {
      await tx.update(adminMemberships).set({ updatedAt: now }).where(member);
    }
    tx.auditItem(adminUserId);
    if (isJoined && !person.hasPassword && body.send_invite !== false) {
      await tx
        .insert(outbox)
        .values({ providerId, adminUserId, purpose: 'invitation', createdAt: now, dueAt: currentTime });
    }
    const saved = { user: itemAt(await loadMembers({ ...ctx, db: tx }, member)), isNew };
    return hasOtherRoles || isJoined ? saved : tx.rollBack(saved);
  });
}

async function assertValid(w: WriteCtx, isNew: boolean, body: AdminUserBody) {
  const { firstname, lastname } = body;
  const missing = [
    ...(isNew && firstname === undefined ? ['firstname'] : []),
    ...(isNew && lastname === undefined ? ['lastname'] : []),
  ];
  const notValid = await adminUserReferences.findUnknown(body, { ctx: w, reader: w.tx });
  if (missing.length + notValid.length > 0) throw Problem.invalidFields({ missing, notValid });
}

/** Searches all providers: a person belongs to none. */
async function findPerson(tx: Tx, email: string) {
  const [person] = await tx
    .select({
      id: adminUsers.id,
      hasPassword: sql<boolean>`${adminUsers.passwordHash} is not null`,
      firstname: sql<string>`coalesce(${adminUsers.firstname}, '')`,
      lastname: sql<string>`coalesce(${adminUsers.lastname}, '')`,
    })
    .from(adminUsers)
    .where(sql`${caseFolded(adminUsers.email)} = ${caseFolded(email)}`);
  return person;
}

/** Another provider may insert the same person at the same time, under its own lock: this insert then waits for it. */
async function createPerson({ tx, now }: Write, { email, firstname = '', lastname = '' }: AdminUserBody) {
  const names = { firstname, lastname };
  const [created] = await tx
    .insert(adminUsers)
    .values({ email, ...names, createdAt: now })
    .onConflictDoNothing()
    .returning({ id: adminUsers.id });
  return created
    ? { person: { ...created, ...names, hasPassword: false }, isNew: true }
    : { person: (await findPerson(tx, email))!, isNew: false };
}

async function isLastAdministrator(w: WriteCtx, adminUserId: number) {
  const administrators = await w.tx
    .select({ id: adminMembershipRoles.adminUserId })
    .from(adminMembershipRoles)
    .where(tenantWhere(w, adminMembershipRoles, eq(adminMembershipRoles.roleId, administratorRoleId)))
    .limit(2);
  return administrators.length === 1 && itemAt(administrators).id === adminUserId;
}

/** Detaches a person from the provider and returns it as it was. Customers, orders and instructors still name it. */
export const detachAdminUser = (ctx: Ctx, adminUserId: number): Promise<AdminUser> =>
  ctx.write(['people'], async (w) => {
    const user = await getAdminUser({ ...ctx, db: w.tx }, adminUserId);
    if (await isLastAdministrator(w, adminUserId))
      throw Problem.coded('last_administrator', 'The last administrator of the school cannot be detached');
    await replaceLinks(w, adminMembershipRoles, { adminUserId }, 'roleId', []);
    await w.tx
      .update(adminMemberships)
      .set({ detachedAt: w.now, updatedAt: w.now })
      .where(matchMembers(ctx, adminUserId));
    await voidAdminTokens(w, adminUserId);
    return user;
  });

export const renameAdminUser = (ctx: Ctx, adminUserId: number, names: { firstname: string; lastname: string }) =>
  ctx.write(['people'], async ({ tx, now }) => {
    const member = matchMembers(ctx, adminUserId);
    if ((await tx.$count(adminMemberships, member)) === 0) throw Problem.notFound(`Admin user ${adminUserId}`);
    if ((await tx.updateChanged(adminMemberships, member, names, now)) === 0) tx.rollBack();
    else tx.auditItem(adminUserId);
  });
