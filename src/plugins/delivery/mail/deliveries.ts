import { TokenBucket } from 'limiter';
import { LRUCache } from 'lru-cache';
import type { Settings } from '../../../core/settings.ts';
import { isEmailAddress } from '../../../core/text.ts';
import type { Database } from '../../../database/client.ts';
import { mailPurposes, type MailPurpose } from '../../../database/tables/outbox.ts';
import { noAddress } from '../settings.ts';
import { startWorker, type Ending, type WorkerLog } from '../worker.ts';
import { accounts, prepareDisabledWebhook, prepareRefusedAddress } from './accounts.ts';
import { createEndings, findRefusal, refuseAddress, toAll, toErrorLine } from './endings.ts';
import { prepareConfirmation, preparePublishedDate } from './interests.ts';
import { mailName, toMessage } from './letter.tsx';
import type { ClaimedMail } from './mail-types.ts';
import { loadMail, type Prepare, type Sources, type StoredMail } from './mails.ts';
import { prepareNotice, waitForDigest } from './notices.ts';
import { places } from './places.ts';
import { claimMails } from './sql.ts';
import { toFailure, toRefused, type Transport } from './transport.ts';

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
    /** The time until the next mail may be sent. */
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

/** Claims, sends and marks mails in separate transactions, so that a crash sends one twice (at-least-once delivery). */
export function startMail(options: MailOptions) {
  const { database, transport, log } = options;
  const endings = createEndings(options);
  /** Number of the latest delivery, by tenant queue key. */
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
        const counts = keys.map((key) => inProgress.filter(({ tenantQueueKey }) => tenantQueueKey === key).length);
        const turns = [...lastDeliveries.values()];
        return claimMails(database.unlocked, { slots: requested, keys, counts, turns, purposes: mailPurposes });
      },
      deliver(mail) {
        rate.take();
        lastDeliveries.set(mail.tenantQueueKey, (deliveryCount += 1));
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
  options: MailOptions,
  endings: ReturnType<typeof createEndings>,
  claimed: ClaimedMail,
): Promise<Ending> {
  const { database, transport, from } = options;
  const stored = await loadMail(database.unlocked, claimed);
  if (!stored) return endings.dropped(claimed, 'it was deleted');
  const prepared = await prepareMail(options, stored, claimed);
  if ('outdated' in prepared) return endings.dropped(claimed, prepared.outdated);
  const { mail, write } = prepared;
  if (!isEmailAddress(mail.email)) return endings.failed(claimed, noAddress, 'other', true);
  const refusal = await findRefusal(database, mail);
  if (refusal !== undefined)
    return endings.failed(claimed, `The mail server has refused this address: ${refusal}`, 'recipient');
  const written = await write();
  if (written === 'waits') return endings.waiting(claimed, () => waitForDigest(database.unlocked, claimed));
  if ('outdated' in written) return endings.dropped(claimed, written.outdated);
  const message = toMessage(mail, written, from);
  return transport.send(message, mailName(mail)).then(
    (done) => endings.sent(claimed, done),
    (error: unknown) => {
      const problem = toErrorLine(error, [...transport.secrets, ...(written.token ? [written.token] : []), mail.email]);
      const failure = toFailure(error);
      const wasRefused = mail.failure === 'message';
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
}

/** The group of each purpose, and the letters in it. */
const groups: Record<MailPurpose, Prepare> = {
  invitation: accounts('invitation'),
  account_created: accounts('account_created'),
  receipt: places('receipt'),
  deregistration: places('deregistration'),
  offer: places('offer'),
  promotion: places('promotion'),
  swap: places('swap', { booker: 'swapped_out', former: 'swapped_out' }),
  move: places('move', { booker: 'move_of_booking' }),
  moved_away: (...mail) => (isToStaff(mail[1]) ? prepareNotice : places('moved_away'))(...mail),
  date_canceled: places('date_canceled'),
  date_changed: places('date_changed'),
  reminder: places('reminder', { booker: 'reminder_of_booking' }),
  booking_link: places('booking_link'),
  booking_receipt: places('booking_receipt'),
  notice_booked: prepareNotice,
  notice_canceled: prepareNotice,
  notice_full: prepareNotice,
  notice_under_minimum: prepareNotice,
  notice_budget: prepareNotice,
  webhook_disabled: prepareDisabledWebhook,
  address_refused: prepareRefusedAddress,
  interest_confirmation: prepareConfirmation,
  date_published: preparePublishedDate,
};
const isToStaff = ({ userId, bookingId }: StoredMail) => userId === null && bookingId === null;

export function prepareMail(sources: Sources, mail: StoredMail, claimed: ClaimedMail): ReturnType<Prepare> {
  const drop = async (outdated: string) => Promise.resolve({ outdated });
  if (mail.isDetached) return drop('its admin user is detached in the meantime');
  if (mail.isErased) return drop('its course user is erased in the meantime');
  if (mail.isPlaceholder) return drop('its participant has no name');
  return groups[mail.purpose](sources, mail, claimed);
}
