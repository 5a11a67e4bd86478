import { Type } from '@sinclair/typebox';
import { eq, sql } from 'drizzle-orm';
import { Problem } from '../../../core/errors.ts';
import { t } from '../../../core/schema/types.ts';
import type { Area } from '../../../database/areas.ts';
import type { Ctx } from '../../../database/context.ts';
import { partnerConnections, providers, providerState } from '../../../database/tables/providers.ts';
import { filter } from '../../../lists/filters.ts';
import { defaultScope, tenantWhere, type TenantScope } from '../../../lists/tenant-scope.ts';

/** Parameters of a list `withPartners`. */
export const partnerParameters = {
  include_partners: filter.parameter(
    Type.Boolean({ default: false, description: "true adds approved partners' public items" }),
  ),
  partner_id: filter.parameter({
    ...t.Id,
    description: 'Only the public items of this approved partner; own items unless sent',
  }),
};
type PartnerQuery = { include_partners?: boolean; partner_id?: number; include?: string[] };

const notApproved = () => new Problem('forbidden', 'The partner connection is not approved');

/** The 403 response of a route. */
const forbidden = {
  name: 'PartnerForbidden',
  description: 'The partner is not approved, or the profile of the key does not allow it',
  samples: { forbidden: notApproved() },
};

type List = {
  readAreas(query: PartnerQuery): readonly Area[];
  page(ctx: Ctx, query: PartnerQuery, options?: object): Promise<unknown>;
  byId(ctx: Ctx, id: number, query?: PartnerQuery, options?: object): Promise<unknown>;
  exists(ctx: Ctx, id: number, query?: PartnerQuery, options?: object): Promise<boolean>;
};

type Partnered<L> = Omit<L, 'readAreas'> & {
  /** Undefined for a query with partners. */
  readAreas(query: PartnerQuery): readonly Area[] | undefined;
  forbidden: typeof forbidden;
};

/** True for queries that read items of other schools. */
const readsPartners = ({ include_partners, partner_id }: PartnerQuery) =>
  include_partners === true || partner_id !== undefined;

/** The list in the scope that `partnerParameters` of a query name: the provider's own items by default. */
export const withPartners = <L extends List>(list: L): Partnered<L> => ({
  ...list,
  forbidden,
  readAreas: (query: PartnerQuery) => (readsPartners(query) ? undefined : list.readAreas(query)),
  async page(ctx: Ctx, input: PartnerQuery, options?: object) {
    const { query, scope } = await resolvePartners(ctx, input);
    return list.page(ctx, query, { ...options, scope });
  },
  async byId(ctx: Ctx, id: number, input: PartnerQuery = {}, options?: object) {
    const { query, scope } = await resolvePartners(ctx, input);
    return list.byId(ctx, id, query, { ...options, scope });
  },
  async exists(ctx: Ctx, id: number, input: PartnerQuery = {}, options?: object) {
    const { query, scope } = await resolvePartners(ctx, input);
    return list.exists(ctx, id, query, { ...options, scope });
  },
});

/** Returns the scope of a query, `provider` included if it names partners; `forbidden` for one without a connection. */
async function resolvePartners<Q extends PartnerQuery>(ctx: Ctx, query: Q) {
  const scope = await loadScope(ctx, query);
  return { scope, query: readsPartners(query) ? { ...query, include: [...(query.include ?? []), 'provider'] } : query };
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
  if (!approved.some((partner) => partner.id === partner_id)) throw notApproved();
  return createScope(
    ctx,
    false,
    active.filter((partner) => partner.id === partner_id),
  );
}

/** The instant up to which changes are complete: at least five minutes ago, longer than any transaction lasts. */
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
