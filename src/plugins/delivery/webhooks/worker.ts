import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../../../core/settings.ts';
import type { Database } from '../../../database/client.ts';
import { classifyError } from '../../../core/database-errors.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { toOneLine } from '../../../core/text.ts';
import { createContext } from '../../../resources/schools/provider-service.ts';
import { claimWebhooks, leaseSeconds, renewLeases } from '../../../resources/webhooks/sql.ts';
import { createClaim } from '../claim.ts';
import { getDeliveryCounters } from '../counters.ts';
import { deliver, release, type ClaimedWebhook } from './deliver.ts';
import { createItemCache } from './items.ts';
import { defaultSchedule, type Schedule } from './schedule.ts';

export type WebhookOptions = {
  database: Database;
  settings: Settings;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  schedule?: Schedule;
};

/** Webhooks that a process delivers to at once. */
const slots = 32;
/** Those of them that may be failing, so that endpoints that hang leave places to others. */
const failingSlots = slots / 2;
/** Further ones, of endpoints that were slow at least three times. */
const slowSlots = 8;
const pauseSeconds = { databaseUnavailable: 5, otherError: 60 };

/**
 * Delivers the events of the change feed to the schools' webhooks until it is stopped; several processes may run it. A
 * webhook is leased, its messages are sent and marked one by one, so a crash repeats at most the one in flight.
 */
export function startWebhooks({ database, settings, log, schedule = defaultSchedule }: WebhookOptions) {
  const on: Queryable = { $client: database.pool };
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'webhook delivery' });
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  /** By the token of the lease. */
  const inProgress = new Map<string, ClaimedWebhook & { work: Promise<void> }>();
  const cache = createItemCache();
  const claim = createWebhookClaim(on, log);

  const work = async (webhook: ClaimedWebhook) => {
    try {
      const ctx = await createContext(audited, settings, webhook.providerId);
      await deliver(
        { ctx, on, log, schedule, isStopping, cache, counters: getDeliveryCounters(database).webhooks },
        webhook,
      );
    } catch (error) {
      const isMomentary = ['unavailable', 'retry'].includes(classifyError(error)?.kind ?? '');
      const pause = isMomentary ? pauseSeconds.databaseUnavailable : pauseSeconds.otherError;
      log[isMomentary ? 'warn' : 'error'](`Webhook ${webhook.id} could not be delivered to: ${toOneLine(error)}`);
      await release(on, webhook, pause).catch(() => undefined);
    }
  };
  const renew = () => {
    if (inProgress.size === 0) return;
    // Without it the lease ends, and another process may repeat a message.
    const providerIds = [...inProgress.values()].map(({ providerId }) => providerId);
    execute(on, renewLeases, [leaseSeconds, providerIds, [...inProgress.keys()]]).catch(() => undefined);
  };
  const renewal = setInterval(renew, schedule.renewMs);

  const run = async () => {
    while (!isStopping()) {
      const free = countFree([...inProgress.values()]);
      for (const webhook of free.slots <= 0 && free.slow <= 0 ? [] : await claim(free))
        inProgress.set(webhook.token, {
          ...webhook,
          work: work(webhook).finally(() => inProgress.delete(webhook.token)),
        });
      await sleep(schedule.pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all([...inProgress.values()].map((one) => one.work));
  };
  const loop = run();
  return {
    /** Resolves when the attempts in progress have ended and are marked. */
    async stop() {
      stopping.abort();
      await Promise.race([loop, sleep(schedule.attemptTimeoutMs + 5_000, undefined, { ref: false })]);
      clearInterval(renewal);
    },
  };
}

type Free = ReturnType<typeof countFree>;

function countFree(inProgress: ClaimedWebhook[]) {
  const slow = inProgress.filter(({ isSlow }) => isSlow).length;
  const failing = inProgress.filter(({ isFailing, isSlow }) => isFailing && !isSlow).length;
  return { slots: slots - (inProgress.length - slow), failing: failingSlots - failing, slow: slowSlots - slow };
}

function createWebhookClaim(on: Queryable, log: WebhookOptions['log']) {
  return createClaim(
    (free: Free) => execute<ClaimedWebhook>(on, claimWebhooks, [free.slots, free.failing, free.slow, leaseSeconds]),
    {
      log,
      failing: 'The webhooks cannot be read, so no message leaves',
      recovered: 'The webhooks can be read again',
    },
  );
}
