import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { hashApiKey, newApiKey } from '../../lib/api-key.ts';
import type { Ctx } from '../../core/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import { apiKeys } from '../../database/tables/providers.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';

/** Creates an API key, which is returned only here. `expires` is in the service's time zone. */
export async function createKey(ctx: Ctx, { label = '', expires }: { label?: string; expires?: string }) {
  const apiKey = newApiKey();
  const expiresAt = expires === undefined ? undefined : sql<string>`${expires}::timestamptz`;
  return ctx.write(['school'], async (tx, now) => {
    const [created] = await tx
      .insert(apiKeys)
      .values({ providerId: ctx.providerId, hash: hashApiKey(apiKey), label, createdAt: now, expiresAt })
      .returning({ id: apiKeys.id, isExpired: sql<boolean>`coalesce(${apiKeys.expiresAt} <= now(), false)` });
    return { keyId: tx.recordAffected(created!.id), apiKey, isExpired: created!.isExpired };
  });
}

export const listKeys = (ctx: Ctx) =>
  ctx.db
    .select({
      key_id: apiKeys.id,
      label: apiKeys.label,
      created_at: apiKeys.createdAt,
      expires_at: apiKeys.expiresAt,
      revoked_at: apiKeys.revokedAt,
      last_used_at: apiKeys.lastUsedAt,
    })
    .from(apiKeys)
    .where(tenantWhere(ctx, apiKeys))
    .orderBy(asc(apiKeys.id));

/** Revokes a key, effective immediately; idempotent. */
export async function revokeKey(database: Database, keyId: number) {
  const [key] = await database.db.select({ providerId: apiKeys.providerId }).from(apiKeys).where(eq(apiKeys.id, keyId));
  if (!key) throw Problem.notFound('Key');
  await database.write([key.providerId], ['school'], async (tx, now) => {
    const { rowCount } = await tx
      .update(apiKeys)
      .set({ revokedAt: now })
      .where(tenantWhere(key, apiKeys, eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)));
    if (rowCount === 0) {
      tx.rollbackNoChange();
      return;
    }
    tx.recordAffected(keyId);
  });
}

/** True for a key that is not revoked. */
export const isKnownKey = async ({ db }: Database, key: string) =>
  (await db.$count(apiKeys, and(eq(apiKeys.hash, hashApiKey(key)), isNull(apiKeys.revokedAt)))) > 0;
