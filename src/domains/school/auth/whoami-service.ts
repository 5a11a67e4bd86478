import { eq, sql } from 'drizzle-orm';
import { getSchoolId, type Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { apiKeys, providers } from '../../../database/tables/providers.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import type { WhoAmI } from './schema.ts';

export type ServerFacts = {
  /** The rate limit by fairness key. */
  findRate: (fairnessKey: number) => { perSecond: number; burst: number } | undefined;
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
  const rate = findRate(ctx.fairnessKey);
  return {
    provider: { id: getSchoolId(ctx), title: found.title },
    key: { id, label: found.label, profile, expires_at: formatTimestamp(found.expiresAt) },
    rate_limit: rate ? { per_second: rate.perSecond, burst: rate.burst } : null,
    timezone: ctx.settings.timezone,
    server_time: formatTimestamp(found.now),
    version,
  };
}
