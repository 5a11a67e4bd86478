import { and, asc, eq, gt, isNull, or, sql, type SQL } from 'drizzle-orm';
import { hashApiKey, newApiKey, type KeyProfile } from '../../../core/api-key.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Database, Write } from '../../../database/client.ts';
import { type Ctx, getSchoolId } from '../../../database/context.ts';
import { transactionStart } from '../../../database/tables/columns.ts';
import { apiKeys, apiKeyUses, providers } from '../../../database/tables/providers.ts';
import { allOf, tenantWhere } from '../../../lists/tenant-scope.ts';
import type { WhoAmI } from './schema.ts';

type NewKey = { label?: string; profile?: KeyProfile; origins?: string[] | null };

/** Creates an API key, which is returned only here. `expires` is in the service's time zone. */
export async function createKey(ctx: Ctx, { expires, ...key }: NewKey & { expires?: string }) {
  const expiresAt = expires === undefined ? undefined : sql<string>`${expires}::timestamptz`;
  return ctx.write(['school'], async (w) => {
    const created = await insertKey(w, { ...key, providerId: ctx.providerId, expiresAt });
    const found = await w.tx
      .select({ isExpired: sql<boolean>`coalesce(${apiKeys.expiresAt} <= now(), false)` })
      .from(apiKeys)
      .where(tenantWhere(ctx, apiKeys, eq(apiKeys.id, created.keyId)));
    return { ...created, ...itemAt(found), keyId: w.tx.auditItem(created.keyId) };
  });
}

async function insertKey(
  { tx, now }: Write,
  { providerId, label = '', profile = 'full', origins = null, expiresAt }: NewKey & Owned,
) {
  const apiKey = newApiKey();
  const created = await tx
    .insert(apiKeys)
    .values({ providerId, hash: hashApiKey(apiKey), label, profile, origins, createdAt: now, expiresAt })
    .returning({ id: apiKeys.id });
  return { keyId: itemAt(created).id, apiKey };
}
type Owned = { providerId: number; expiresAt?: SQL<string> | undefined };

/** Creates a key like an existing one, which expires `overlapSeconds` from now, unless it expires before. */
export async function rotateKey(database: Database, keyId: number, overlapSeconds: number) {
  const old = await findKey(database, keyId);
  return database.write([old.providerId], ['school'], async (w) => {
    const inOverlap = sql<string>`${transactionStart} + make_interval(secs => ${overlapSeconds})`;
    const [changed] = await w.tx
      .update(apiKeys)
      .set({ expiresAt: sql`least(${apiKeys.expiresAt}, ${inOverlap})` })
      .where(tenantWhere(old, apiKeys, eq(apiKeys.id, keyId), isActiveKey))
      .returning({ label: apiKeys.label, profile: apiKeys.profile, origins: apiKeys.origins, at: apiKeys.expiresAt });
    if (!changed) throw new Problem('invalid', 'A revoked or expired key cannot be rotated');
    const { at, ...key } = changed;
    const created = await insertKey(w, { ...key, providerId: old.providerId });
    w.tx.auditItem(keyId);
    return { ...created, ...old, keyId: w.tx.auditItem(created.keyId), oldExpiresAt: at! };
  });
}

const isActiveKey = allOf(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)));

async function findKey(database: Database, keyId: number) {
  const [key] = await database.db.select({ providerId: apiKeys.providerId }).from(apiKeys).where(eq(apiKeys.id, keyId));
  if (!key) throw Problem.notFound('Key');
  return key;
}

export const listKeys = (ctx: Ctx) =>
  ctx.db
    .select({
      key_id: apiKeys.id,
      label: apiKeys.label,
      profile: apiKeys.profile,
      origins: apiKeys.origins,
      created_at: apiKeys.createdAt,
      expires_at: apiKeys.expiresAt,
      revoked_at: apiKeys.revokedAt,
      last_used_at: apiKeyUses.lastUsedAt,
    })
    .from(apiKeys)
    .leftJoin(apiKeyUses, and(eq(apiKeyUses.providerId, apiKeys.providerId), eq(apiKeyUses.keyId, apiKeys.id)))
    .where(tenantWhere(ctx, apiKeys))
    .orderBy(asc(apiKeys.id));

/** Revokes a key, effective immediately; idempotent. Returns its provider. */
export async function revokeKey(database: Database, keyId: number) {
  const key = await findKey(database, keyId);
  await database.write([key.providerId], ['school'], async ({ tx, now }) => {
    const { rowCount } = await tx
      .update(apiKeys)
      .set({ revokedAt: now })
      .where(tenantWhere(key, apiKeys, eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)));
    if (rowCount === 0) {
      tx.rollBack();
      return;
    }
    tx.auditItem(keyId);
  });
  return key;
}

export async function findKeyProvider({ db }: Database, key: string): Promise<number | undefined> {
  const isKey = and(eq(apiKeys.hash, hashApiKey(key)), isNull(apiKeys.revokedAt));
  const [found] = await db.select({ providerId: apiKeys.providerId }).from(apiKeys).where(isKey);
  return found?.providerId;
}

export type ServerFacts = {
  /** The rate limit by tenant queue key. */
  findRate: (tenantQueueKey: number) => { perSecond: number; burst: number } | undefined;
  version: string;
};

/** Describes the school and the key of a request, the rate limit and the server's time. */
export async function describeKey(ctx: Ctx, { findRate, version }: ServerFacts): Promise<WhoAmI> {
  const { id, profile } = ctx.key!;
  const [found] = await ctx.db
    .select({
      title: providers.title,
      label: apiKeys.label,
      expiresAt: apiKeys.expiresAt,
      now: sql<string>`now()::text`,
    })
    .from(apiKeys)
    .innerJoin(providers, eq(providers.id, apiKeys.providerId))
    .where(tenantWhere({ providerId: getSchoolId(ctx) }, apiKeys, eq(apiKeys.id, id)));
  if (!found || ctx.publishableFor?.isActive === false) throw Problem.notFound('School');
  const rate = findRate(ctx.tenantQueueKey);
  return {
    provider: { id: getSchoolId(ctx), title: found.title },
    key: { id, label: found.label, profile, expires_at: formatTimestamp(found.expiresAt) },
    rate_limit: rate ? { per_second: rate.perSecond, burst: rate.burst } : null,
    timezone: ctx.settings.timezone,
    server_time: formatTimestamp(found.now),
    version,
  };
}
