import { dateTimeOrNull } from '../core/moment.ts';
import { notFound, Problem } from '../core/problem.ts';
import type { Database } from '../database/client.ts';
import { run, type Runner } from '../database/statements.ts';
import { listMails, retryFailedMails, retryMail } from './query.ts';

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

const outboxOf = ({ pool }: Database): Runner => ({ $client: pool });

/** The newest mails first. */
export async function mails(database: Database, { providerId, onlyFailed, limit }: MailSelection) {
  const rows = await run<ListedMail>(outboxOf(database), listMails, [providerId, onlyFailed, limit]);
  return rows.map((row) => ({
    ...row,
    created_at: dateTimeOrNull(row.created_at),
    due_at: dateTimeOrNull(row.due_at),
    sent_at: dateTimeOrNull(row.sent_at),
    failed_at: dateTimeOrNull(row.failed_at),
  }));
}

/** Lets a mail that failed, or waits for its next try, be sent at once, with all its tries before it. */
export async function retry(database: Database, mailId: number) {
  const [retried] = await run<{ id: number }>(outboxOf(database), retryMail, [mailId]);
  if (retried) return;
  const { rows } = await database.pool.query('select sent_at is not null as sent from outbox where id = $1', [mailId]);
  const [mail] = rows as { sent: boolean }[];
  if (!mail) throw notFound(`Mail ${mailId}`);
  throw new Problem('invalid', `Mail ${mailId} ${mail.sent ? 'is sent already' : 'is being sent already'}`);
}

/** The same for all that have failed; how many they were. */
export const retryFailed = async (database: Database) => (await run(outboxOf(database), retryFailedMails, [])).length;
