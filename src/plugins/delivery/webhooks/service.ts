import { asc, desc, eq, sql } from 'drizzle-orm';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx, WriteCtx } from '../../../database/context.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import { currentTime, transactionStart } from '../../../database/tables/columns.ts';
import { providers } from '../../../database/tables/providers.ts';
import { webhookDeliveries, webhooks, webhookTests } from '../../../database/tables/webhooks.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { findNewest } from '../../../domains/records/changes/service.ts';
import { attemptDelivery, attemptTimeoutMs, type Endpoint } from './attempt.ts';
import { parseTarget, resolveTarget, TargetError, type CallPolicy } from './outgoing-target.ts';
import {
  maxWebhooks,
  overlapHours,
  toDelivery,
  toResyncs,
  toWebhook,
  type Webhook,
  type WebhookBody,
  type WebhookChange,
} from './schema.ts';
import { logTest } from './sql.ts';

type WithSecret = Webhook & { secret: string };

const whereId = (ctx: Ctx, id: number) => tenantWhere(ctx, webhooks, eq(webhooks.id, id));

export async function listWebhooks(ctx: Ctx): Promise<Webhook[]> {
  const rows = await ctx.db.select().from(webhooks).where(tenantWhere(ctx, webhooks)).orderBy(asc(webhooks.id));
  return rows.map(viewFor(ctx));
}

/** A key that only reads gets addresses without their query, which may contain a token of the receiver. */
const viewFor =
  ({ key }: Ctx) =>
  (row: Parameters<typeof toWebhook>[0]) => {
    const webhook = toWebhook(row);
    return key?.profile === 'read' ? { ...webhook, url: webhook.url.replace(/[?#].*/s, '') } : webhook;
  };

export async function getWebhook(ctx: Ctx, id: number): Promise<Webhook> {
  const [row] = await ctx.db.select().from(webhooks).where(whereId(ctx, id));
  if (!row) throw Problem.notFound('Webhook');
  return viewFor(ctx)(row);
}

/** Delivers the changes from now on. Returns the secret, which is not shown again. */
export async function createWebhook(ctx: Ctx, body: WebhookBody, policy: CallPolicy): Promise<WithSecret> {
  const { providerId } = ctx;
  const host = await resolveHost(body.url, policy);
  return ctx.write(['school'], async ({ tx, now }) => {
    if ((await tx.$count(webhooks, tenantWhere(ctx, webhooks))) >= maxWebhooks)
      throw Problem.coded('too_many_items', `A school has at most ${maxWebhooks} webhooks`);
    const { id: position, clock: positionClock } = await findNewest({ ...ctx, db: tx });
    const secret = newSigningSecret();
    const created = await tx
      .insert(webhooks)
      .values({
        ...{ providerId, secret, position, positionClock, dueAt: currentTime, createdAt: now, updatedAt: now },
        ...{ ...toColumns(body), url: body.url, host },
      })
      .returning();
    const webhook = itemAt(created);
    tx.auditItem(webhook.id);
    return { ...toWebhook(webhook), secret };
  });
}

/** Switched on again, a webhook continues where it stopped. */
export async function updateWebhook(ctx: Ctx, id: number, body: WebhookChange, policy: CallPolicy): Promise<Webhook> {
  const address = body.url === undefined ? {} : { url: body.url, host: await resolveHost(body.url, policy) };
  return ctx.write(['school'], async (w) => {
    const before = await lockWebhook(w, id);
    const isRestarted = body.is_active === true && !before.isActive;
    // The next attempt is at once: the receiver is repaired, or it is another one.
    const isRenewed = body.is_active === true || (body.url !== undefined && body.url !== before.url);
    const restart = isRestarted ? { disabledAt: null, disabledReason: null } : {};
    const changed = await w.tx.updateChanged(
      webhooks,
      whereId(ctx, id),
      { ...toColumns(body), ...address, ...restart, ...(isRenewed ? { failingSince: null } : {}) },
      w.now,
    );
    if (changed > 0 && isRenewed)
      await w.tx.update(webhooks).set({ attempts: 0, dueAt: transactionStart }).where(whereId(ctx, id));
    const updated = toWebhook(itemAt(await w.tx.select().from(webhooks).where(whereId(ctx, id))));
    return changed === 0 ? w.tx.rollBack(updated) : updated;
  });
}

/** Sends a `resync` of each of its resources before all else. Ends a lease, whose progress would replace them. */
export const resyncWebhook = (ctx: Ctx, id: number): Promise<Webhook> =>
  ctx.write(['school'], async (w) => {
    const { types } = await lockWebhook(w, id);
    const changed = await w.tx
      .update(webhooks)
      .set({ resyncs: toResyncs(types), dueAt: transactionStart, leasedBy: null, leasedUntil: null, updatedAt: w.now })
      .where(whereId(ctx, id))
      .returning();
    return toWebhook(itemAt(changed));
  });

export const deleteWebhook = (ctx: Ctx, id: number): Promise<Webhook> =>
  ctx.write(['school'], async (w) => {
    const before = await lockWebhook(w, id);
    await w.tx
      .delete(webhookDeliveries)
      .where(tenantWhere(ctx, webhookDeliveries, eq(webhookDeliveries.webhookId, id)));
    await w.tx.delete(webhooks).where(whereId(ctx, id));
    return toWebhook(before);
  });

/** Returns the new secret; the one before it signs too for a day. */
export const rotateSecret = (ctx: Ctx, id: number): Promise<WithSecret> =>
  ctx.write(['school'], async (w) => {
    const { secret: previousSecret } = await lockWebhook(w, id);
    const secret = newSigningSecret();
    const previousSecretExpiresAt = sql`${transactionStart} + ${`${overlapHours} hours`}::interval`;
    const changed = await w.tx
      .update(webhooks)
      .set({ secret, previousSecret, previousSecretExpiresAt, updatedAt: w.now })
      .where(whereId(ctx, id))
      .returning();
    return { ...toWebhook(itemAt(changed)), secret };
  });

/** The latest attempts, newest first. */
export async function listDeliveries(ctx: Ctx, id: number) {
  await getWebhook(ctx, id);
  const rows = await ctx.db
    .select()
    .from(webhookDeliveries)
    .where(tenantWhere(ctx, webhookDeliveries, eq(webhookDeliveries.webhookId, id)))
    .orderBy(desc(webhookDeliveries.number));
  return rows.map(toDelivery);
}

const testWait = { tries: 10, pauseMs: 200, leaseSeconds: 15 };

/** Sends a test message, active or not, and returns the attempt. A school and its sub-schools send one at a time. */
export async function testWebhook(ctx: Ctx, id: number, policy: CallPolicy, headers: { traceparent?: string } = {}) {
  const endpoint = await getEndpoint(ctx, id);
  const token = await beginSchoolTest(ctx);
  try {
    const message = {
      id: `test_${randomUUID()}`,
      type: 'webhook.test',
      timestamp: new Date().toISOString(),
      data: { webhook_id: id },
    };
    const attempt = await attemptDelivery(endpoint, message, { policy, timeoutMs: attemptTimeoutMs, headers });
    const [logged] = await logTest(ctx.unlockedStore, { providerId: ctx.providerId, id, ...attempt });
    // Deleted meanwhile.
    if (!logged) throw Problem.notFound('Webhook');
    return toDelivery({ ...attempt, at: logged.at });
  } finally {
    // Without it the test expires.
    const ofSchool = tenantWhere({ providerId: ctx.tenantQueueKey }, webhookTests, eq(webhookTests.token, token));
    await ctx.unlockedStore
      .delete(webhookTests)
      .where(ofSchool)
      .catch(() => undefined);
  }
}

async function getEndpoint(ctx: Ctx, id: number): Promise<Endpoint> {
  const { closedAt } = providers;
  const isOverlapping = sql`${webhooks.previousSecretExpiresAt} > ${transactionStart}`;
  const previousSecret = sql<string | null>`case when ${isOverlapping} then ${webhooks.previousSecret} end`;
  const [endpoint] = await ctx.db
    .select({ url: webhooks.url, secret: webhooks.secret, previousSecret, closedAt })
    .from(webhooks)
    .innerJoin(providers, eq(providers.id, webhooks.providerId))
    .where(whereId(ctx, id));
  if (!endpoint) throw Problem.notFound('Webhook');
  if (endpoint.closedAt) throw new Problem('invalid', 'The school is closed');
  return endpoint;
}

/** An expiry after the latest possible one means that the clock has gone back. */
const hasTestEnded = sql`${webhookTests.expiresAt} <= excluded.started_at or ${webhookTests.expiresAt} > excluded.expires_at`;

async function beginSchoolTest(ctx: Ctx) {
  const token = randomUUID();
  const expiresAt = sql`${transactionStart} + ${testWait.leaseSeconds} * interval '1 second'`;
  const begun = { token, startedAt: transactionStart, expiresAt };
  for (let attempt = 1; ; attempt += 1) {
    const { rowCount } = await ctx.unlockedStore
      .insert(webhookTests)
      .values({ providerId: ctx.tenantQueueKey, ...begun })
      .onConflictDoUpdate({ target: webhookTests.providerId, set: begun, setWhere: hasTestEnded });
    if (rowCount === 1) return token;
    if (attempt === testWait.tries)
      throw new Problem('unavailable', 'Another test of the school is not finished', { retryAfter: 5 });
    await sleep(testWait.pauseMs);
  }
}

/** Throws unless the URL may be called and its host has public addresses alone. */
async function resolveHost(url: string, policy: CallPolicy) {
  const host = parseTarget(url);
  if (host === null) throw Problem.invalidFields({ notValid: ['url'] });
  await resolveTarget(host, policy).catch((error: unknown) => {
    if (error instanceof TargetError && error.isMomentary)
      throw new Problem('unavailable', 'The name of the host cannot be looked up just now', { retryAfter: 5 });
    const refused = error instanceof TargetError ? error.refused : [];
    const reason = refused.length === 0 ? '' : `, and WEBHOOK_ALLOW does not have ${refused.join(' and ')}`;
    const text = `Field(s) not valid: url. Its host has no public address${reason}`;
    throw Problem.coded('address_not_public', text, { notValid: ['url'] });
  });
  return host;
}

/** The row, locked against the worker. */
async function lockWebhook(w: WriteCtx, id: number) {
  const [row] = await w.tx.select().from(webhooks).where(whereId(w, id)).for('update');
  if (!row) throw Problem.notFound('Webhook');
  return row;
}

const newSigningSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

const toColumns = ({ types, description, payload, is_active }: WebhookChange) => ({
  ...(types === undefined ? {} : { types: types === null || types.length === 0 ? null : [...new Set(types)] }),
  description: description === null ? '' : description,
  payload,
  isActive: is_active,
});
