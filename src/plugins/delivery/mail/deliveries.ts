import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Settings } from '../../../core/settings.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { Database } from '../../../database/client.ts';
import { execute } from '../../../database/statements.ts';
import { mailPurposes } from '../../../database/tables/outbox.ts';
import { createInterestLink } from '../../../domains/courses/interests/service.ts';
import { linkUrl } from '../../../domains/messages/links/schema.ts';
import { createLink } from '../../../domains/messages/links/service.ts';
import { tokenUrl } from '../../../domains/school/auth/schema.ts';
import { createMailToken } from '../../../domains/school/auth/token-service.ts';
import { noAddress } from '../settings.ts';
import { startWorker, type Ending, type WorkerLog } from '../worker.ts';
import { compose, loadExtras } from './compose.ts';
import { createEndings, toAll, toErrorLine, type ClaimedMail, type Endings } from './endings.ts';
import { findMail } from './find-mail.ts';
import { toMailData, type MailData, type MailRow } from './mail-data.ts';
import { composeCalendar, mailName, toMessage } from './message.ts';
import { prepareNotice, waitForDigest } from './notices/deliver.ts';
import { outdatedReason } from './outdated.ts';
import { findRefusal, refuseAddress } from './refusals.ts';
import { claimMails } from './sql.ts';
import { toFailure, toRefused, type Message, type Transport } from './transport.ts';

/** Mails per minute, spread evenly; 0 is no limit. */
export function createRate(perMinute: number) {
  if (perMinute === 0) return { free: () => Infinity, take: () => undefined, waitMs: () => 0 };
  // Mails of a tenth of a second may leave at once, so that a late timer does not slow the others.
  const burst = 1 + Math.floor(perMinute / 600);
  const tokensPerInterval = perMinute - burst + 1;
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval, interval: 'minute' });
  bucket.content = 1;
  return {
    /** How many mails may be sent now. */
    free() {
      bucket.drip();
      return Math.floor(bucket.content);
    },
    take: () => void bucket.tryRemoveTokens(1),
    /** Until the next mail may be sent. */
    waitMs: () => bucket.getWaitTime(1),
  };
}

type MailOptions = {
  database: Pick<Database, 'unlocked' | 'counters' | 'withAudit'>;
  settings: Settings;
  transport: Transport;
  /** Sender address. */
  from: string;
  /** Mails per minute; 0 is no limit. */
  rate: number;
  log: WorkerLog;
};

/** Mails that are sent at once. */
export const slots = 5;
const pollMs = 1_000;
/** Mails in progress are cut off so long after a stop, and sent again. The process has ended within 10 s. */
const cutOffMs = 5_000;
export const stopMs = 8_000;

/**
 * Sends mails from the outbox until it is stopped. A mail is claimed, sent and marked as sent in separate transactions,
 * so a crash in between sends it twice (at-least-once delivery).
 */
export function startMail(options: MailOptions) {
  const { database, transport, log } = options;
  const endings = createEndings(options);
  /** Number of the latest delivery, by fairness key. */
  const lastDeliveries = new LRUCache<number, number>({ max: 1_000 });
  let deliveryCount = 0;
  const rate = createRate(options.rate);
  let requested = 0;
  log.info(`Mails go to ${transport.destination}`);
  const worker = startWorker(
    {
      claim(inProgress: ClaimedMail[]) {
        requested = Math.min(slots - inProgress.length, rate.free());
        if (requested === 0) return undefined;
        const keys = [...lastDeliveries.keys()];
        const counts = keys.map((key) => inProgress.filter(({ fairnessKey }) => fairnessKey === key).length);
        const turns = [...lastDeliveries.values()];
        return claimMails(database.unlocked, { slots: requested, keys, counts, turns, purposes: mailPurposes });
      },
      deliver(mail) {
        rate.take();
        lastDeliveries.set(mail.fairnessKey, (deliveryCount += 1));
        return deliver(options, endings, mail);
      },
      toErrorEnding: (mail, problem, isMomentary) =>
        isMomentary ? endings.putOff(mail, problem) : endings.failed(mail, problem),
      // For a minute: a sent mail that is not marked would be sent again.
      markTries: 60,
      slots,
      pollMs,
      pauseMs: (claimed) => (claimed < requested ? pollMs : Math.min(pollMs, rate.waitMs())),
      stopMs,
      texts: {
        failing: 'The outbox cannot be read, so no mail leaves',
        recovered: 'The outbox can be read again',
      },
    },
    log,
  );
  return {
    async stop() {
      const timer = setTimeout(() => transport.close?.({ force: true }), cutOffMs);
      await worker.stop();
      clearTimeout(timer);
      transport.close?.();
    },
  };
}

/** Loads the mail, creates its token, composes the message and sends it. */
async function deliver(
  { database, settings, transport, from }: MailOptions,
  endings: Endings,
  claimed: ClaimedMail,
): Promise<Ending> {
  const on = database.unlocked;
  const [found] = await execute<MailRow>(on, findMail, [claimed.providerId, claimed.id]);
  if (!found) return endings.dropped(claimed, 'it was deleted');
  const mail = toMailData(found, settings);
  const reason = outdatedReason(mail);
  if (reason !== null) return endings.dropped(claimed, reason);
  if (!isEmailAddress(mail.email)) return endings.failed(claimed, noAddress, 'other', true);
  const refusal = await findRefusal(database, mail);
  if (refusal !== undefined)
    return endings.failed(claimed, `The mail server has refused this address: ${refusal}`, 'recipient');
  const send = (message: Message, token: string[] = []) =>
    transport.send(message, mailName(mail)).then(
      (done) => endings.sent(claimed, done),
      (error: unknown) => {
        const problem = toErrorLine(error, [...transport.secrets, ...token, mail.email]);
        const failure = toFailure(error);
        const wasRefused = mail.lastFailure === 'message';
        // Its attempts count from the first time that the message was refused, which `failure` keeps; an outage is none.
        for (const one of toAll(claimed)) {
          if (failure === 'message' && !wasRefused) one.attempts = 1;
          if (failure === null && wasRefused) one.attempts -= 1;
        }
        const ending = endings.failed(claimed, problem, failure ?? (wasRefused ? 'message' : null));
        if (toRefused(error) !== 'address') return ending;
        return {
          ...ending,
          mark: () => refuseAddress(database, mail, problem, message.subject).then(ending.mark),
        };
      },
    );
  if (mail.isNotice) {
    const prepared = await prepareNotice(on, claimed, mail, settings.timezone);
    if (prepared === 'waits') return endings.waiting(claimed, () => waitForDigest(on, claimed));
    if ('outdated' in prepared) return endings.dropped(claimed, prepared.outdated);
    return send(toMessage(mail, prepared.letter, null, from, prepared.name));
  }
  const link = await createMailLink(on, settings, mail);
  if (link === undefined) return endings.dropped(claimed, endOfLink(mail));
  const extras = await loadExtras(database, settings, mail);
  const letter = compose(mail, settings, link === null ? extras : { ...extras, link: link.href });
  const message = toMessage(mail, letter, composeCalendar(mail, settings, from), from);
  return send(message, link ? [link.token] : []);
}

function endOfLink({ interestId, bookingId }: MailData) {
  if (interestId !== null) return 'its interest has ended';
  return bookingId === null ? 'its link has ended in the meantime' : 'its course is over';
}

/** Receipts leave the link of the page on which the booking was made, and reminders all others. */
const replacedLinks: { [purpose in MailData['purpose']]?: 'mailed' | 'none' } = {
  booking_receipt: 'mailed',
  reminder: 'none',
};

/** A new link beside those of earlier attempts; null without one, undefined for a mail that is of no use any more. */
async function createMailLink(on: Database['unlocked'], settings: Settings, mail: MailData) {
  const { id, purpose, providerId, bookingId, interestId, isToBooker } = mail;
  if (purpose === 'invitation' || purpose === 'account_created') {
    const token = await createMailToken(on, 'password', mail, id);
    return token === undefined ? undefined : { token, href: tokenUrl(settings, 'password', token) };
  }
  if (purpose === 'interest_confirmation') {
    const token = await createInterestLink(on, { providerId, interestId: interestId!, mailId: id });
    return token === undefined ? undefined : { token, href: linkUrl(settings, 'interest', token) };
  }
  const isOfPayer =
    purpose === 'booking_link' || purpose === 'booking_receipt' || (purpose === 'reminder' && isToBooker);
  if (purpose !== 'offer' && !isOfPayer) return null;
  const kind = purpose === 'offer' ? 'offer' : 'booking';
  const subject = { providerId, bookingId: bookingId!, participantId: purpose === 'offer' ? mail.participantId : null };
  const token = await createLink(on, subject, { mailId: id, replaces: replacedLinks[purpose] ?? 'all' });
  if (token === undefined) return purpose === 'booking_receipt' ? null : undefined;
  return { token, href: linkUrl(settings, kind, token) };
}
