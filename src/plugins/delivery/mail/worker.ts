import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../../../core/settings.ts';
import { isEmailAddress, toOneLine } from '../../../core/text.ts';
import type { Database } from '../../../database/client.ts';
import { classifyError } from '../../../core/database-errors.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { tokenUrl } from '../../../resources/auth/token-schema.ts';
import { createToken } from '../../../resources/auth/token-service.ts';
import { createClaim } from '../claim.ts';
import { getDeliveryCounters } from '../counters.ts';
import { compose, outdatedReason, sanitizeMail, type MailData } from './compose.ts';
import { mailName, toMessage } from './message.ts';
import {
  claimMails,
  deleteMail,
  findMail,
  markAttemptFailed,
  markMailFailed,
  markSent,
  postponeMail,
} from './query.ts';
import { isPermanentFailure, sendTimeoutMs, type Message, type Transport } from './transport.ts';

export type MailOptions = {
  database: Pick<Database, 'pool' | 'counters'>;
  settings: Settings;
  transport: Transport;
  /** Sender address. */
  from: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
};

type ClaimedMail = { providerId: number; id: number; attempts: number; lease: string; fairnessKey: number };
type PreparedMail = { message: Message; name: string; secrets: string[] };
/** Result of an attempt; `put off` if the database failed before the mail was sent. */
type Outcome = { done: string } | { dropped: string } | { problem: string; next: 'retry' | 'fail' | 'put off' };

/** Concurrent deliveries. */
const slots = 5;
const pollMs = 1_000;
const putOffSeconds = 5;
/** Time for attempts in progress to end at shutdown, with their update in the database. */
const stopTimeoutMs = sendTimeoutMs + 5_000;

/** Covers three days. */
const maxAttempts = 21;
/** Minutes until the next attempt (exponential, at most 6 h); null after the last one. */
export const retryDelayMinutes = (attempts: number) =>
  attempts < maxAttempts ? Math.min(2 ** (attempts - 1), 6 * 60) : null;

/**
 * Sends mails from the outbox until it is stopped; several processes may run it. A mail is claimed, sent and marked as
 * sent in separate transactions, so a crash in between sends it twice (at-least-once delivery).
 */
export function startMail(options: MailOptions) {
  const { log, transport } = options;
  const on: Queryable = { $client: options.database.pool };
  const stopping = new AbortController();
  /** Deliveries with their fairness keys. */
  const inProgress = new Map<Promise<void>, number>();
  /** Number of the latest delivery, by fairness key. */
  const lastDeliveries = new LRUCache<number, number>({ max: 1_000 });
  let deliveryCount = 0;
  const claim = createClaim(
    (count: number, fairnessColumns: number[][]) => execute<ClaimedMail>(on, claimMails, [count, ...fairnessColumns]),
    { log, failing: 'The outbox cannot be read, so no mail leaves', recovered: 'The outbox can be read again' },
  );
  log.info(`Mails go to ${transport.destination}`);

  const run = async () => {
    while (!stopping.signal.aborted) {
      const free = slots - inProgress.size;
      const claimed = await claim(free, toFairnessColumns(lastDeliveries, [...inProgress.values()]));
      for (const mail of claimed) {
        const delivery = deliver(options, on, mail).finally(() => inProgress.delete(delivery));
        inProgress.set(delivery, mail.fairnessKey);
        lastDeliveries.set(mail.fairnessKey, (deliveryCount += 1));
      }
      if (claimed.length === free) await Promise.race(inProgress.keys());
      else await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(inProgress.keys());
  };
  const loop = run();
  return {
    /** Resolves when deliveries in progress have ended and are marked. */
    async stop() {
      stopping.abort();
      await Promise.race([loop, sleep(stopTimeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Parameters 2 to 4 of `claimMails`. */
const toFairnessColumns = (lastDeliveries: LRUCache<number, number>, inProgressKeys: number[]) => {
  const keys = [...lastDeliveries.keys()];
  const counts = keys.map((key) => inProgressKeys.filter((inProgressKey) => inProgressKey === key).length);
  return [keys, counts, [...lastDeliveries.values()]];
};

async function deliver(options: MailOptions, on: Queryable, { providerId, id, attempts, lease }: ClaimedMail) {
  const { log, database } = options;
  const { mails } = getDeliveryCounters(database);
  const outcome = await attempt(options, on, providerId, id);
  if ('done' in outcome) {
    const { result } = options.transport;
    mails[result] += 1;
    log.info(`Mail ${id} ${outcome.done}`);
    return withRetry(() => execute(on, markSent, [providerId, id, result === 'written']));
  }
  if ('dropped' in outcome) {
    mails.dropped += 1;
    log.info(`Mail ${id} is dropped: ${outcome.dropped}`);
    return withRetry(() => execute(on, deleteMail, [providerId, id, lease]));
  }
  const { problem, next } = outcome;
  if (next === 'put off') {
    mails.postponed += 1;
    log.warn(`Mail ${id} is put off for ${putOffSeconds} s: ${problem}`);
    return withRetry(() => execute(on, postponeMail, [providerId, id, lease, problem, `${putOffSeconds} seconds`]));
  }
  const minutes = next === 'fail' ? null : retryDelayMinutes(attempts);
  mails[minutes === null ? 'failed' : 'retried'] += 1;
  if (minutes === null) {
    log.error(`Mail ${id} has failed: ${problem}`);
    return withRetry(() => execute(on, markMailFailed, [providerId, id, lease, problem]));
  }
  log.warn(`Mail ${id} could not be sent, the next try is in ${minutes} min: ${problem}`);
  return withRetry(() => execute(on, markAttemptFailed, [providerId, id, lease, problem, `${minutes} minutes`]));
}

/** Never throws. */
async function attempt(options: MailOptions, on: Queryable, providerId: number, id: number): Promise<Outcome> {
  let prepared: PreparedMail | Outcome;
  try {
    prepared = await prepare(options, on, providerId, id);
  } catch (error) {
    const isMomentary = ['unavailable', 'retry'].includes(classifyError(error)?.kind ?? '');
    return { problem: toErrorLine(error, []), next: isMomentary ? 'put off' : 'retry' };
  }
  if (!('message' in prepared)) return prepared;
  const { message, name, secrets } = prepared;
  try {
    return { done: await options.transport.send(message, name) };
  } catch (error) {
    return { problem: toErrorLine(error, secrets), next: isPermanentFailure(error) ? 'fail' : 'retry' };
  }
}

/** Loads the mail, creates its token and composes the message. */
async function prepare(
  { settings, transport, from }: MailOptions,
  on: Queryable,
  providerId: number,
  id: number,
): Promise<PreparedMail | Outcome> {
  const [found] = await execute<MailData>(on, findMail, [providerId, id]);
  const mail = sanitizeMail(found!);
  const reason = outdatedReason(mail);
  if (reason !== null) return { dropped: reason };
  if (!isEmailAddress(mail.email)) return { problem: 'There is no e-mail address to send it to', next: 'fail' };
  const token = hasPasswordLink(mail) ? await createToken(on, 'password', mail, mail.id) : null;
  const link = token === null ? null : tokenUrl(settings, 'password', token);
  return {
    message: toMessage(mail, compose(mail, settings, link), from),
    name: mailName(mail),
    secrets: [...transport.secrets, ...(token === null ? [] : [token])],
  };
}

const hasPasswordLink = ({ purpose }: MailData) => purpose === 'invitation' || purpose === 'account_created';

/** Error text for logs and tables. Redacts secrets, which mail servers quote in responses. */
function toErrorLine(error: unknown, secrets: string[]) {
  const message = error instanceof Error ? error.message : String(error);
  return toOneLine(secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message));
}

/** Retries for a minute: a sent mail that is not marked would be sent again. */
async function withRetry(work: () => Promise<unknown>) {
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    try {
      await work();
      return;
    } catch {
      await sleep(pollMs);
    }
  }
}
