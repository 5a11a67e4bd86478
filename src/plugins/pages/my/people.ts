import { eq, sql } from 'drizzle-orm';
import { itemAt } from '../../../core/errors.ts';
import type { Ctx } from '../../../database/context.ts';
import { adminUsers } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { TokenOwner } from '../../../domains/school/auth/schema.ts';
import { courseUserColumns } from '../../../domains/people/users/loaders.ts';

const schoolColumns = {
  title: providers.title,
  email: sql<string>`coalesce(nullif(${providers.emailBooking}, ''), ${providers.email})`,
  phone: providers.phone,
  webAddress: providers.webAddress,
  uidHost: sql<string | null>`(select uid_host from service_state)`,
};
export type School = Awaited<ReturnType<typeof loadSchool>>;
export type Person = NonNullable<Awaited<ReturnType<typeof loadPerson>>>;

export const loadSchool = async (ctx: Ctx) =>
  itemAt(await ctx.db.select(schoolColumns).from(providers).where(eq(providers.id, ctx.providerId)));

export async function loadPerson(ctx: Ctx, userId: number) {
  const [person] = await ctx.db
    .select(courseUserColumns)
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)));
  return person;
}

/** Sign-on name of a link's owner: a course user's username, an admin user's e-mail address. */
export async function loadUsername(ctx: Ctx, { userId, adminUserId }: TokenOwner): Promise<string> {
  if (userId !== null) return (await loadPerson(ctx, userId))!.username;
  const admin = await ctx.db
    .select({ email: adminUsers.email })
    .from(adminUsers)
    .where(eq(adminUsers.id, adminUserId!));
  return itemAt(admin).email;
}
