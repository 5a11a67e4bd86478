import { and, asc, eq, inArray, notInArray, or, sql, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { invalidFields, notFound } from '../../core/errors.ts';
import { concerns, unchanged } from '../../database/audit-log.ts';
import type { Tx } from '../../database/client.ts';
import { folded, realTime } from '../../database/tables/columns.ts';
import { outbox } from '../../database/tables/outbox.ts';
import { adminMembershipRoles, adminMemberships, adminUsers, roles } from '../../database/tables/people.ts';
import { own } from '../../lists/tenant-scope.ts';
import type { AdminUserBody } from './body-schema.ts';
import type { AdminUser, AppUser } from './schema.ts';
import { adminUserShape, fetchMembers } from './serializer.ts';

/** All admin users of the provider; the list names no `limit`, so it is not paged. */
export const listAdminUsers = async (ctx: Ctx) =>
  adminUserShape.embed(ctx, await fetchMembers(ctx, own(ctx, adminMemberships)), {}, []);

/** Who may own a customer as its seller: the provider's admin users. */
export const listAppUsers = (ctx: Ctx): PromiseLike<AppUser[]> => fetchMembers(ctx, own(ctx, adminMemberships));

export const listRoles = (ctx: Ctx) =>
  ctx.db
    .select({ id: roles.id, title: roles.title, description: roles.description })
    .from(roles)
    .where(own(ctx, roles))
    .orderBy(asc(roles.id));

/**
 * Makes a person a member of the provider with just these roles. Who has the e-mail address already, at whatever
 * provider, is attached: names belong to the membership and the e-mail stays, so the provider's own lock is enough.
 */
export function saveAdminUser(ctx: Ctx, body: AdminUserBody): Promise<{ user: AdminUser; isNew: boolean }> {
  const { providerId } = ctx;
  const roleIds = [...new Set(body.role_ids)];
  return ctx.write(async (tx, at) => {
    const known = await findPerson(tx, body.email);
    await refuse(ctx, tx, known === undefined, roleIds, body);
    const { person, isNew } = known ? { person: known, isNew: false } : await makePerson(tx, at, body);
    const adminUserId = person.id;

    const values = { providerId, adminUserId, ...namesOf(body), createdAt: at, updatedAt: at };
    const joined = await tx
      .insert(adminMemberships)
      .values(isNew ? { ...values, ...profileOf(body) } : values)
      .onConflictDoNothing()
      .returning({ adminUserId: adminMemberships.adminUserId });
    const member = own(ctx, adminMemberships, eq(adminMemberships.adminUserId, adminUserId));
    const hasOtherRoles = await replaceRoles(ctx, tx, adminUserId, roleIds);
    const isJoined = joined.length > 0;
    const isNamed = !isJoined && (await fillNames(tx, at, member, body));
    if (hasOtherRoles && !isJoined) {
      await tx.update(adminMemberships).set({ updatedAt: at }).where(member);
    }
    concerns(tx, adminUserId);
    if (isJoined && !person.hasPassword && body.send_invite !== false) {
      await tx
        .insert(outbox)
        .values({ providerId, adminUserId, purpose: 'invitation', createdAt: at, dueAt: realTime });
    }
    const inside = { ...ctx, db: tx };
    const [user] = await adminUserShape.embed(inside, await fetchMembers(inside, member), {}, []);
    const saved = { user: user!, isNew };
    return hasOtherRoles || isJoined || isNamed ? saved : unchanged(tx, saved);
  });
}

/** What only the database knows: whether the person is new, and which roles the provider has. */
async function refuse(ctx: Ctx, tx: Tx, isNew: boolean, roleIds: number[], { firstname, lastname }: AdminUserBody) {
  const missing = [
    ...(isNew && firstname === undefined ? ['firstname'] : []),
    ...(isNew && lastname === undefined ? ['lastname'] : []),
  ];
  const found = await tx.$count(roles, own(ctx, roles, inArray(roles.id, roleIds)));
  const notValid = found === roleIds.length ? [] : ['role_ids'];
  if (missing.length + notValid.length > 0) throw invalidFields({ missing, notValid });
}

/** Over all providers: a person belongs to none. */
async function findPerson(tx: Tx, email: string) {
  const [person] = await tx
    .select({ id: adminUsers.id, hasPassword: sql<boolean>`${adminUsers.passwordHash} is not null` })
    .from(adminUsers)
    .where(sql`${folded(adminUsers.email)} = ${folded(email)}`);
  return person;
}

/** Another provider may be making the same person, whose lock is not ours: the insert then waits and finds it made. */
async function makePerson(tx: Tx, at: string, { email }: AdminUserBody) {
  const [made] = await tx
    .insert(adminUsers)
    .values({ email, createdAt: at })
    .onConflictDoNothing()
    .returning({ id: adminUsers.id });
  return made
    ? { person: { ...made, hasPassword: false }, isNew: true }
    : { person: (await findPerson(tx, email))!, isNew: false };
}

const namesOf = ({ firstname = '', lastname = '' }: AdminUserBody) => ({ firstname, lastname });

/** Sets names that are empty yet, as of who was attached without any; returns whether that changed one. */
async function fillNames(tx: Tx, at: string, member: SQL, body: AdminUserBody) {
  const { firstname, lastname } = adminMemberships;
  const names = namesOf(body);
  const isFilled = or(
    names.firstname === '' ? undefined : eq(firstname, ''),
    names.lastname === '' ? undefined : eq(lastname, ''),
  );
  if (isFilled === undefined) return false;
  const filled = await tx
    .update(adminMemberships)
    .set({
      firstname: sql`coalesce(nullif(${firstname}, ''), ${names.firstname})`,
      lastname: sql`coalesce(nullif(${lastname}, ''), ${names.lastname})`,
      updatedAt: at,
    })
    .where(and(member, isFilled))
    .returning({ adminUserId: adminMemberships.adminUserId });
  return filled.length > 0;
}

/** Gives an admin user another name at this provider. */
export const renameAdminUser = (ctx: Ctx, adminUserId: number, names: { firstname: string; lastname: string }) =>
  ctx.write(async (tx, at) => {
    const renamed = await tx
      .update(adminMemberships)
      .set({ ...names, updatedAt: at })
      .where(own(ctx, adminMemberships, eq(adminMemberships.adminUserId, adminUserId)))
      .returning({ adminUserId: adminMemberships.adminUserId });
    if (renamed.length === 0) throw notFound(`Admin user ${adminUserId}`);
    concerns(tx, adminUserId);
  });

/** Whether that changed anything. */
async function replaceRoles(ctx: Ctx, tx: Tx, adminUserId: number, roleIds: number[]) {
  const { roleId } = adminMembershipRoles;
  const others = own(
    ctx,
    adminMembershipRoles,
    eq(adminMembershipRoles.adminUserId, adminUserId),
    notInArray(roleId, roleIds),
  );
  const removed = await tx.delete(adminMembershipRoles).where(others).returning({ roleId });
  const added = await tx
    .insert(adminMembershipRoles)
    .values(roleIds.map((roleId) => ({ providerId: ctx.providerId, adminUserId, roleId })))
    .onConflictDoNothing()
    .returning({ roleId });
  return removed.length + added.length > 0;
}

const profileOf = (body: AdminUserBody) => ({
  position: body.position,
  phonePrefix: body.phone_prefix,
  phone: body.phone,
  bookingEmail: body.booking_email,
});
