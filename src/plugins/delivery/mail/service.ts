import { formatTimestamp } from '../../../core/timestamps.ts';
import { Problem } from '../../../core/errors.ts';
import type { Database } from '../../../database/client.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { liftRefusals } from '../../../domains/messages/mails/sql.ts';
import { selectMails, resets, resetMail, findMailState } from './query.ts';

type MailSelection = {
  providerId: number | null;
  onlyFailed: boolean;
  limit: number;
  /** Reason for which mails that were never tried wait. */
  waitingFor?: string | undefined;
};

const toQueryable = ({ pool }: Database): Queryable => ({ $client: pool });

const moments = ['created_at', 'due_at', 'sent_at', 'written_at', 'failed_at'] as const;
/** The columns of `selectMails`. */
type ListedMail = Record<string, string | number | null> & Record<(typeof moments)[number], string | null>;

/** Mails as operators see them, without their texts; newest first. */
export async function listMails(database: Database, { providerId, onlyFailed, limit, waitingFor }: MailSelection) {
  const values = [providerId, onlyFailed, limit, waitingFor ?? null];
  const rows = await execute<ListedMail>(toQueryable(database), selectMails, values);
  for (const row of rows) for (const name of moments) row[name] = formatTimestamp(row[name]);
  return rows;
}

type MailState = { providerId: number; isSent: boolean; isWritten: boolean; attempts: number };

/**
 * Makes a failed or waiting mail due now, resets its attempts, and lifts the mark of its address. Throws `invalid` if it
 * is sent or in progress.
 */
export async function retryMail(database: Database, mailId: number) {
  const [mail] = await execute<MailState>(toQueryable(database), findMailState, [mailId]);
  if (!mail) throw Problem.notFound(`Mail ${mailId}`);
  await database.write([mail.providerId], ['people'], async (tx, now) => {
    const [updated] = await execute(tx, resetMail, [mail.providerId, mailId]);
    if (!updated) throw new Problem('invalid', `Mail ${mailId} ${await describeRefusal(tx, mailId)}`);
    await execute(tx, liftRefusals, [mail.providerId, [mailId], now]);
    tx.recordAffected(mailId);
  });
}

async function describeRefusal(on: Queryable, mailId: number) {
  const [mail] = await execute<MailState>(on, findMailState, [mailId]);
  if (!mail) throw Problem.notFound(`Mail ${mailId}`);
  if (mail.isWritten) return 'is written to a file already';
  if (mail.isSent) return 'is sent already';
  return mail.attempts > 0 ? 'is being sent just now' : 'waits for its first try already';
}

/**
 * Retries all mails that wait, or that have failed since a time: of equal ones the latest, to no refused address. Returns
 * their number, and the first error of a provider that could not be written.
 */
export async function retryMails(database: Database, which: keyof typeof resets, since = '-infinity') {
  const statements = resets[which];
  const more = which === 'failed' ? [since] : [];
  let [retried, failure]: [number, unknown] = [0, undefined];
  const retryOfProvider = (providerId: number) =>
    database.write([providerId], ['people'], async (tx) => {
      const reset = await execute(tx, statements.reset, [providerId, ...more]);
      return reset.length === 0 ? tx.rollbackNoChange(0) : reset.length;
    });
  const providers = await execute<{ providerId: number }>(toQueryable(database), statements.providers, []);
  // Continue after an error: one busy provider must not stop the others.
  for (const { providerId } of providers)
    retried += await retryOfProvider(providerId).catch((error: unknown) => {
      failure ??= error;
      return 0;
    });
  return { retried, failure };
}
