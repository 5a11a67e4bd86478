import { and, count, eq, gt, ilike, isNotNull, isNull, lte, ne, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Pool } from 'pg';
import { queryBuilderOn } from '../../database/reader.ts';
import { transactionStart } from '../../database/tables/columns.ts';
import { events } from '../../database/tables/events.ts';
import { outbox } from '../../database/tables/outbox.ts';
import { providers } from '../../database/tables/providers.ts';
import { webhooks, webhookWakeups } from '../../database/tables/webhooks.ts';
import { personalResources } from '../../domains/records/changes/schema.ts';
import {
  byLimit,
  formatAge,
  found,
  hours,
  minutes,
  ok,
  skipped,
  warning,
  type Condition,
  type SystemCheck,
} from '../../interfaces/plugin/checks.ts';
import { within, type CreateArea } from '../../interfaces/plugin/metrics.ts';
import { recipient } from './mail/service.ts';
import { deliverySettings, mailsWait, noAddress } from './settings.ts';
import { getDeliveryCounters } from './worker.ts';

const ago = (interval: string) => sql`now() - ${interval}::interval`;
const ageOf = (moment: SQL) => sql<number | null>`extract(epoch from now() - ${moment})::float8`;
const isOpen = ({ providerId }: { providerId: PgColumn }) =>
  and(eq(providers.id, providerId), isNull(providers.closedAt));

const waiting = { warning: 15 * minutes, error: 6 * hours };

/** Failed in a server of an earlier version, which did not know the kind; this one stores a cause of failures. */
const wasUnknown = and(
  gt(outbox.failedAt, ago('30 days')),
  isNull(outbox.failure),
  isNotNull(recipient),
  sql`(${outbox.lastError} = ${noAddress} or ${outbox.lastError} ~ '^Cannot (read|destructure)|is not a function$')`,
);

/** Reminders give way to other mails until they are due. */
export const mailCheck: SystemCheck = {
  check: 'mail',
  async run({ pool }) {
    const db = queryBuilderOn(pool);
    const isDue = or(ne(outbox.purpose, 'reminder'), lte(outbox.dueAt, transactionStart), isNotNull(outbox.lastError));
    const [mails] = await db
      .select({ oldest: ageOf(sql`min(${outbox.createdAt})`) })
      .from(outbox)
      .innerJoin(providers, isOpen(outbox))
      .where(and(isNull(outbox.sentAt), isNull(outbox.failedAt), isDue));
    const isOfMail = sql`${outbox.failure} is distinct from 'recipient'`;
    const failed = await db.$count(outbox, and(gt(outbox.failedAt, ago('7 days')), isOfMail));
    const [unknown] = await db
      .select({ purposes: sql<string | null>`string_agg(distinct ${outbox.purpose}, ', ')` })
      .from(outbox)
      .where(wasUnknown);
    return assessMails(mails?.oldest ?? null, failed, unknown?.purposes);
  },
};

export const assessMails = (oldest: number | null, failed: number, unknown: string | null = null) =>
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
      ...assessWebhooks(await readWebhookStates(pool)),
      unencrypted > 0 && warning(`${unencrypted} webhooks send personal data over plain http`),
    ]);
  },
};

/** A webhook whose endpoint fails is not the operator's to repair, so it is never an error. */
export function assessWebhooks(states: WebhookState[]) {
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

type WebhookState = Awaited<ReturnType<typeof readWebhookStates>>[number];

/** The webhooks of all schools by state, for metrics and `doctor`; a state without a webhook is absent. */
function readWebhookStates(pool: Pick<Pool, 'query'>) {
  const db = queryBuilderOn(pool);
  const woken = db.selectDistinct({ providerId: webhookWakeups.providerId }).from(webhookWakeups).as('woken');
  const mayWait = and(webhooks.isActive, or(webhooks.isWaiting, isNotNull(woken.providerId)));
  const next = db
    .select({ at: events.at })
    .from(events)
    .where(and(mayWait, eq(events.providerId, webhooks.providerId), gt(events.id, webhooks.position)))
    .orderBy(events.id)
    .limit(1)
    .as('next');
  /** `failing`: its last attempt failed; `disabled`: the server has switched it off. */
  const state = sql<'working' | 'failing' | 'disabled'>`case when not ${webhooks.isActive} then 'disabled'
    when ${webhooks.failingSince} is null then 'working' else 'failing' end`;
  return (
    db
      /** Age of the oldest event that one of them has not got; null if none waits. */
      .select({ state, count: count(), oldestSeconds: ageOf(sql`min(${next.at})`) })
      .from(webhooks)
      .innerJoin(providers, isOpen(webhooks))
      .leftJoin(woken, eq(woken.providerId, webhooks.providerId))
      .leftJoinLateral(next, sql`true`)
      .where(or(webhooks.isActive, isNotNull(webhooks.disabledAt)))
      .groupBy(sql`1`)
  );
}

/** The active webhooks to which messages with personal data are sent unencrypted. */
async function countUnencrypted(pool: Pick<Pool, 'query'>) {
  const resource = sql`split_part(type, '.', 1) = any(${sql.param(personalResources)})`;
  const isPersonal = sql`(${webhooks.types} is null
    or exists (select from unnest(${webhooks.types}) type where ${resource}))`;
  const [found] = await queryBuilderOn(pool)
    .select({ count: count() })
    .from(webhooks)
    .innerJoin(providers, isOpen(webhooks))
    .where(and(webhooks.isActive, ilike(webhooks.url, 'http:%'), eq(webhooks.payload, 'full'), isPersonal));
  return found?.count ?? 0;
}
