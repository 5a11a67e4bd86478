import { asc, eq, inArray, notInArray, sql } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import { invalidFields } from '../../core/problem.ts';
import { concerns, unchanged } from '../../database/audit.ts';
import type { Tx } from '../../database/client.ts';
import { folded, realTime } from '../../database/tables/columns.ts';
import { outbox } from '../../database/tables/outbox.ts';
import { adminMembershipRoles, adminMemberships, adminUsers, roles } from '../../database/tables/people.ts';
import { own } from '../../lists/reach.ts';
import type { AdminUserBody } from './body.ts';
import type { AdminUser, AppUser } from './schema.ts';
import { adminUserShape, fetchMembers } from './shape.ts';

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
 * provider, is attached as they are: names and e-mail change for nobody, so the provider's own lock is enough.
 */
export function saveAdminUser(ctx: Ctx, body: AdminUserBody): Promise<{ user: AdminUser; isNew: boolean }> {
  const { providerId } = ctx;
  const roleIds = [...new Set(body.role_ids)];
  return ctx.write(async (tx, at) => {
    const known = await findPerson(tx, body.email);
    await refuse(ctx, tx, known === undefined, roleIds, body);
    const { adminUserId, isNew } = known ? { adminUserId: known.id, isNew: false } : await makePerson(tx, at, body);

    const values = { providerId, adminUserId, createdAt: at, updatedAt: at };
    const joined = await tx
      .insert(adminMemberships)
      .values(isNew ? { ...values, ...profileOf(body) } : values)
      .onConflictDoNothing()
      .returning({ adminUserId: adminMemberships.adminUserId });
    const member = own(ctx, adminMemberships, eq(adminMemberships.adminUserId, adminUserId));
    const hasOtherRoles = await replaceRoles(ctx, tx, adminUserId, roleIds);
    if (hasOtherRoles && joined.length === 0) {
      await tx.update(adminMemberships).set({ updatedAt: at }).where(member);
    }
    concerns(tx, adminUserId);
    if (isNew && body.send_invite !== false) {
      await tx
        .insert(outbox)
        .values({ providerId, adminUserId, purpose: 'invitation', createdAt: at, dueAt: realTime });
    }
    const inside = { ...ctx, db: tx };
    const [user] = await adminUserShape.embed(inside, await fetchMembers(inside, member), {}, []);
    const saved = { user: user!, isNew };
    return hasOtherRoles || joined.length > 0 ? saved : unchanged(tx, saved);
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
    .select({ id: adminUsers.id })
    .from(adminUsers)
    .where(sql`${folded(adminUsers.email)} = ${folded(email)}`);
  return person;
}

/** Another provider may be making the same person, whose lock is not ours: the insert then waits and finds it made. */
async function makePerson(tx: Tx, at: string, { email, firstname, lastname }: AdminUserBody) {
  const [made] = await tx
    .insert(adminUsers)
    .values({ email, firstname: firstname!, lastname: lastname!, createdAt: at })
    .onConflictDoNothing()
    .returning({ id: adminUsers.id });
  return made
    ? { adminUserId: made.id, isNew: true }
    : { adminUserId: (await findPerson(tx, email))!.id, isNew: false };
}

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
