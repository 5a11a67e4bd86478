import { eq } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { Ctx } from '../../../database/context.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { adminMemberships, adminUsers } from '../../../database/tables/people.ts';
import { courseUsers } from '../../../database/tables/users.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { matchMembers } from '../../school/admin-users/loaders.ts';

type Invitee = { userId: number } | { adminUserId: number };

/** Queues a mail with a new link that sets a password, for a course user or admin user. Throws if there is no address. */
export function invite(ctx: Ctx, person: Invitee): Promise<{ mailId: number; email: string }> {
  const { providerId } = ctx;
  const invitee = 'userId' in person ? `Course user ${person.userId}` : `Admin user ${person.adminUserId}`;
  return ctx.write(['people'], async ({ tx, now }) => {
    const txCtx = { ...ctx, db: tx };
    const [found] = await ('userId' in person
      ? selectCourseUserEmail(txCtx, person.userId)
      : selectAdminUserEmail(txCtx, person.adminUserId));
    if (!found) throw Problem.notFound(invitee);
    const email = found.email ?? '';
    if (!isEmailAddress(email)) throw new Problem('invalid', `${invitee} has no e-mail address to write to`);
    const purpose = 'userId' in person ? 'account_created' : 'invitation';
    const values = { providerId, ...person, purpose, createdAt: now, dueAt: currentTime } as const;
    const mails = await tx.insert(outbox).values(values).returning({ id: outbox.id });
    tx.auditItem('userId' in person ? person.userId : person.adminUserId);
    return { mailId: itemAt(mails).id, email };
  });
}

const selectCourseUserEmail = (ctx: Ctx, id: number) =>
  ctx.db
    .select({ email: courseUsers.email })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, id)));

const selectAdminUserEmail = (ctx: Ctx, id: number) =>
  ctx.db
    .select({ email: adminUsers.email })
    .from(adminMemberships)
    .innerJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .where(matchMembers(ctx, id));
