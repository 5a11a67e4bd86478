import { or, sql, type SQL } from 'drizzle-orm';
import type { Ctx } from '../database/context.ts';
import type { IsShown } from './closed-members.ts';
import type { Filter } from './filter-types.ts';
import type { Order } from './paging/index-probes.ts';
import { isOwn, tenantWhere, type TenantScope, type TenantTable } from './tenant-scope.ts';

export type ReadMembers = {
  /**
   * The members that a filter or an order reads, by its name without `_min` or `_max`; the one of that name by
   * default. Of other providers' items it matches none unless the reader is shown them all.
   */
  readMembers?: Record<string, readonly string[]>;
};
type Source = ReadMembers & { table: TenantTable; isShown: IsShown };
type Applied = { name: string; filter: Filter; value: unknown; condition: SQL };

const readsShown = ({ isShown, readMembers = {} }: Source, name: string, ctx: Ctx) =>
  (readMembers[name] ?? [name]).every((member) => isShown(member, ctx));

/** The condition of a filter, which other providers' rows meet by members alone that the reader is shown of them. */
export function limitToShown(
  source: Source,
  { name, filter, value, condition }: Applied,
  ctx: Ctx,
  scope: TenantScope,
): SQL {
  if (isOwn(scope) || readsShown(source, name.replace(/_(?:min|max)$/, ''), ctx)) return condition;
  const own = scope.own ? tenantWhere(ctx, source.table, condition) : undefined;
  const isShown = (member: string) => source.isShown(member, ctx);
  return or(own, filter.whereShown?.(value, ctx, isShown)) ?? sql`false`;
}

/** An order by a member that the reader is not shown of all items is one by id. */
export function shownOrder(source: Source, order: Order | undefined, ctx: Ctx, scope: TenantScope): Order | undefined {
  if (order?.name === undefined || isOwn(scope) || readsShown(source, order.name, ctx)) return order;
  return { ...order, column: source.table.id };
}
