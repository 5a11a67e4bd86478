import { toOneLine } from '../../../core/text.ts';
import type { Database } from '../../../database/client.ts';
import { execute, type Queryable, type Statement } from '../../../database/statements.ts';
import type { MailFailure } from '../../../database/tables/outbox.ts';
import { getDeliveryCounters } from '../counters.ts';
import { pauseAfter, type Ending } from '../worker.ts';
import { deleteMails, markFailed, markSent, postponeMails } from './query.ts';
import type { Transport } from './transport.ts';

export type Attempted = { id: number; attempts: number };

export type ClaimedMail = Attempted & {
  providerId: number;
  lease: string;
  fairnessKey: number;
  /** Notices of the same lease that this mail lists. */
  digest?: Attempted[];
};

const putOffSeconds = 5;
const retryMinutes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 360];
/** Covers three days. */
const maxAttempts = 21;
/** Of a refused message: three attempts in a day. */
const refusedMessage = { minutes: 360, maxAttempts: 3 };
/** Minutes until the next attempt; null after the last one. */
export function retryDelayMinutes(attempts: number, failure: MailFailure = null) {
  if (failure === 'recipient') return null;
  if (failure === 'message') return attempts < refusedMessage.maxAttempts ? refusedMessage.minutes : null;
  return attempts < maxAttempts ? pauseAfter(retryMinutes, attempts) : null;
}
/** A mail that fails so soon after another one was sent is not delayed by an outage of the mail server. */
const outageMs = 60_000;

/** With the other notices of a digest. */
export const toAll = (mail: ClaimedMail): Attempted[] => [mail, ...(mail.digest ?? [])];

const toTitle = (mail: ClaimedMail) => {
  const { length } = toAll(mail);
  return length === 1 ? `Mail ${mail.id}` : `Mail ${mail.id}, a digest of ${length} notices,`;
};

export type Endings = ReturnType<typeof createEndings>;

/** The endings of an attempt, which are counted. All notices of a digest end as it does. */
export function createEndings(
  { database, transport: { result } }: { database: Pick<Database, 'counters'>; transport: Pick<Transport, 'result'> },
  on: Queryable,
) {
  const { mails } = getDeliveryCounters(database);
  let lastSentAt = -Infinity;
  const mark = (statement: Statement, mail: ClaimedMail, ...values: unknown[]) =>
    execute(on, statement, [mail.providerId, toAll(mail).map(({ id }) => id), mail.lease, ...values]);
  const postpone = (mail: ClaimedMail, reason: string) => mark(postponeMails, mail, reason, `${putOffSeconds} seconds`);
  return {
    sent(mail: ClaimedMail, done: string): Ending {
      mails[result] += 1;
      lastSentAt = performance.now();
      const values = [mail.providerId, toAll(mail).map(({ id }) => id), result === 'written'];
      return { level: 'info', text: `${toTitle(mail)} ${done}`, mark: () => execute(on, markSent, values) };
    },
    dropped(mail: ClaimedMail, reason: string): Ending {
      mails.dropped += 1;
      return { level: 'info', text: `Mail ${mail.id} is dropped: ${reason}`, mark: () => mark(deleteMails, mail) };
    },
    /** Another delivery makes a digest. */
    waiting(mail: ClaimedMail, wait: Ending['mark']): Ending {
      return { level: 'info', text: `Mail ${mail.id} waits for a digest of notices`, mark: wait };
    },
    /** The database failed before the mail was sent. */
    putOff(mail: ClaimedMail, problem: string): Ending {
      mails.postponed += 1;
      const text = `${toTitle(mail)} is put off for ${putOffSeconds} s: ${problem}`;
      return { level: 'warn', text, mark: () => postpone(mail, problem) };
    },
    failed(mail: ClaimedMail, problem: string, failure: MailFailure = 'other', isPermanent = false): Ending {
      const attempts = toAll(mail).map((one) => one.attempts);
      const pauses = attempts.map((count) => (isPermanent ? null : retryDelayMinutes(count, failure)));
      const [minutes] = pauses;
      const hasFailed = minutes === null;
      const result = failure === 'recipient' ? 'refused' : 'failed';
      mails[hasFailed ? result : 'retried'] += 1;
      const stored = failure ?? (performance.now() - lastSentAt < outageMs ? 'other' : null);
      const what = hasFailed ? 'has failed' : `could not be sent, the next try is in ${minutes} min`;
      return {
        level: hasFailed ? 'error' : 'warn',
        text: `${toTitle(mail)} ${what}: ${problem}`,
        mark: () => mark(markFailed, mail, problem, stored, attempts, pauses),
      };
    },
  };
}

/** Error text for logs and tables. Redacts secrets and the recipient, which mail servers quote in responses. */
export function toErrorLine(error: unknown, secrets: string[]) {
  const message = error instanceof Error ? error.message : String(error);
  return toOneLine(secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message));
}
