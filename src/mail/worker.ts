import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../core/context.ts';
import { isAddress } from '../lib/text.ts';
import type { Database } from '../database/client.ts';
import { getFailure } from '../database/errors.ts';
import { execute, type Queryable } from '../database/statements.ts';
import { linkTo } from '../resources/auth/token-schema.ts';
import { createToken } from '../resources/auth/token-service.ts';
import { compose, outdated, tidied, type FoundMail } from './compose.ts';
import { getName, toMessage } from './message.ts';
import { claimMails, clearMails, dropMail, findMail, markSent, markUnsent, putOff } from './query.ts';
import { isFinal, mailMs, type Message, type Transport } from './transport.ts';

export type MailOptions = {
  database: Pick<Database, 'pool'>;
  settings: Settings;
  transport: Transport;
  /** The address mails come from. */
  from: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
};

type Claimed = { id: number; attempts: number; lease: string; fairnessKey: number };
type Prepared = { message: Message; name: string; secrets: string[] };
/** What became of a try; one that never came to the sending, for want of the database, is put off. */
type Outcome = { sent: string } | { dropped: string } | { problem: string; next: 'retry' | 'fail' | 'put off' };

/** How many are on their way at once, so that one slow delivery does not hold up the others. */
const slots = 5;
const pollMs = 1_000;
const putOffSeconds = 5;
/** What a try that is under way gets to end; it covers the marking too, but for a database that stays away. */
const longestMs = mailMs + 5_000;
const clearEveryMs = 60 * 60_000;
const clearedAtOnce = 1_000;

/** The pauses between so many tries fill three days. */
const maxAttempts = 21;
/** How long to wait after so many tries, in minutes; null is to give up. */
export const minutesAfter = (attempts: number) =>
  attempts < maxAttempts ? Math.min(2 ** (attempts - 1), 6 * 60) : null;

/**
 * Sends what lies in the outbox, until it is stopped; any number of processes may. Nothing is sent inside a transaction:
 * a mail is claimed, sent, and then marked, so a crash between costs one more of the same.
 */
export function startMail(options: MailOptions) {
  const { log, transport } = options;
  const on: Queryable = { $client: options.database.pool };
  const stopping = new AbortController();
  /** Each delivery with the fairness key of its school. */
  const underWay = new Map<Promise<void>, number>();
  /** By fairness key; the least recently served of many are forgotten. */
  const lastTurns = new LRUCache<number, number>({ max: 1_000 });
  let turn = 0;
  const claim = claiming(on, log);
  const clear = clearing(on, log);
  log.info(`Mails go to ${transport.destination}`);

  const work = async () => {
    while (!stopping.signal.aborted) {
      await clear();
      const free = slots - underWay.size;
      const claimed = await claim(free, servedKeys(lastTurns, [...underWay.values()]));
      for (const one of claimed) {
        const delivery = deliver(options, on, one).finally(() => underWay.delete(delivery));
        underWay.set(delivery, one.fairnessKey);
        lastTurns.set(one.fairnessKey, (turn += 1));
      }
      if (claimed.length === free) await Promise.race(underWay.keys());
      else await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(underWay.keys());
  };
  const working = work();
  return {
    /** Done when those on their way have ended, and are marked. */
    async stop() {
      stopping.abort();
      await Promise.race([working, sleep(longestMs, undefined, { ref: false })]);
    },
  };
}

/** As `claimMails` takes them: the keys, how many of the mails being sent are theirs, and their last turns. */
const servedKeys = (lastTurns: LRUCache<number, number>, sending: number[]) => {
  const keys = [...lastTurns.keys()];
  return [keys, keys.map((key) => sending.filter((one) => one === key).length), [...lastTurns.values()]];
};

/** A database that is away is told of once, and not for a moment's absence. */
function claiming(on: Queryable, log: MailOptions['log']) {
  let failures = 0;
  return async (count: number, served: number[][]) => {
    try {
      const claimed = await execute<Claimed>(on, claimMails, [count, ...served]);
      if (failures >= 5) log.info('The outbox can be read again');
      failures = 0;
      return claimed;
    } catch (error) {
      failures += 1;
      if (failures === 5) log.warn(`The outbox cannot be read, so no mail leaves: ${inOneLine(error, [])}`);
      return [];
    }
  };
}

/** Clears old mails away, at the start and every hour. */
function clearing(on: Queryable, log: MailOptions['log']) {
  let due = 0;
  return async () => {
    if (performance.now() < due) return;
    due = performance.now() + clearEveryMs;
    try {
      while ((await execute(on, clearMails, [clearedAtOnce])).length === clearedAtOnce);
    } catch (error) {
      if (getFailure(error)?.kind !== 'unavailable')
        log.warn(`Old mails could not be cleared: ${inOneLine(error, [])}`);
    }
  };
}

async function deliver(options: MailOptions, on: Queryable, { id, attempts, lease }: Claimed) {
  const { log } = options;
  const outcome = await attempt(options, on, id);
  if ('sent' in outcome) {
    log.info(`Mail ${id} ${outcome.sent}`);
    return persistently(() => execute(on, markSent, [id]));
  }
  if ('dropped' in outcome) {
    log.info(`Mail ${id} is dropped: ${outcome.dropped}`);
    return persistently(() => execute(on, dropMail, [id, lease]));
  }
  const { problem, next } = outcome;
  if (next === 'put off') {
    log.warn(`Mail ${id} is put off for ${putOffSeconds} s: ${problem}`);
    return persistently(() => execute(on, putOff, [id, lease, problem, `${putOffSeconds} seconds`]));
  }
  const minutes = next === 'fail' ? null : minutesAfter(attempts);
  if (minutes === null) log.error(`Mail ${id} has failed: ${problem}`);
  else log.warn(`Mail ${id} could not be sent, the next try is in ${minutes} min: ${problem}`);
  return persistently(() => execute(on, markUnsent, [id, lease, problem, minutes && `${minutes} minutes`]));
}

/** One try; it never throws. */
async function attempt(options: MailOptions, on: Queryable, id: number): Promise<Outcome> {
  let prepared: Prepared | Outcome;
  try {
    prepared = await prepare(options, on, id);
  } catch (error) {
    const isMomentary = ['unavailable', 'retry'].includes(getFailure(error)?.kind ?? '');
    return { problem: inOneLine(error, []), next: isMomentary ? 'put off' : 'retry' };
  }
  if (!('message' in prepared)) return prepared;
  const { message, name, secrets } = prepared;
  try {
    return { sent: await options.transport.send(message, name) };
  } catch (error) {
    return { problem: inOneLine(error, secrets), next: isFinal(error) ? 'fail' : 'retry' };
  }
}

/** Everything before the sending: all that a try needs of the database. */
async function prepare(
  { settings, transport, from }: MailOptions,
  on: Queryable,
  id: number,
): Promise<Prepared | Outcome> {
  const [found] = await execute<FoundMail>(on, findMail, [id]);
  const mail = tidied(found!);
  const reason = outdated(mail);
  if (reason !== null) return { dropped: reason };
  if (!isAddress(mail.email)) return { problem: 'There is no e-mail address to send it to', next: 'fail' };
  const token = opensPassword(mail) ? await createToken(on, 'password', mail, mail.id) : null;
  const link = token === null ? null : linkTo(settings, 'password', token);
  return {
    message: toMessage(mail, compose(mail, settings, link), from),
    name: getName(mail),
    secrets: [...transport.secrets, ...(token === null ? [] : [token])],
  };
}

const opensPassword = ({ purpose }: FoundMail) => purpose === 'invitation' || purpose === 'account_created';

/** What went wrong, for logs and tables: servers quote what they were sent, so secrets are struck out. */
function inOneLine(error: unknown, secrets: string[]) {
  const said = error instanceof Error ? error.message : String(error);
  const struck = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), said);
  return struck.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 300);
}

/** A mail that has left must be marked, or it leaves again; so a database that is away for a while is waited for. */
async function persistently(work: () => Promise<unknown>) {
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    try {
      await work();
      return;
    } catch {
      await sleep(pollMs);
    }
  }
}
