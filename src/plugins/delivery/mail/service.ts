import { and, asc, desc, eq, getTableColumns, isNotNull, isNull, sql, type SQL } from 'drizzle-orm';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { Problem } from '../../../core/errors.ts';
import type { Database, Reader } from '../../../database/client.ts';
import { transactionStart } from '../../../database/tables/columns.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { isRefusedSql, joinedRecipient, recipientJoins } from '../../../domains/messages/mails/loaders.ts';
import { liftRefusals, references } from '../../../domains/messages/mails/sql.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

/** The address of a row of `outbox` by current data, or null. */
const recipientSql = `(select ${joinedRecipient} from outbox o ${recipientJoins}
  where o.provider_id = outbox.provider_id and o.id = outbox.id)`;
export const recipient = sql.raw(recipientSql) as SQL<string | null>;

const hasFailed = isNotNull(outbox.failedAt);

type MailSelection = {
  providerId: number | null;
  onlyFailed: boolean;
  limit: number;
  /** Reason for which mails that were never tried wait. */
  waitingFor?: string | undefined;
};

/** Mails as operators see them, without their texts; newest first. */
export async function listMails(
  { unlocked }: Pick<Database, 'unlocked'>,
  { providerId, onlyFailed, limit, waitingFor }: MailSelection,
) {
  const rows = await unlocked
    .select({ ...getTableColumns(outbox), email: recipient })
    .from(outbox)
    .where(and(providerId === null ? undefined : eq(outbox.providerId, providerId), onlyFailed ? hasFailed : undefined))
    .orderBy(desc(outbox.id))
    .limit(limit);
  return rows.map(({ id, providerId, purpose, email, attempts, ...mail }) => {
    const isWaiting = mail.sentAt === null && mail.failedAt === null;
    const done = mail.isWritten ? 'written' : 'sent';
    const ended = mail.failedAt === null ? 'waiting' : 'failed';
    const state = mail.sentAt === null ? ended : done;
    return {
      ...{ mail_id: id, provider_id: providerId, purpose, email, state, attempts },
      created_at: formatTimestamp(mail.createdAt),
      due_at: isWaiting ? formatTimestamp(mail.dueAt) : null,
      sent_at: mail.isWritten ? null : formatTimestamp(mail.sentAt),
      written_at: mail.isWritten ? formatTimestamp(mail.sentAt) : null,
      failed_at: formatTimestamp(mail.failedAt),
      last_error: mail.lastError ?? (isWaiting ? (waitingFor ?? null) : null),
    };
  });
}

/** Excludes mails in progress, which would be sent twice. */
const isRetried = and(isNull(outbox.sentAt), isNotNull(outbox.lastError));
const reset = { attempts: 0, failedAt: null, dueAt: transactionStart };

/** Makes a failed or waiting mail due, resets its attempts, and unmarks its address. Throws `invalid` for others. */
export async function retryMail(database: Database, mailId: number) {
  const { providerId } = await findMail(database.unlocked, mailId);
  await database.write([providerId], ['people'], async ({ tx, now }) => {
    const ofMail = tenantWhere({ providerId }, outbox, eq(outbox.id, mailId), isRetried);
    const { rowCount } = await tx.update(outbox).set(reset).where(ofMail);
    if (rowCount === 0) throw new Problem('invalid', `Mail ${mailId} ${describeRefusal(await findMail(tx, mailId))}`);
    await liftRefusals(tx, { providerId, mailId, now });
    tx.auditItem(mailId);
  });
}

async function findMail(db: Reader, mailId: number) {
  const [mail] = await db.select().from(outbox).where(eq(outbox.id, mailId));
  return Problem.assertFound(mail, `Mail ${mailId}`);
}

function describeRefusal({ isWritten, sentAt, attempts }: typeof outbox.$inferSelect) {
  if (isWritten) return 'is written to a file already';
  if (sentAt !== null) return 'is sent already';
  return attempts > 0 ? 'is being sent just now' : 'waits for its first try already';
}

const isWaiting = and(isRetried, isNull(outbox.failedAt));
/** The latest alone of equal mails, such as one that was sent again, and none to a refused address. */
const haveFailedSince = (providerId: number, since: string) =>
  sql`${outbox.id} in (
      select id from (
        select id, failed_at, row_number() over (partition by purpose, ${sql.raw(references)} order by id desc) as place
        from outbox where provider_id = ${providerId}) mails
      where place = 1 and failed_at >= ${since})
    and not ${sql.raw(isRefusedSql('outbox.provider_id', recipientSql))}`;

/** Retries mails that wait or have failed, the latest of equal ones; returns their number, and a provider's error. */
export async function retryMails(database: Database, which: 'failed' | 'waiting', since = '-infinity') {
  let [retried, failure]: [number, unknown] = [0, undefined];
  const retryOfProvider = (providerId: number) =>
    database.write([providerId], ['people'], async ({ tx }) => {
      const those = which === 'failed' ? haveFailedSince(providerId, since) : isWaiting;
      const { rowCount } = await tx
        .update(outbox)
        .set(reset)
        .where(tenantWhere({ providerId }, outbox, those));
      return rowCount === 0 ? tx.rollBack(0) : (rowCount ?? 0);
    });
  const providers = await database.unlocked
    .selectDistinct({ id: outbox.providerId })
    .from(outbox)
    .where(which === 'failed' ? hasFailed : isWaiting)
    .orderBy(asc(outbox.providerId));
  // Continue after an error: one busy provider must not stop the others.
  for (const { id } of providers)
    retried += await retryOfProvider(id).catch((error: unknown) => {
      failure ??= error;
      return 0;
    });
  return { retried, failure };
}
