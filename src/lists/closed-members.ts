import { or, sql, type SQL } from 'drizzle-orm';
import type { TObject, TSchema } from '@sinclair/typebox';
import { getTypes } from '../core/schema/coercion.ts';
import { findAccess, findProperties } from '../core/schema/types.ts';
import type { Ctx } from '../database/context.ts';
import type { Filter } from './filters.ts';
import type { Order } from './paging/index-probes.ts';
import { isOwn, tenantWhere, type TenantScope, type TenantTable } from './tenant-scope.ts';

type Reader = 'partner' | 'publishable';
type ReaderContext = Pick<Ctx, 'providerId' | 'publishableFor'>;

const readerIn = ({ publishableFor }: ReaderContext): Reader =>
  publishableFor === undefined ? 'partner' : 'publishable';

/** True if the member is shown to the reader of another provider's item. */
export const isOpen = (member: TSchema, ctx: ReaderContext) => findAccess(member)?.[readerIn(ctx)] === true;

/** A test of a member's path, such as `course.title`: true if the reader is shown it of another provider's item. */
export const findShown = (item: TSchema) => (path: string, ctx: ReaderContext) => {
  let member: TSchema | undefined = item;
  for (const name of path.split('.')) {
    member = findProperties(member)[name];
    if (!member || !isOpen(member, ctx)) return false;
  }
  return true;
};
export type IsShown = ReturnType<typeof findShown>;

/** Sets the members of another provider's item that the reader may not see to the empty values of their types. */
export function hideClosedMembers({ properties }: TObject) {
  const closedTo = (reader: Reader) => {
    const closed = Object.entries(properties).filter(([, member]) => findAccess(member)?.[reader] !== true);
    return Object.fromEntries(closed.map(([name, member]) => [name, toEmptyValue(member)]));
  };
  const hidden = { partner: closedTo('partner'), publishable: closedTo('publishable') };
  return <T extends object>(item: T, { providerId }: { providerId: number }, ctx: ReaderContext): T =>
    providerId === ctx.providerId ? item : Object.assign(item, hidden[readerIn(ctx)]);
}

const emptyByType: Record<string, unknown> = { null: null, string: '', integer: 0, number: 0, boolean: false };

/** Null where the schema allows it. */
export function toEmptyValue(schema: TSchema): unknown {
  const types = getTypes(schema);
  if (types.includes('null')) return null;
  if (types.includes('array')) return [];
  if (!types.includes('object')) return emptyByType[types[0]!];
  return Object.fromEntries(Object.entries(findProperties(schema)).map(([name, one]) => [name, toEmptyValue(one)]));
}

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
