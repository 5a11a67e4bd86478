import type { Pool } from 'pg';
import { joinedRecipient, recipientJoins } from '../../domains/messages/mails/loaders.ts';
import { personalResources } from '../../domains/records/changes/schema.ts';
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
  type Condition,
  type SystemCheck,
} from '../../interfaces/plugin/checks.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';
import { getDeliveryCounters } from './counters.ts';
import { deliverySettings, mailsWait, noAddress } from './settings.ts';

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

type WebhookState = {
  /** `failing`: its last attempt failed; `disabled`: the server has switched it off. */
  state: 'working' | 'failing' | 'disabled';
  count: number;
  /** Age of the oldest event that one of them has not got; null if none waits. */
  oldestSeconds: number | null;
};

const selectStates = {
  name: 'webhook_states',
  text: `select case when not w.is_active then 'disabled' when w.failing_since is null then 'working' else 'failing' end
      as state, count(*)::int as count, extract(epoch from now() - min(waiting.at))::float8 as "oldestSeconds"
    from webhooks w
      join providers p on p.id = w.provider_id and p.closed_at is null
      left join (select distinct provider_id from webhook_wakeups) u on u.provider_id = w.provider_id
      left join lateral (
        select e.at from events e where w.is_active and (w.is_waiting or u.provider_id is not null)
          and e.provider_id = w.provider_id and e.id > w.position
        order by e.id limit 1) waiting on true
    where w.is_active or w.disabled_at is not null
    group by 1`,
};

/** The active webhooks to which messages with personal data are sent unencrypted. */
async function countUnencrypted(pool: Pick<Pool, 'query'>) {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from webhooks w join providers p on p.id = w.provider_id and p.closed_at is null
      where w.is_active and w.url ilike 'http:%' and w.payload = 'full' and (w.types is null
        or exists (select from unnest(w.types) type where split_part(type, '.', 1) = any($1)))`,
    [personalResources],
  );
  return rows[0]!.count;
}

/** The webhooks of all schools by state, for metrics and `doctor`; a state without a webhook is absent. */
async function readWebhookStates(pool: Pick<Pool, 'query'>) {
  return (await pool.query<WebhookState>(selectStates)).rows;
}
