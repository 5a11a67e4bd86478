import { eq } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { adminUsers } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { TokenOwner } from './schema.ts';

type Owner = Pick<TokenOwner, 'userId' | 'adminUserId'>;

/** The names that a password may not be made of: those of the school and of the person. */
export async function loadPasswordNames(ctx: Ctx, { userId, adminUserId }: Owner) {
  const [school] = await ctx.db
    .select({ title: providers.title })
    .from(providers)
    .where(eq(providers.id, ctx.providerId));
  const [person] =
    userId !== null
      ? await ctx.db
          .select({
            username: courseUsers.username,
            ...{ firstname: courseUsers.firstname, lastname: courseUsers.lastname, email: courseUsers.email },
          })
          .from(courseUsers)
          .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, userId)))
      : await ctx.db
          .select({ firstname: adminUsers.firstname, lastname: adminUsers.lastname, email: adminUsers.email })
          .from(adminUsers)
          .where(eq(adminUsers.id, adminUserId!));
  return [...Object.values(school ?? {}), ...Object.values(person ?? {})];
}
