import {
  byLimit,
  formatAge,
  found,
  hours,
  minutes,
  ok,
  queryOne,
  skipped,
  warning,
} from '../../interfaces/plugin/checks.ts';
import type { Condition, SystemCheck } from '../../interfaces/plugin/checks.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';
import { joinedRecipient, recipientJoins } from '../../domains/messages/mails/loaders.ts';
import { getDeliveryCounters } from './counters.ts';
import { deliverySettings, mailsWait, noAddress } from './settings.ts';
import { countUnencrypted, readWebhookStates, type WebhookState } from './webhooks/state.ts';

const waiting = { warning: 15 * minutes, error: 6 * hours };

/** Failed in a server of an earlier version, which did not know the kind; this one stores a cause of failures. */
const wasUnknown = `o.failed_at > now() - interval '30 days' and o.failure is null and ${joinedRecipient} is not null
    and (o.last_error = '${noAddress}' or o.last_error ~ '^Cannot (read|destructure)|is not a function$')`;

/** Reminders give way to other mails until they are due. */
export const mailCheck: SystemCheck = {
  check: 'mail',
  async run({ pool }) {
    type Mails = { oldest: number | null; failed: number; unknown: string | null };
    const { oldest, failed, unknown } = await queryOne<Mails>(
      pool,
      `select (select extract(epoch from now() - min(o.created_at))::float8
          from outbox o join providers p on p.id = o.provider_id and p.closed_at is null
          where o.sent_at is null and o.failed_at is null
            and (o.purpose <> 'reminder' or o.due_at <= now() or o.last_error is not null)) as oldest,
        (select count(*)::int from outbox where failed_at > now() - interval '7 days'
          and failure is distinct from 'recipient') as failed,
        (select string_agg(distinct o.purpose, ', ') from outbox o ${recipientJoins}
          where ${wasUnknown}) as unknown`,
    );
    return judgeMails(oldest, failed, unknown);
  },
};

export const judgeMails = (oldest: number | null, failed: number, unknown: string | null = null) =>
  found([
    oldest === null
      ? ok('No mail waits')
      : byLimit(oldest, waiting, `The oldest unsent mail is ${formatAge(oldest)} old`),
    failed > 0 && warning(`${failed} mails have failed in the last week: \`mail list --failed\``),
    unknown !== null &&
      warning(`Mails have failed in a server that did not know their kind (${unknown}): \`mail retry --all-failed\``),
  ]);

export const webhookCheck: SystemCheck = {
  check: 'webhooks',
  async run({ pool, config }) {
    if (config.of(deliverySettings).WEBHOOKS === 'off') return [skipped('WEBHOOKS=off sends nothing')];
    const unencrypted = await countUnencrypted(pool);
    return found([
      ...judgeWebhooks(await readWebhookStates(pool)),
      unencrypted > 0 && warning(`${unencrypted} webhooks send personal data over plain http`),
    ]);
  },
};

/** A webhook whose endpoint fails is not the operator's to repair, so it is never an error. */
export function judgeWebhooks(states: WebhookState[]) {
  const find = (state: WebhookState['state']) => states.find((one) => one.state === state);
  const late = find('working')?.oldestSeconds ?? null;
  const failing = find('failing');
  const old = (seconds: number) => `the oldest event that one has not got is ${formatAge(seconds)} old`;
  return found([
    late === null
      ? ok('No event waits for a webhook whose endpoint answers')
      : byLimit(late, waiting, `Of the webhooks whose endpoints answer, ${old(late)}`),
    failing !== undefined && warning(`${failing.count} webhooks fail; ${old(failing.oldestSeconds ?? 0)}`),
  ]);
}

export const mailConditions: Condition[] = [
  {
    isHeld: (config) => config.of(deliverySettings).mailsGoTo !== 'files',
    otherwise: 'No mail reaches a person: without SMTP_URL mails are files under DATA_DIR',
  },
  {
    isHeld: (config) => config.of(deliverySettings).mailsGoTo !== 'nowhere',
    otherwise: mailsWait,
  },
];

export const mailMetrics: CreateArea = ({ readCounter }, { database }) => {
  const attempts = readCounter(
    'booking_mail_attempts_total',
    'Attempts of this process to send a mail, by result',
    'result',
  );
  return {
    refresh() {
      for (const [result, count] of Object.entries(getDeliveryCounters(database).mails))
        attempts.set(count, { result });
    },
  };
};

const states = ['working', 'failing', 'disabled'] as const;

/** The attempts of this process, and the webhooks of the whole database. */
export const webhookMetrics: CreateArea = ({ gauge, readCounter }, { database }) => {
  const attempts = readCounter(
    'booking_webhook_attempts_total',
    'Attempts of this process to deliver a message to a webhook, by result',
    'result',
  );
  const webhooks = gauge('booking_webhooks', 'Webhooks that are not switched off by their school, by state', 'state');
  const oldest = gauge('booking_webhook_oldest_seconds', 'Age of the oldest event that a webhook has not got', 'state');
  return {
    async refresh() {
      for (const [result, count] of Object.entries(getDeliveryCounters(database).webhooks))
        attempts.set(count, { result });
      webhooks.reset();
      oldest.reset();
      const found = await within(readWebhookStates(database.pool)).catch(() => undefined);
      if (!found) return;
      for (const state of states) {
        const { count = 0, oldestSeconds = 0 } = found.find((one) => one.state === state) ?? {};
        webhooks.set({ state }, count);
        if (state !== 'disabled') oldest.set({ state }, oldestSeconds ?? 0);
      }
    },
  };
};
