import { eq } from 'drizzle-orm';
import type { Ctx } from '../core/context.ts';
import { dateTimeOrNull } from '../lib/timestamps.ts';
import { notFound, Problem } from '../core/errors.ts';
import { isAddress } from '../lib/text.ts';
import { recordAffected, rollbackNoChange } from '../database/audit-log.ts';
import type { Database } from '../database/client.ts';
import { execute, type Queryable } from '../database/statements.ts';
import { realTime } from '../database/tables/columns.ts';
import { outbox } from '../database/tables/outbox.ts';
import { adminMemberships, adminUsers } from '../database/tables/people.ts';
import { courseUsers } from '../database/tables/users.ts';
import { tenantWhere } from '../lists/tenant-scope.ts';
import { listMails, providersOfFailedMails, retryFailedMails, retryMail, stateOfMail } from './query.ts';

/** What operators see of a mail: what it is for and how it goes, never its text. */
export type ListedMail = {
  mail_id: number;
  provider_id: number;
  purpose: string;
  email: string | null;
  state: 'waiting' | 'sent' | 'failed';
  attempts: number;
  created_at: string;
  due_at: string | null;
  sent_at: string | null;
  failed_at: string | null;
  last_error: string | null;
};

export type MailSelection = { providerId: number | null; onlyFailed: boolean; limit: number };

const getOutbox = ({ pool }: Database): Queryable => ({ $client: pool });

/** The newest mails first. */
export async function mails(database: Database, { providerId, onlyFailed, limit }: MailSelection) {
  const rows = await execute<ListedMail>(getOutbox(database), listMails, [providerId, onlyFailed, limit]);
  return rows.map((row) => ({
    ...row,
    created_at: dateTimeOrNull(row.created_at),
    due_at: dateTimeOrNull(row.due_at),
    sent_at: dateTimeOrNull(row.sent_at),
    failed_at: dateTimeOrNull(row.failed_at),
  }));
}

type MailState = { providerId: number; isSent: boolean; attempts: number };

/** Lets a mail that failed, or waits for its next try, be sent at once, with all its tries before it. */
export async function retry(database: Database, mailId: number) {
  const [mail] = await execute<MailState>(getOutbox(database), stateOfMail, [mailId]);
  if (!mail) throw notFound(`Mail ${mailId}`);
  await database.write([mail.providerId], async (tx) => {
    const [retried] = await execute(tx, retryMail, [mailId]);
    if (!retried) throw new Problem('invalid', `Mail ${mailId} ${await whyNot(tx, mailId)}`);
    recordAffected(tx, mailId);
  });
}

async function whyNot(on: Queryable, mailId: number) {
  const [mail] = await execute<MailState>(on, stateOfMail, [mailId]);
  if (!mail) throw notFound(`Mail ${mailId}`);
  if (mail.isSent) return 'is sent already';
  return mail.attempts > 0 ? 'is being sent just now' : 'waits for its first try already';
}

/** The same for all that have failed; how many they were, and why some could not be, the first time that happened. */
export async function retryFailed(database: Database) {
  let [retried, failure]: [number, unknown] = [0, undefined];
  const getRetry = (providerId: number) =>
    database.write([providerId], async (tx) => {
      const { length } = await execute(tx, retryFailedMails, [providerId]);
      return length > 0 ? length : rollbackNoChange(tx, 0);
    });
  const failed = await execute<{ providerId: number }>(getOutbox(database), providersOfFailedMails, []);
  // One that is busy hinders no others.
  for (const { providerId } of failed)
    retried += await getRetry(providerId).catch((error: unknown) => {
      failure ??= error;
      return 0;
    });
  return { retried, failure };
}

/** A course user or an admin user of the provider's. */
export type Invited = { userId: number } | { adminUserId: number };

/** Writes to somebody where to choose a password, as when they were new: a link that was not used in time is replaced so. */
export function invite(ctx: Ctx, person: Invited): Promise<{ mailId: number; email: string }> {
  const { providerId } = ctx;
  const who = 'userId' in person ? `Course user ${person.userId}` : `Admin user ${person.adminUserId}`;
  return ctx.write(async (tx, now) => {
    const inside = { ...ctx, db: tx };
    const [found] = await ('userId' in person
      ? courseUser(inside, person.userId)
      : adminUser(inside, person.adminUserId));
    if (!found) throw notFound(who);
    const email = found.email ?? '';
    if (!isAddress(email)) throw new Problem('invalid', `${who} has no e-mail address to write to`);
    const purpose = 'userId' in person ? 'account_created' : 'invitation';
    const values = { providerId, ...person, purpose, createdAt: now, dueAt: realTime } as const;
    const [mail] = await tx.insert(outbox).values(values).returning({ id: outbox.id });
    recordAffected(tx, 'userId' in person ? person.userId : person.adminUserId);
    return { mailId: mail!.id, email };
  });
}

const courseUser = (ctx: Ctx, id: number) =>
  ctx.db
    .select({ email: courseUsers.email })
    .from(courseUsers)
    .where(tenantWhere(ctx, courseUsers, eq(courseUsers.id, id)));

const adminUser = (ctx: Ctx, id: number) =>
  ctx.db
    .select({ email: adminUsers.email })
    .from(adminMemberships)
    .innerJoin(adminUsers, eq(adminUsers.id, adminMemberships.adminUserId))
    .where(tenantWhere(ctx, adminMemberships, eq(adminMemberships.adminUserId, id)));
