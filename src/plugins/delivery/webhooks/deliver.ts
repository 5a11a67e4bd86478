import type { Logger } from 'pino';
import type { Ctx } from '../../../database/context.ts';
import type { DeliveryCounters } from '../counters.ts';
import { execute, type Queryable } from '../../../database/statements.ts';
import { toOneLine } from '../../../core/text.ts';
import { findNewest, readChanges, type Position } from '../../../domains/records/changes/service.ts';
import { attemptDelivery, toLogValues, type Endpoint } from './attempt.ts';
import { toResyncs, type Attempt } from './schema.ts';
import * as statements from './sql.ts';
import { disableWebhook } from './disable.ts';
import type { ItemCache } from './items.ts';
import { isKnown, toMessage, toNotice, toResyncNotice, type Notice } from './message.ts';
import { afterFailure, schedule } from './schedule.ts';

/** A webhook whose lease this process holds. */
export type ClaimedWebhook = Endpoint & {
  providerId: number;
  id: number;
  /** Of the lease. */
  token: string;
  types: string[] | null;
  payload: 'full' | 'thin';
  position: number;
  positionClock: number;
  resyncs: string[];
  /** Failures since the last success. */
  attempts: number;
  failingSeconds: number;
  isFailing: boolean;
  /** Uses a place for slow endpoints. */
  isSlow: boolean;
  updatedAt: string;
};

type Delivery = {
  ctx: Ctx;
  on: Queryable;
  log: Pick<Logger, 'warn' | 'error'>;
  isStopping(): boolean;
  cache: ItemCache;
  counters: DeliveryCounters['webhooks'];
};

/** The place in the feed up to which everything is delivered, and resources to send a `resync` of before what follows it. */
type Progress = { position: Position; resyncs: string[] };
/** Without a notice the position moves alone. */
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
    const mayGoOn = notice
      ? await deliverNotice(delivery, webhook, notice, after)
      : await move(delivery, webhook, after);
    if (!mayGoOn) return;
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

const lease = ({ providerId, id, token }: ClaimedWebhook) => [providerId, id, token];
const toValues = ({ position, resyncs }: Progress) => [position.id, position.clock, resyncs];

/** Returns false if the turn is over: the attempt failed, the lease was lost, or the settings have changed. */
async function deliverNotice(delivery: Delivery, webhook: ClaimedWebhook, notice: Notice, after: Progress) {
  const attempt = await attemptNotice(delivery, webhook, notice);
  delivery.counters[attempt.error === null ? 'delivered' : 'failed'] += 1;
  if (attempt.error !== null) {
    await markFailure(delivery, webhook, attempt);
    return false;
  }
  const values = [...lease(webhook), ...toValues(after), ...toLogValues(attempt)];
  type Marked = { updatedAt: string; isActive: boolean };
  const [marked] = await execute<Marked>(delivery.on, statements.markDelivered, values);
  if (!marked) return false;
  Object.assign(webhook, { attempts: 0, failingSeconds: 0 });
  if (marked.isActive && marked.updatedAt === webhook.updatedAt) return true;
  await release(delivery.on, webhook);
  return false;
}

/** A message that cannot be built is a failed attempt, so that it is seen and given up in the end. */
async function attemptNotice({ ctx, log, cache }: Delivery, webhook: ClaimedWebhook, notice: Notice) {
  try {
    const message = await toMessage(ctx, notice, { payload: webhook.payload, cache });
    const policy = ctx.settings.callPolicy;
    return await attemptDelivery(webhook, message, { policy, timeoutMs: schedule.attemptTimeoutMs });
  } catch (error) {
    log.error(`Message ${notice.id} of webhook ${webhook.id} could not be built: ${toOneLine(error)}`);
    const { id: messageId, type } = notice;
    const failed = { statusCode: null, durationMs: 0, retryAfterSeconds: null };
    return { ...failed, messageId, type, error: 'the message could not be built' };
  }
}

async function markFailure(delivery: Delivery, webhook: ClaimedWebhook, attempt: Attempt) {
  const next = afterFailure({ ...webhook, ...attempt });
  const pause = typeof next === 'number' ? next : schedule.retries[0]!;
  const name = `Webhook ${webhook.id} of provider ${webhook.providerId}`;
  if (typeof next === 'string') {
    await disableWebhook(delivery.ctx, webhook, next);
    delivery.log.warn(`${name} is disabled: ${attempt.error}`);
  } else if (webhook.attempts === 0) {
    // Its log has the later failures.
    delivery.log.warn(`${name} fails: ${attempt.error}`);
  }
  const values = [...lease(webhook), pause, webhook.updatedAt, ...toLogValues(attempt)];
  await execute(delivery.on, statements.markFailed, values);
}

async function move(delivery: Delivery, webhook: ClaimedWebhook, to: Progress) {
  const values = [...lease(webhook), ...toValues(to)];
  return (await execute(delivery.on, statements.movePosition, values)).length > 0;
}

/** Gives the lease back; the next turn is in `pause` seconds. */
export const release = (on: Queryable, webhook: ClaimedWebhook, pause = 0) =>
  execute(on, statements.releaseWebhook, [...lease(webhook), pause]);
