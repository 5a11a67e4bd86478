import { and, eq, inArray, or, sql, type ColumnBaseConfig, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import type { Reader } from '../database/client.ts';

type IdColumn = PgColumn<ColumnBaseConfig<'number', string> & { data: number; notNull: true }>;
export type TenantTable = PgTable & { providerId: IdColumn; id: IdColumn };

/** Whose items a list shows: the provider's own, and of the approved partners named here what the public may see. */
export type TenantScope = {
  own: boolean;
  partnerIds: number[];
  /** With partners: up to when all that was committed shows, the instant a sync goes on from. */
  syncedThrough?: string;
};

export const ownScope: TenantScope = { own: true, partnerIds: [] };

/** The condition a reach puts on a table: nothing in reach is no row, never every row. */
export function inScope(ctx: Ctx, { own, partnerIds }: TenantScope, provider: PgColumn, isPublic: SQL): SQL {
  const mine = own ? eq(provider, ctx.providerId) : undefined;
  const theirs = partnerIds.length > 0 ? and(inArray(provider, partnerIds), isPublic) : undefined;
  return or(mine, theirs) ?? sql`false`;
}

/** Whether each of these ids is a row of the provider's own. */
export async function allBelongToTenant(
  ctx: Ctx,
  reader: Pick<Reader, '$count'>,
  table: PgTable & { providerId: PgColumn; id: PgColumn },
  ids: number[],
): Promise<boolean> {
  const requested = [...new Set(ids)];
  if (requested.length === 0) return true;
  return (
    (await reader.$count(table, tenantWhere(ctx, table, sql`${table.id} = any(${sql.param(requested)}::bigint[])`))) ===
    requested.length
  );
}

/** A condition on a table of the provider's own; every look-up outside a list begins with it. */
export const tenantWhere = (
  ctx: Pick<Ctx, 'providerId' | 'guards'>,
  table: { providerId: PgColumn },
  ...conditions: (SQL | undefined)[]
): SQL => and(ctx.guards.scope ? eq(table.providerId, ctx.providerId) : sql`true`, ...conditions)!;
