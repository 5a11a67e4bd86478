import { eq } from 'drizzle-orm';
import type { Ctx } from '../core/context.ts';
import { adminUsers } from '../database/tables/people.ts';
import { providers } from '../database/tables/providers.ts';
import { courseUsers } from '../database/tables/users.ts';
import { tenantWhere } from '../lists/tenant-scope.ts';
import type { TokenOwner } from '../resources/auth/token-schema.ts';
import { courseUserColumns } from '../resources/users/serializer.ts';

const schoolColumns = {
  title: providers.title,
  email: providers.email,
  emailBooking: providers.emailBooking,
  phone: providers.phone,
  webAddress: providers.webAddress,
};
export type School = Awaited<ReturnType<typeof fetchSchool>>;
export type Person = NonNullable<Awaited<ReturnType<typeof fetchPerson>>>;

/** What a person's pages say of the school they belong to. */
export async function fetchSchool(ctx: Ctx) {
  const [school] = await ctx.db.select(schoolColumns).from(providers).where(eq(providers.id, ctx.providerId));
  return school!;
}

export async function fetchPerson(ctx: Ctx, userId: number) {
  const [person] = await ctx.db
    .select(courseUserColumns)
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)));
  return person;
}

/** What the owner of a link signs on with: a course user's username, an admin user's e-mail. */
export async function toUsername(ctx: Ctx, { userId, adminUserId }: TokenOwner): Promise<string> {
  if (userId !== null) return (await fetchPerson(ctx, userId))!.username;
  const [admin] = await ctx.db
    .select({ email: adminUsers.email })
    .from(adminUsers)
    .where(eq(adminUsers.id, adminUserId!));
  return admin!.email;
}
