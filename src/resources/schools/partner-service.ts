import { asc, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import { partnerConnections, providers, providerState } from '../../database/tables/providers.ts';
import { defaultScope, tenantWhere, type TenantScope } from '../../lists/tenant-scope.ts';
import type { Connection, PartnerQuery } from './partner-schema.ts';

/**
 * Returns the tenant scope of a query, and the query with `provider` included if it names partners.
 * Throws `forbidden` for a `partner_id` without an approved connection, and for an unknown one.
 */
export async function resolvePartners<Q extends PartnerQuery & { include?: string[] }>(ctx: Ctx, query: Q) {
  const scope = await loadScope(ctx, query);
  const hasPartners = query.include_partners === true || query.partner_id !== undefined;
  return { scope, query: hasPartners ? { ...query, include: [...(query.include ?? []), 'provider'] } : query };
}

async function loadScope(ctx: Ctx, { include_partners, partner_id }: PartnerQuery): Promise<TenantScope> {
  if (partner_id === ctx.providerId || (partner_id === undefined && !include_partners)) return defaultScope(ctx);
  const approved = await ctx.db
    .select({
      id: partnerConnections.partnerId,
      isActive: sql<boolean>`${providers.isActive} and ${providers.closedAt} is null`,
      syncedThrough: sql<string>`${syncedThrough(ctx)}::text`,
      seconds: sql<number>`extract(epoch from ${syncedThrough(ctx)})::float8`,
    })
    .from(partnerConnections)
    .innerJoin(providers, eq(providers.id, partnerConnections.partnerId))
    .innerJoin(providerState, eq(providerState.providerId, partnerConnections.partnerId))
    .where(tenantWhere(ctx, partnerConnections, eq(partnerConnections.status, 'approved')));
  const active = approved.filter((partner) => partner.isActive);
  if (partner_id === undefined) return createScope(ctx, true, active);
  if (!approved.some((partner) => partner.id === partner_id)) {
    throw new Problem('forbidden', 'The partner connection is not approved');
  }
  return createScope(
    ctx,
    false,
    active.filter((partner) => partner.id === partner_id),
  );
}

/**
 * The instant up to which own and partner changes are complete: the partner's clock, but at least five minutes ago.
 * No transaction lasts that long, so an uncommitted change has a later timestamp.
 */
const syncedThrough = ({ version }: Ctx) =>
  sql`least(${version}::timestamptz, greatest(${providerState.changedAt}, now() - interval '5 minutes'))`;

type Partner = { id: number; syncedThrough: string; seconds: number };

function createScope({ version }: Ctx, own: boolean, partners: Partner[]): TenantScope {
  const earliest = partners.reduce((a, b) => (a.seconds < b.seconds ? a : b), {
    syncedThrough: version,
    seconds: Infinity,
  });
  return { own, partnerIds: partners.map(({ id }) => id), syncedThrough: earliest.syncedThrough };
}

export const requestPartner = (database: Database, providerId: number, partnerId: number) =>
  setStatus(database, providerId, partnerId, 'requested');

/** Lets `providerId` list the public items of `partnerId`, not the other way round. */
export const approvePartner = (database: Database, providerId: number, partnerId: number) =>
  setStatus(database, providerId, partnerId, 'approved');

export async function revokePartner(database: Database, providerId: number, partnerId: number) {
  if ((await database.db.$count(partnerConnections, pair(providerId, partnerId))) === 0)
    throw Problem.notFound('Partner connection');
  return setStatus(database, providerId, partnerId, 'revoked');
}

export const listPartners = (database: Database): Promise<Connection[]> =>
  database.db
    .select({
      provider_id: partnerConnections.providerId,
      partner_id: partnerConnections.partnerId,
      status: partnerConnections.status,
    })
    .from(partnerConnections)
    .orderBy(asc(partnerConnections.providerId), asc(partnerConnections.partnerId));

/** Returns the resulting status; a request never undoes an approval. */
async function setStatus(database: Database, providerId: number, partnerId: number, status: Connection['status']) {
  if (providerId === partnerId) throw new Problem('invalid', 'A provider cannot be its own partner');
  for (const id of [providerId, partnerId]) {
    if ((await database.db.$count(providers, eq(providers.id, id))) === 0) throw Problem.notFound(`Provider ${id}`);
  }
  return database.write([providerId, partnerId], ['school'], async (tx, now) => {
    tx.recordAffected(providerId);
    tx.recordAffected(partnerId);
    const set = await tx
      .insert(partnerConnections)
      .values({ providerId, partnerId, status, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({
        target: [partnerConnections.providerId, partnerConnections.partnerId],
        set: { status, updatedAt: now },
        ...(status === 'requested' ? { setWhere: eq(partnerConnections.status, 'revoked') } : {}),
      })
      .returning({ status: partnerConnections.status });
    if (set[0]) return set[0].status;
    const [current] = await tx
      .select({ status: partnerConnections.status })
      .from(partnerConnections)
      .where(pair(providerId, partnerId));
    return tx.rollbackNoChange(current!.status);
  });
}

const pair = (providerId: number, partnerId: number) =>
  tenantWhere({ providerId }, partnerConnections, eq(partnerConnections.partnerId, partnerId));
