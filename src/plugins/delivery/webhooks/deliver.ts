import { eq, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { getRootCause } from '../../../core/database-errors.ts';
import { toOneLine } from '../../../core/text.ts';
import { formatExactTimestamp } from '../../../core/timestamps.ts';
import type { Database } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import type { Queryable } from '../../../database/statements.ts';
import { currentTime } from '../../../database/tables/columns.ts';
import { eventChanges, eventResources } from '../../../database/tables/events.ts';
import { outbox } from '../../../database/tables/outbox.ts';
import { administratorRoleId, adminMembershipRoles } from '../../../database/tables/people.ts';
import { providers } from '../../../database/tables/providers.ts';
import { webhooks } from '../../../database/tables/webhooks.ts';
import { findNewest, readChanges, type Position } from '../../../domains/records/changes/service.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { DeliveryCounters } from '../worker.ts';
import { attemptDelivery, afterFailure, schedule } from './attempt.ts';
import { type ItemCache, loadItem } from './items.ts';
import type { CallPolicy } from './outgoing-target.ts';
import { toResyncs, type Attempt, type Message } from './schema.ts';
import { markDelivered, markFailed, releaseWebhook, type ClaimedWebhook } from './sql.ts';
import { itemAt } from '../../../core/errors.ts';

type Delivery = {
  ctx: Ctx;
  policy: CallPolicy;
  on: Database['unlocked'];
  log: Pick<Logger, 'warn' | 'error'>;
  isStopping(): boolean;
  cache: ItemCache;
  counters: DeliveryCounters['webhooks'];
};

/** The place in the feed up to which everything is delivered, and resources to send a `resync` of before what follows it. */
type Progress = { position: Position; resyncs: string[] };
/** The position moves alone without a notice. */
type Step = { notice?: Notice; after: Progress };

const pageSize = 100;

/** Delivers waiting messages in order until none waits, one fails or the turn ends, then gives the lease back. */
export async function deliver(delivery: Delivery, webhook: ClaimedWebhook): Promise<void> {
  const turnEnd = performance.now() + schedule.turnMs;
  for await (const { notice, after } of findSteps(delivery, webhook)) {
    if (notice && !isKnown(notice)) {
      await release(delivery.on, webhook, schedule.unknownPause);
      return;
    }
    const canContinue = notice
      ? await deliverNotice(delivery, webhook, notice, after)
      : await move(delivery, webhook, after);
    if (!canContinue) return;
    if (performance.now() >= turnEnd || delivery.isStopping()) break;
  }
  await release(delivery.on, webhook);
}

/** The waiting messages in order, and the moves past changes of other types. */
async function* findSteps({ ctx }: Delivery, webhook: ClaimedWebhook): AsyncGenerator<Step> {
  let position: Position = { id: webhook.position, clock: webhook.positionClock };
  let { resyncs } = webhook;
  let hasMore = true;
  do {
    for (const [n, resync] of resyncs.entries())
      yield { notice: toResyncNotice(resync, position), after: { position, resyncs: resyncs.slice(n + 1) } };
    const page = await readChanges(ctx, position, { types: webhook.types ?? undefined, limit: pageSize });
    if (page) {
      for (const event of page.items) yield { notice: toNotice(event), after: { position: event, resyncs: [] } };
      const last = page.items.at(-1) ?? position;
      const isAtEnd = last.id === page.position.id && last.clock === page.position.clock;
      [position, resyncs, hasMore] = [page.position, [], page.hasMore];
      if (!isAtEnd) yield { after: { position, resyncs } };
    } else {
      // Events after the position may be deleted: the receiver has to read everything again.
      [position, resyncs] = [await findNewest(ctx), toResyncs(webhook.types)];
      yield { after: { position, resyncs } };
    }
  } while (hasMore);
}

const toPlace = ({ position, resyncs }: Progress) => ({
  ...{ position: position.id, positionClock: position.clock, resyncs },
});

/** Returns false if the turn is over: the attempt failed, the lease was lost, or the settings have changed. */
async function deliverNotice(delivery: Delivery, webhook: ClaimedWebhook, notice: Notice, after: Progress) {
  const attempt = await attemptNotice(delivery, webhook, notice);
  delivery.counters[attempt.error === null ? 'delivered' : 'failed'] += 1;
  if (attempt.error !== null) {
    await markFailure(delivery, webhook, attempt);
    return false;
  }
  const [marked] = await markDelivered(delivery.on, { ...webhook, ...toPlace(after), ...attempt });
  if (!marked) return false;
  Object.assign(webhook, { attempts: 0, failingSeconds: 0 });
  if (marked.isActive && marked.updatedAt === webhook.updatedAt) return true;
  await release(delivery.on, webhook);
  return false;
}

/** A message that cannot be built is a failed attempt, so that it is seen and given up in the end. */
async function attemptNotice(delivery: Delivery, webhook: ClaimedWebhook, notice: Notice) {
  try {
    const message = await toMessage(delivery, webhook, notice);
    const options = { policy: delivery.policy, timeoutMs: schedule.attemptTimeoutMs };
    return await attemptDelivery(webhook, message, options);
  } catch (error) {
    delivery.log.error(
      `Message ${notice.id} of webhook ${webhook.id} could not be built: ${toOneLine(getRootCause(error))}`,
    );
    const { id: messageId, type } = notice;
    const failed = { statusCode: null, durationMs: 0, retryAfterSeconds: null };
    return { ...failed, messageId, type, error: 'the message could not be built' };
  }
}

async function markFailure(delivery: Delivery, webhook: ClaimedWebhook, attempt: Attempt) {
  const next = afterFailure({ ...webhook, ...attempt });
  const pause = typeof next === 'number' ? next : itemAt(schedule.retries);
  const name = `Webhook ${webhook.id} of provider ${webhook.providerId}`;
  if (typeof next === 'string') {
    await disableWebhook(delivery.ctx, webhook, next);
    delivery.log.warn(`${name} is disabled: ${attempt.error}`);
  } else if (webhook.attempts === 0) {
    // Its log has the later failures.
    delivery.log.warn(`${name} fails: ${attempt.error}`);
  }
  await markFailed(delivery.on, { ...webhook, pause, ...attempt });
}

/** Moves the position without a message. Returns false if the lease was lost. */
async function move({ on }: Delivery, webhook: ClaimedWebhook, to: Progress) {
  const isOwn = [eq(webhooks.id, webhook.id), eq(webhooks.leasedBy, webhook.token)];
  const { rowCount } = await on
    .update(webhooks)
    .set(toPlace(to))
    .where(tenantWhere(webhook, webhooks, ...isOwn));
  return rowCount === 1;
}

/** Gives the lease back; the next turn is in `pause` seconds. */
export const release = (on: Queryable, webhook: ClaimedWebhook, pause = 0) => releaseWebhook(on, { ...webhook, pause });

type Event = NonNullable<Awaited<ReturnType<typeof readChanges>>>['items'][number];
/** Content of a message: an event, or a request to read all items of a resource again. */
type Notice = Pick<Event, 'type' | 'resource' | 'resource_id' | 'into'> & {
  id: string;
  eventId: number;
  at: string;
};

/** The clock is part of the id: after a restore of the database the ids of events are given again. */
const toMessageId = ({ id, clock }: Position) => `evt_${id}_${clock}`;

const toNotice = ({ id, clock, type, resource, resource_id, at, into }: Event): Notice => ({
  ...{ id: toMessageId({ id, clock }), eventId: id, at: formatExactTimestamp(at) },
  ...{ type, resource, resource_id, into },
});

function toResyncNotice(resync: string, position: Position): Notice {
  const [resource, milliseconds] = resync.split('_') as [Event['resource'], string];
  return {
    ...{ id: `${toMessageId(position)}_${resync}`, eventId: position.id },
    ...{ type: 'resync', resource, resource_id: null, into: null, at: new Date(Number(milliseconds)).toISOString() },
  };
}

const knownNames = new Set<string | undefined>([...eventResources, ...eventChanges]);

/** False for an event of a newer version, whose servers know how to send it. */
const isKnown = ({ type, resource }: Notice) =>
  [resource, type.split('.').at(-1)].every((name) => knownNames.has(name));

/** `thin` holds ids alone; else the item is as the interface shows it now, null if it does not any more. */
async function toMessage({ ctx, cache }: Delivery, { payload }: ClaimedWebhook, notice: Notice): Promise<Message> {
  const { id, eventId, type, resource, resource_id, into, at } = notice;
  const data = { id: eventId, resource, resource_id, ...(into === null ? {} : { into }) };
  if (payload === 'thin' || resource_id === null) return { id, type, timestamp: at, data };
  const isGone = /\.(deleted|merged|erased)$/.test(type);
  const load = () => loadItem(ctx, resource, resource_id);
  const item = isGone ? null : await cache.find(`${ctx.providerId} ${eventId}`, load);
  return { id, type, timestamp: at, data: { ...data, ...(item === undefined ? {} : { item }) } };
}

/** Disables a webhook with this lease, unless its settings changed, and notifies the school or its administrators. */
const disableWebhook = (ctx: Ctx, { id, updatedAt, token }: ClaimedWebhook, reason: 'gone' | 'failing') =>
  ctx.write(['school'], async ({ tx, now }) => {
    const isUnchanged = sql`${webhooks.updatedAt} = ${updatedAt}::timestamptz`;
    const isLeased = tenantWhere(ctx, webhooks, eq(webhooks.id, id), eq(webhooks.leasedBy, token), isUnchanged);
    const { rowCount } = await tx
      .update(webhooks)
      .set({ isActive: false, disabledAt: now, disabledReason: reason, updatedAt: now })
      .where(isLeased);
    if (rowCount === 0) {
      tx.rollBack();
      return;
    }
    tx.auditItem(id);
    const schools = await tx
      .select({ email: providers.emailAdmin })
      .from(providers)
      .where(eq(providers.id, ctx.providerId));
    const administrators = await tx
      .select({ adminUserId: adminMembershipRoles.adminUserId })
      .from(adminMembershipRoles)
      .where(tenantWhere(ctx, adminMembershipRoles, eq(adminMembershipRoles.roleId, administratorRoleId)));
    const recipients = itemAt(schools).email === '' ? administrators : [{ adminUserId: null }];
    if (recipients.length === 0) return;
    const mail = { providerId: ctx.providerId, purpose: 'webhook_disabled', webhookId: id } as const;
    await tx
      .insert(outbox)
      .values(recipients.map((recipient) => ({ ...mail, ...recipient, createdAt: now, dueAt: currentTime })));
  });
