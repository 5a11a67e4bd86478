import { sql } from 'drizzle-orm';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../../core/settings.ts';
import type { Database } from '../../../database/client.ts';
import type { Job } from '../../../database/periodic.ts';
import { createContext } from '../../../domains/school/schools/service.ts';
import { claimWebhooks, leaseSeconds, type ClaimedWebhook } from './sql.ts';
import { getDeliveryCounters, startWorker, type WorkerLog } from '../worker.ts';
import { deliver, release } from './deliver.ts';
import { createItemCache } from './items.ts';
import type { CallPolicy } from './outgoing-target.ts';
import { schedule } from './attempt.ts';

type WebhookOptions = { database: Database; settings: Settings; policy: CallPolicy; log: WorkerLog };

/** Webhooks that a process delivers to at once. */
const slots = 32;
/** Slots for failing webhooks, so that endpoints that hang leave places to others. */
const failingSlots = slots / 2;
/** Further slots, for endpoints that were slow at least three times. */
const slowSlots = 8;
const pauseSeconds = { databaseUnavailable: 5, otherError: 60 };

/** Sends and marks the messages of leased webhooks one by one, so that a crash repeats at most one. */
export function startWebhooks({ database, settings, policy, log }: WebhookOptions) {
  const on = database.unlocked;
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'webhook delivery' });
  const shared = { on, policy, log, cache: createItemCache(), counters: getDeliveryCounters(database).webhooks };
  return startWorker(
    {
      claim(inProgress: ClaimedWebhook[]) {
        const free = findFree(inProgress);
        return free.slots <= 0 && free.slow <= 0 ? undefined : claimWebhooks(on, { ...free, seconds: leaseSeconds });
      },
      renewal: {
        everyMs: schedule.renewMs,
        renew(inProgress) {
          const providerIds = sql.param(inProgress.map(({ providerId }) => providerId));
          const tokens = sql.param(inProgress.map(({ token }) => token));
          const renewed = sql`renew_webhook_leases(${leaseSeconds}, ${providerIds}, ${tokens}) renewed`;
          return on.select({ renewed: sql`renewed` }).from(renewed);
        },
      },
      async deliver(webhook, isStopping) {
        const ctx = await createContext(audited, settings, webhook.providerId);
        await deliver({ ...shared, ctx, isStopping }, webhook);
        return undefined;
      },
      toErrorEnding: (webhook, problem, isMomentary) => ({
        level: isMomentary ? 'warn' : 'error',
        text: `Webhook ${webhook.id} could not be delivered to: ${problem}`,
        mark: () => release(on, webhook, isMomentary ? pauseSeconds.databaseUnavailable : pauseSeconds.otherError),
      }),
      markTries: 1,
      pollMs: schedule.pollMs,
      stopMs: schedule.attemptTimeoutMs + 5_000,
      texts: {
        failing: 'The webhooks cannot be read, so no message leaves',
        recovered: 'The webhooks can be read again',
      },
    },
    log,
  );
}

/** Deletes the rows that webhooks wait for every hour, for the case that no process sends their messages. */
export const wakeupsJob = ({ unlocked }: Pick<Database, 'unlocked'>): Job => ({
  name: 'The deletion of rows of webhook_wakeups',
  intervalMs: 60 * 60_000,
  async run(signal) {
    while (!signal.aborted) {
      const found = await unlocked.select({ woken: sql<number>`woken` }).from(sql`wake_webhooks() woken`);
      if (found.every(({ woken }) => woken === 0)) return;
      await sleep(50);
    }
  },
});

function findFree(inProgress: ClaimedWebhook[]) {
  const slow = inProgress.filter(({ isSlow }) => isSlow).length;
  const failing = inProgress.filter(({ isFailing, isSlow }) => isFailing && !isSlow).length;
  return { slots: slots - (inProgress.length - slow), failing: failingSlots - failing, slow: slowSlots - slow };
}
