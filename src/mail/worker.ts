import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../core/context.ts';
import { isAddress } from '../core/text.ts';
import type { Database } from '../database/client.ts';
import { run, type Runner } from '../database/statements.ts';
import { linkTo } from '../resources/tokens/schema.ts';
import { makeToken } from '../resources/tokens/service.ts';
import { compose, tidied, type FoundMail } from './compose.ts';
import { nameOf, toMessage } from './message.ts';
import { claimMails, findMail, markSent, markUnsent } from './query.ts';
import { isFinal, type Transport } from './transport.ts';

export type MailOptions = {
  database: Pick<Database, 'pool'>;
  settings: Settings;
  transport: Transport;
  /** The address mails come from. */
  from: string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
};

type Claimed = { id: number; attempts: number };
type Outcome = { sent: string } | { problem: string; isFinal: boolean };

/** How many are on their way at once, so that one slow delivery does not hold up the others. */
const slots = 5;
const pollMs = 1_000;

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
  const on: Runner = { $client: options.database.pool };
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const claim = claiming(on, log);
  log.info(`Mails go to ${transport.destination}`);

  const work = async () => {
    while (!stopping.signal.aborted) {
      const free = slots - underWay.size;
      const claimed = await claim(free);
      for (const one of claimed) {
        const delivery = deliver(options, on, one).finally(() => underWay.delete(delivery));
        underWay.add(delivery);
      }
      if (claimed.length === free) await Promise.race(underWay);
      else await sleep(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(underWay);
  };
  const working = work();
  return {
    /** Done when those on their way have ended. */
    stop() {
      stopping.abort();
      return working;
    },
  };
}

/** A database that is away is told of once, and not for a moment's absence. */
function claiming(on: Runner, log: MailOptions['log']) {
  let failures = 0;
  return async (count: number) => {
    try {
      const claimed = await run<Claimed>(on, claimMails, [count]);
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

async function deliver(options: MailOptions, on: Runner, claimed: Claimed) {
  const { id, attempts } = claimed;
  const { log } = options;
  const outcome = await attempt(options, on, id);
  if ('sent' in outcome) {
    log.info(`Mail ${id} ${outcome.sent}`);
    return persistently(() => run(on, markSent, [id]));
  }
  const { problem, isFinal } = outcome;
  const minutes = isFinal ? null : minutesAfter(attempts);
  if (minutes === null) log.error(`Mail ${id} has failed: ${problem}`);
  else log.warn(`Mail ${id} could not be sent, the next try is in ${minutes} min: ${problem}`);
  return persistently(() => run(on, markUnsent, [id, attempts, problem, minutes && `${minutes} minutes`]));
}

/** One try; it never throws. */
async function attempt({ settings, transport, from }: MailOptions, on: Runner, id: number): Promise<Outcome> {
  const secrets = [...transport.secrets];
  try {
    const [found] = await run<FoundMail>(on, findMail, [id]);
    const mail = tidied(found!);
    if (!isAddress(mail.email)) return { problem: 'There is no e-mail address to send it to', isFinal: true };
    const token = opensPassword(mail) ? await makeToken(on, 'password', mail, mail.id) : null;
    if (token !== null) secrets.push(token);
    const link = token === null ? null : linkTo(settings, 'password', token);
    return { sent: await transport.send(toMessage(mail, compose(mail, settings, link), from), nameOf(mail)) };
  } catch (error) {
    return { problem: inOneLine(error, secrets), isFinal: isFinal(error) };
  }
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
