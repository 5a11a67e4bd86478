import { and, inArray, or, sql, type ColumnBaseConfig, type Placeholder, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Ctx } from '../database/context.ts';
import { equalsTenant, equalTenants } from './tenant-predicate.ts';

type IdColumn = PgColumn<ColumnBaseConfig<'number', string> & { data: number; notNull: true }>;
export type TenantTable = PgTable & { providerId: IdColumn; id: IdColumn };

/** The provider that a statement is limited to: its id, or the placeholder of a prepared statement. */
export type Tenant = { providerId: number | Placeholder };

/** A list shows the provider's own items, and the public items of these approved partners. */
export type TenantScope = {
  own: boolean;
  partnerIds: number[];
  /** The timestamp up to which every committed change of the school and its partners is visible. */
  syncedThrough?: string;
};

export const isOwn = ({ own, partnerIds }: TenantScope) => own && partnerIds.length === 0;

const ownScope: TenantScope = { own: true, partnerIds: [] };

/** The provider's own items; with a publishable key, the public ones of its school. */
export const defaultScope = ({ publishableFor, version }: Pick<Ctx, 'publishableFor' | 'version'>): TenantScope =>
  publishableFor === undefined
    ? ownScope
    : { own: false, partnerIds: publishableFor.isActive ? [publishableFor.id] : [], syncedThrough: version };

export const allOf = (first: SQL, ...others: (SQL | undefined)[]): SQL => and(first, ...others)!;

/** Limits a table to the provider's rows; every query outside a list begins with it. */
export const tenantWhere = (tenant: Tenant, table: { providerId: PgColumn }, ...conditions: (SQL | undefined)[]): SQL =>
  allOf(equalsTenant(table.providerId, tenant.providerId), ...conditions);

/** Joins two tables of one provider. */
export const sameTenant = (
  one: { providerId: PgColumn },
  other: { providerId: PgColumn },
  ...conditions: (SQL | undefined)[]
): SQL => allOf(equalTenants(one.providerId, other.providerId), ...conditions);

/** The scope of a list that also shows the public rows of partners. An empty scope matches no row. */
export const inScope =
  ({ providerId }: { providerId: PgColumn }, isPublic: SQL) =>
  (tenant: Tenant, { own, partnerIds }: TenantScope): SQL => {
    const ownRows = own ? equalsTenant(providerId, tenant.providerId) : undefined;
    const partnerRows = partnerIds.length > 0 ? and(inArray(providerId, partnerIds), isPublic) : undefined;
    return or(ownRows, partnerRows) ?? sql`false`;
  };
