import { and, asc, eq, gt, type SQL } from 'drizzle-orm';
import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { Budget, Ctx } from '../core/context.ts';
import { Flag, List, OneOf } from '../schema/types.ts';
import { ResultTooLarge } from '../database/query-builder/result-bounds.ts';
import type { Filter, Filters } from './filters.ts';
import { findIdsByRange, orderBy, pageIds, preparedPage, type Order, type Slice } from './paging/page-queries.ts';
import { toKeySet, type BatchLoader, type Key } from './loaders.ts';
import { countOnce, nearestCursor, noPageHints, rememberCursor, setUpperBound } from './paging/page-hints.ts';
import { ownScope, type TenantScope, type TenantTable } from './tenant-scope.ts';
import { loadFitting, loadOne } from './response-budget.ts';
import type { Serializer } from './serializer.ts';

const [defaultLimit, maxLimit] = [75, 250];
const { MAX_SAFE_INTEGER } = Number;
const pageSize = Type.Integer({
  minimum: 1,
  maximum: MAX_SAFE_INTEGER,
  default: defaultLimit,
  description: `Above ${maxLimit} is ${maxLimit}`,
});
const pageNumber = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  default: 1,
  description: 'Past the end is an empty list',
});
const afterId = Type.Integer({ minimum: 0, maximum: MAX_SAFE_INTEGER, description: 'Only items with a greater id' });
const paging = { limit: Type.Optional(pageSize), page: Type.Optional(pageNumber), since_id: Type.Optional(afterId) };

type Paging = { limit?: number; page?: number; since_id?: number; include_deleted?: boolean; include?: string[] };
type ListQuery<F extends Filters> = Paging & { [K in keyof F]?: F[K] extends Filter<infer S> ? Static<S> : never };
type ItemListQuery = { include_deleted?: boolean; include?: string[] };

/** What a filter that is asked for asks of the database. */
type Condition = { name: string; filter: Filter; condition: SQL };

export type Page<T> = {
  items: T[];
  /** The ids of the items, in their order. */
  ids: number[];
  /** True if the page ends before its limit because of the budget of an answer. */
  isTruncated: boolean;
  /** Size of what was embedded, as read from the database. */
  embeddedBytes: number;
  page: number;
  limit: number;
  /** Whether there is more after this page. */
  more: boolean;
  /** What names the next page: `since_id`, which stays right while rows are added, unless others' items or another order forbid. */
  nextBy: 'since_id' | 'page';
  /** Where an incremental sync goes on from: the version before this page's data was read. */
  syncedThrough: string;
  /** How many items there are on all pages, when that was asked for. */
  total?: number;
};

const isOwn = ({ own, partnerIds }: TenantScope) => own && partnerIds.length === 0;

/**
 * A resource as a list: who may see it, how it may be filtered and ordered. Validation, types, SQL, the response schema
 * and the OpenAPI document follow from it. One query for a page's rows, one for each relation.
 */
export function defineList<Row extends Key, V extends TObject, F extends Filters>(spec: {
  table: TenantTable;
  serializer: Serializer<Row, V>;
  /** Which rows the provider may see, within its reach. Required: there is no list without it. */
  scope(ctx: Ctx, scope: TenantScope): SQL;
  /** For a resource that can be deleted: leaves deleted rows out, unless `include_deleted=true` asks for them. */
  notDeleted?: SQL;
  filters: F;
  /** By id unless given. */
  order?(query: ListQuery<F>): Order | undefined;
  /** Fetches rows by their ids, whatever their state, as what else refers to one does: exactly one for each, or the page ends too early. */
  fetch: BatchLoader<Row>;
}) {
  const { table, serializer, filters, notDeleted } = spec;

  const extras = {
    ...(notDeleted
      ? { include_deleted: Type.Optional(Flag({ default: false, description: 'true lists deleted items too' })) }
      : {}),
    ...(serializer.names.length > 0
      ? { include: Type.Optional(List(OneOf(serializer.names), { maxItems: 100, description: 'What to embed' })) }
      : {}),
  };
  const filtering = Object.fromEntries(
    Object.entries(filters).map(([name, { schema }]) => [name, Type.Optional(schema)]),
  );
  const Query = Type.Unsafe<ListQuery<F>>(Type.Object({ ...paging, ...filtering, ...extras }));
  const ItemQuery = Type.Unsafe<ItemListQuery>(Type.Object(extras));

  const visible = (ctx: Ctx, { include_deleted }: ItemListQuery, scope: TenantScope) =>
    and(ctx.guards.scope ? spec.scope(ctx, scope) : undefined, include_deleted ? undefined : notDeleted);

  const hasSelective = (query: ListQuery<F>) =>
    Object.entries(filters).some(([name, filter]) => query[name] !== undefined && filter.isSelective?.(query[name]));

  /** What the filters that are asked for ask of the database, by name. */
  async function buildConditions(ctx: Ctx, query: ListQuery<F>) {
    const found: Condition[] = [];
    const isSelected = hasSelective(query);
    for (const [name, filter] of Object.entries(filters)) {
      const condition = query[name] === undefined ? undefined : await filter.where(query[name], ctx, query, isSelected);
      if (condition !== undefined) found.push({ name, filter, condition });
    }
    return found;
  }

  const where = (ctx: Ctx, query: ListQuery<F>, scope: TenantScope, found: Condition[]) =>
    and(
      visible(ctx, query, scope),
      query.since_id === undefined ? undefined : gt(table.id, query.since_id),
      ...found.map(({ condition }) => condition),
    );

  const isOwnById = (query: ListQuery<F>, scope: TenantScope) => spec.order?.(query) === undefined && isOwn(scope);

  const loadPreparedPage = preparedPage(table, spec.fetch);

  /** The keys a page was found by, of one more than fit where there are more, and its rows where those came along. */
  async function find(
    ctx: Ctx,
    query: ListQuery<F>,
    scope: TenantScope,
    conditions: () => Promise<Condition[]>,
    slice: Slice,
  ): Promise<{ keys: Key[]; rows?: Row[] }> {
    const oneMore = { ...slice, limit: slice.limit + 1 };
    const found = await conditions();
    if (isOwnById(query, scope) && found.every(({ filter }) => filter.isConstant)) {
      const asked = found.map(({ name }) => `${name}=${JSON.stringify(query[name])}`);
      const statementKey = [query.include_deleted === true, ...asked].join(' ');
      const condition = (providerId: number) =>
        and(visible({ ...ctx, providerId }, query, scope), ...found.map((one) => one.condition));
      const rows = await loadPreparedPage(ctx, { statementKey, since_id: query.since_id, condition }, oneMore).catch(
        noneIfTooLarge,
      );
      if (rows) return { keys: rows, rows };
    }
    return { keys: await findIds(ctx, query, scope, found, oneMore) };
  }

  /** Planned as it has to be: for a range as it needs, else for the values that are asked for. */
  function findIds(
    ctx: Ctx,
    query: ListQuery<F>,
    scope: TenantScope,
    found: Condition[],
    slice: Slice,
  ): Promise<Key[]> {
    const order = spec.order?.(query) ?? { column: table.id };
    const condition = where(ctx, query, scope, found);
    // A range of what the page is ordered by is walked in that order.
    const columns = new Set(found.flatMap(({ filter: { range } }) => (range && range !== order.column ? range : [])));
    if (isOwn(scope) && columns.size > 0 && !hasSelective(query)) {
      const inScopeOfTenant = visible(ctx, { include_deleted: true }, scope);
      const after = query.since_id === undefined ? [] : [{ column: table.id, bounds: gt(table.id, query.since_id) }];
      const bounded = [...columns].map((column) => {
        const bounds = found.filter(({ filter }) => filter.range === column);
        return { column, bounds: and(...bounds.map(({ condition }) => condition)) };
      });
      const ranges = [...after, ...bounded].map(({ column, bounds }) => ({
        column,
        condition: and(inScopeOfTenant, bounds),
      }));
      return findIdsByRange(ctx, table, condition, ranges, order, slice);
    }
    return pageIds(ctx, table, condition, orderBy(table, order), slice).prepare('').execute();
  }

  /** With `counted` the total is told too: a count of its own, once it is known that this is not the last page. */
  async function page(
    ctx: Ctx,
    query: ListQuery<F>,
    { scope = ownScope, withTotal = false }: { scope?: TenantScope; withTotal?: boolean } = {},
  ): Promise<Page<Static<V>>> {
    const limit = Math.min(query.limit ?? defaultLimit, maxLimit);
    const page = query.page ?? 1;
    const before = (page - 1) * limit;
    const { pageHints = noPageHints } = ctx;
    // The same whatever page is asked for, and whatever is embedded.
    const queryKey = JSON.stringify({ ...query, page: undefined, limit: undefined, include: undefined });
    const isById = spec.order?.(query) === undefined;
    const hints = pageHints.find(queryKey);
    const end = isById ? nearestCursor(hints, before) : undefined;
    let asked: Promise<Condition[]> | undefined;
    const conditions = () => (asked ??= buildConditions(ctx, query));
    const slice = { limit, offset: before - (end?.count ?? 0) };
    // Who walks by page until one is empty asks for what is known not to be there.
    const isPastEnd = before >= (hints?.maxCount ?? Infinity);
    const from = end ? { ...query, since_id: end.id } : query;
    const { keys, rows } = isPastEnd ? { keys: [] } : await find(ctx, from, scope, conditions, slice);
    const isMore = keys.length > limit;
    if (isById && isMore) rememberCursor(pageHints.open(queryKey), { count: before + limit, id: keys[limit - 1]!.id });
    if (!isMore && before > 0) setUpperBound(pageHints.open(queryKey), before + keys.length);
    const isLast = !isMore && (keys.length > 0 || before === 0);
    const count = () => {
      if (isLast) return before + keys.length;
      return countOnce(pageHints.open(queryKey), async () =>
        ctx.db.$count(table, where(ctx, query, scope, await conditions())),
      );
    };
    const load = async (budget: Budget, pageKeys: Key[]) => {
      const context = { ...ctx, budget };
      const found = rows?.slice(0, pageKeys.length) ?? (await fetchInOrder(context, pageKeys));
      const items = await serializer.embed(context, found, query, query.include ?? []);
      return { items, ids: found.map(({ id }) => id) };
    };
    const pageKeys = keys.slice(0, limit);
    const [fitting, total] = await Promise.all([loadFitting(pageKeys, load), withTotal ? count() : undefined]);
    const isTruncated = fitting.count < pageKeys.length;
    return {
      ...fitting.loaded,
      isTruncated,
      embeddedBytes: fitting.bytes,
      page,
      limit,
      more: isMore || isTruncated,
      nextBy: isById && scope.partnerIds.length === 0 ? 'since_id' : 'page',
      syncedThrough: scope.syncedThrough ?? ctx.version,
      ...(total === undefined ? {} : { total }),
    };
  }

  /** The one item, or undefined when the provider may not see it. */
  async function byId(
    ctx: Ctx,
    id: number,
    query: ItemListQuery = {},
    { scope = ownScope, isAfterWrite = false } = {},
  ) {
    const condition = and(visible(ctx, query, scope), eq(table.id, id));
    const keys = await pageIds(ctx, table, condition, [asc(table.id)], { limit: 1, offset: 0 });
    const load = async (budget: Budget) => {
      const context = { ...ctx, budget };
      const [item] = await serializer.embed(context, await fetchInOrder(context, keys), query, query.include ?? []);
      return item;
    };
    return loadOne(load, { id, isAfterWrite });
  }

  /** The rows of these keys in their order; one that has gone meanwhile is left out. */
  async function fetchInOrder(ctx: Ctx, keys: Key[]) {
    if (keys.length === 0) return [];
    const rows = new Map((await spec.fetch(ctx, toKeySet(keys))).map((row) => [row.id, row]));
    return keys.flatMap(({ id }) => rows.get(id) ?? []);
  }

  return { Query, ItemQuery, View: serializer.schema, page, byId };
}

/** A page whose rows do not fit into one statement is found by its ids alone. */
function noneIfTooLarge(error: unknown): undefined {
  if (!(error instanceof ResultTooLarge)) throw error;
}
