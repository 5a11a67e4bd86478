import { eq, isNull, sql } from 'drizzle-orm';
import { toOneLine } from '../../../core/text.ts';
import type { Database } from '../../../database/client.ts';
import { hasAnyId } from '../../../database/tables/columns.ts';
import { outbox, refusedAddresses, type MailFailure } from '../../../database/tables/outbox.ts';
import { marksRefusal } from '../../../domains/messages/mails/loaders.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { getDeliveryCounters, pauseAfter, type Ending } from '../worker.ts';
import type { Attempted, ClaimedMail } from './mail-types.ts';
import type { Mail } from './mails.ts';
import { deleteMails, markFailed, markSent, storeRefusal } from './sql.ts';
import type { Transport } from './transport.ts';

const postponeSeconds = 5;
const retryMinutes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360];
/** Covers three days. */
const maxAttempts = 21;
/** A refused message has three attempts in a day. */
const refusedMessage = { minutes: 360, maxAttempts: 3 };
/** Minutes until the next attempt; null after the last one. */
export function retryDelayMinutes(attempts: number, failure: MailFailure = null) {
  if (failure === 'recipient') return null;
  if (failure === 'message') return attempts < refusedMessage.maxAttempts ? refusedMessage.minutes : null;
  return attempts < maxAttempts ? pauseAfter(retryMinutes, attempts) : null;
}
/** A mail that fails so soon after another one was sent is not delayed by an outage of the mail server. */
const outageMs = 60_000;

/** The mail and the other notices of its digest. */
export const toAll = (mail: ClaimedMail): Attempted[] => [mail, ...(mail.digest ?? [])];

const toIds = (mail: ClaimedMail) => toAll(mail).map(({ id }) => id);

const toTitle = (mail: ClaimedMail) => {
  const { length } = toAll(mail);
  return length === 1 ? `Mail ${mail.id}` : `Mail ${mail.id}, a digest of ${length} notices,`;
};

type Options = { database: Pick<Database, 'counters' | 'unlocked'>; transport: Pick<Transport, 'result'> };

/** The endings of an attempt, which are counted. All notices of a digest end as it does. */
export function createEndings({ database, transport: { result } }: Options) {
  const { unlocked } = database;
  const { mails } = getDeliveryCounters(database);
  let lastSentAt = -Infinity;
  return {
    sent(mail: ClaimedMail, done: string): Ending {
      mails[result] += 1;
      lastSentAt = performance.now();
      const sent = { providerId: mail.providerId, ids: toIds(mail), isWritten: result === 'written' };
      return { level: 'info', text: `${toTitle(mail)} ${done}`, mark: () => markSent(unlocked, sent) };
    },
    dropped(mail: ClaimedMail, reason: string): Ending {
      mails.dropped += 1;
      const mark = () => deleteMails(unlocked, { ...mail, ids: toIds(mail) });
      return { level: 'info', text: `Mail ${mail.id} is dropped: ${reason}`, mark };
    },
    /** Another delivery makes a digest. */
    waiting(mail: ClaimedMail, wait: Ending['mark']): Ending {
      return { level: 'info', text: `Mail ${mail.id} waits for a digest of notices`, mark: wait };
    },
    /** The database failed before the mail was sent. */
    putOff(mail: ClaimedMail, problem: string): Ending {
      mails.postponed += 1;
      const text = `${toTitle(mail)} is put off for ${postponeSeconds} s: ${problem}`;
      const dueAt = sql`now() + ${postponeSeconds} * interval '1 second'`;
      const areAttempted = [hasAnyId(outbox.id, toIds(mail)), eq(outbox.dueAt, mail.lease), isNull(outbox.sentAt)];
      const mark = () =>
        unlocked
          .update(outbox)
          .set({ attempts: sql`${outbox.attempts} - 1`, lastError: problem, dueAt })
          .where(tenantWhere(mail, outbox, ...areAttempted));
      return { level: 'warn', text, mark };
    },
    failed(mail: ClaimedMail, problem: string, failure: MailFailure = 'other', isPermanent = false): Ending {
      const failed = toAll(mail).map(({ id, attempts }) => ({
        ...{ id, attempts, minutes: isPermanent ? null : retryDelayMinutes(attempts, failure) },
      }));
      const minutes = failed[0]?.minutes ?? null;
      const hasFailed = minutes === null;
      const result = failure === 'recipient' ? 'refused' : 'failed';
      mails[hasFailed ? result : 'retried'] += 1;
      const stored = failure ?? (performance.now() - lastSentAt < outageMs ? 'other' : null);
      const what = hasFailed ? 'has failed' : `could not be sent, the next try is in ${minutes} min`;
      return {
        level: hasFailed ? 'error' : 'warn',
        text: `${toTitle(mail)} ${what}: ${problem}`,
        mark: () => markFailed(unlocked, { ...mail, problem, failure: stored, failed }),
      };
    },
  };
}

/** Error text for logs and tables. Redacts secrets and the recipient, which mail servers quote in responses. */
export function toErrorLine(error: unknown, secrets: string[]) {
  const message = error instanceof Error ? error.message : String(error);
  return toOneLine(secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message));
}

/** Answer of the mail server that has refused the recipient; undefined unless one has. */
export async function findRefusal({ unlocked }: Pick<Database, 'unlocked'>, mail: Mail) {
  const [found] = await unlocked
    .select({ reason: refusedAddresses.reason })
    .from(refusedAddresses)
    .where(tenantWhere(mail, refusedAddresses, marksRefusal(mail.email)));
  return found?.reason;
}

export function refuseAddress(
  database: Pick<Database, 'withAudit'>,
  { id: mailId, providerId, email }: Mail,
  reason: string,
  subject: string,
) {
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'mail delivery' });
  return audited.write([providerId], ['people'], async ({ tx, now }) => {
    const stored = await storeRefusal(tx, { providerId, email, reason, now, subject, mailId });
    if (stored.length === 0) tx.rollBack();
  });
}
