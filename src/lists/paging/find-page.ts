import { and, asc, eq, gt, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { type IsShown, limitToShown, shownOrder, type ReadMembers } from '../closed-members.ts';
import type { Filter, Filters } from '../filters.ts';
import { opaqueParam, type BatchLoader, type Key, type LoaderContext } from '../loaders.ts';
import type { ItemQuery } from '../list-query.ts';
import { newBudget, ResponseTooLarge } from '../response-budget.ts';
import { defaultScope, isOwn, type Tenant, type TenantScope, type TenantTable } from '../tenant-scope.ts';
import { countOnce, nearestCursor, noPageHints, rememberCursor, setUpperBound } from './page-hints.ts';
import {
  findKeysByProbes,
  isAfter,
  orderBy,
  selectPageKeys,
  type Order,
  type PlacedKey,
  type Position,
  type Probe,
  type Slice,
} from './index-probes.ts';

type Query = { since_id?: number; include_deleted?: boolean } & Record<string, unknown>;
/** `found` is the condition that an index finds rows by, and `isBroad` is true in the database if it leaves some out. */
type Condition = { name: string; filter: Filter; condition: SQL; found: SQL; isBroad: SQL | undefined };

export type PageSource<Row extends Key> = ReadMembers & {
  table: TenantTable;
  scope(tenant: Tenant, scope: TenantScope): SQL;
  notDeleted?: SQL;
  filters: Filters;
  isShown: IsShown;
  order?(query: Query): Order | undefined;
  fetch: BatchLoader<Row>;
};

export type FoundPage<Row> = {
  keys: PlacedKey[];
  /** Present where the rows came with the keys. */
  rows?: Row[];
  /** True if there are more items after this page. */
  hasMore: boolean;
  /** Number of items on all pages. */
  count(): number | Promise<number>;
  nextBy: 'since_id' | 'page';
};

/**
 * Finds the keys of a page by the cheapest of three ways: a prepared statement in the order of ids, index probes, or a
 * statement planned for its values. Page hints shorten offsets and counts; without `ctx.pageHints` none are used.
 */
export function createPageFinder<Row extends Key>(source: PageSource<Row>) {
  const { table, fetch } = source;
  const loadPreparedPage = preparedPage(table, fetch);

  /** Page `page` (from 1) of `limit` items, of those after a position if there is one. */
  async function findPage(
    ctx: Ctx,
    input: Query,
    { scope, page, limit, after }: PagePosition & { scope: TenantScope },
  ): Promise<FoundPage<Row>> {
    const offset = (page - 1) * limit;
    const order = shownOrder(source, source.order?.(input), ctx, scope);
    const isById = order === undefined;
    const query = after && isById ? { ...input, since_id: after.id } : input;
    const { pageHints = noPageHints } = ctx;
    const queryKey = JSON.stringify({ ...query, page: undefined, limit: undefined, include: undefined });
    const hints = pageHints.find(queryKey);
    const cursor = isById ? nearestCursor(hints, offset) : undefined;
    let pending: Promise<Condition[]> | undefined;
    const conditions = () => (pending ??= buildConditions(source, ctx, query, scope));

    const find = async (): Promise<{ keys: PlacedKey[]; rows?: Row[] }> => {
      const from = cursor ? { ...query, since_id: cursor.id } : query;
      const oneMore = { limit: limit + 1, offset: offset - (cursor?.count ?? 0) };
      const request = { ctx, query: from, scope, conditions: await conditions(), order, slice: oneMore, after };
      const rows = await findPrepared(source, loadPreparedPage, request);
      return rows ? { keys: rows, rows } : { keys: await findKeys(source, request) };
    };
    const isPastEnd = offset >= (hints?.maxCount ?? Infinity);
    const { keys, rows } = isPastEnd ? { keys: [] } : await find();
    const hasMore = keys.length > limit;
    if (isById && hasMore) rememberCursor(pageHints.open(queryKey), { count: offset + limit, id: keys[limit - 1]!.id });
    if (!hasMore && offset > 0) setUpperBound(pageHints.open(queryKey), offset + keys.length);
    const isLast = !hasMore && (keys.length > 0 || offset === 0);
    const count = async () => ctx.db.$count(table, where(source, ctx, query, scope, await conditions()));
    return {
      keys: keys.slice(0, limit),
      ...(rows && { rows }),
      hasMore,
      count: () => (isLast ? offset + keys.length : countOnce(pageHints.open(queryKey), count)),
      nextBy: isById && isOfOneProvider(ctx, scope) ? 'since_id' : 'page',
    };
  }

  /** The key of one item in scope, if there is one. */
  const findOne = (ctx: Ctx, id: number, query: Query, scope: TenantScope): Promise<Key[]> =>
    selectPageKeys(ctx, table, and(visible(source, ctx, query, scope), eq(table.id, id)), [asc(table.id)], {
      limit: 1,
      offset: 0,
    }).execute();

  /** True if the item is in scope. */
  const exists = async (ctx: Ctx, id: number, query: ItemQuery = {}, { scope = defaultScope(ctx) } = {}) =>
    (await findOne(ctx, id, query, scope)).length > 0;

  return { findPage, findOne, exists };
}

type Source = Omit<PageSource<never>, 'fetch'>;
type PagePosition = { page: number; limit: number; after: Position | undefined };
type PageRequest = {
  ctx: Ctx;
  query: Query;
  scope: TenantScope;
  conditions: Condition[];
  order: Order | undefined;
  slice: Slice;
  after: Position | undefined;
};

const visible = ({ scope: scoped, notDeleted }: Source, tenant: Tenant, query: Query, scope: TenantScope) =>
  and(scoped(tenant, scope), query.include_deleted ? undefined : notDeleted);

const where = (source: Source, ctx: Ctx, query: Query, scope: TenantScope, conditions: Condition[]) =>
  and(
    visible(source, ctx, query, scope),
    query.since_id === undefined ? undefined : gt(source.table.id, query.since_id),
    ...conditions.map(({ condition }) => condition),
  );

/** Only constant predicates make a statement worth preparing; undefined for others, and for rows beyond the bound. */
async function findPrepared<Row extends Key>(
  source: Source,
  loadPreparedPage: ReturnType<typeof preparedPage<Row>>,
  { ctx, query, scope, conditions, order, slice }: PageRequest,
): Promise<Row[] | undefined> {
  const isConstant = conditions.every(({ filter }) => filter.isConstant);
  if (order !== undefined || !isOwn(scope) || !isConstant) return undefined;
  const values = conditions.map(({ name }) => `${name}=${JSON.stringify(query[name])}`);
  const statementKey = [query.include_deleted === true, ...values].join(' ');
  const condition = (providerId: Tenant['providerId']) =>
    and(visible(source, { providerId }, query, scope), ...conditions.map((one) => one.condition));
  try {
    return await loadPreparedPage(
      { ...ctx, budget: newBudget() },
      { statementKey, since_id: query.since_id, condition },
      slice,
    );
  } catch (error) {
    if (error instanceof ResponseTooLarge) return undefined;
    throw error;
  }
}

function findKeys(source: Source, request: PageRequest): Promise<PlacedKey[]> {
  const { ctx, query, scope, conditions, order: ordered, slice } = request;
  const { table, filters } = source;
  const order = ordered ?? { column: table.id };
  const isLater = ordered && request.after && isAfter(table, ordered, request.after);
  const condition = and(where(source, ctx, query, scope, conditions), isLater);
  const probes = isOwn(scope) && !hasSelective(filters, query) ? getProbes(conditions, order) : [];
  if (probes.length === 0) {
    return selectPageKeys(ctx, table, condition, orderBy(table, order), slice, ordered?.column).prepare('').execute();
  }
  const tenant = visible(source, ctx, { include_deleted: true }, scope);
  const after = query.since_id === undefined ? [] : [{ column: table.id, condition: gt(table.id, query.since_id) }];
  const scoped = [...after, ...probes].map((one) => ({ ...one, condition: and(tenant, one.condition) }));
  return findKeysByProbes(ctx, table, condition, scoped, order, slice);
}

/** Own items, or those of the school of a publishable key; by `since_id` a list of partners could miss rows. */
const isOfOneProvider = ({ publishableFor }: Ctx, { partnerIds }: TenantScope) =>
  partnerIds.length === 0 || publishableFor !== undefined;

const hasSelective = (filters: Filters, query: Query) =>
  Object.entries(filters).some(([name, filter]) => query[name] !== undefined && filter.isSelective?.(query[name]));

async function buildConditions(source: Source, ctx: Ctx, query: Query, scope: TenantScope): Promise<Condition[]> {
  const { filters } = source;
  const conditions: Condition[] = [];
  const isSelective = hasSelective(filters, query);
  for (const [name, filter] of Object.entries(filters)) {
    const value = query[name];
    const condition = value === undefined ? undefined : await filter.where(value, ctx, query, isSelective);
    if (condition === undefined) continue;
    const shown = limitToShown(source, { name, filter, value, condition }, ctx, scope);
    const { indexed } = filter;
    const found = indexed?.condition?.(value, ctx) ?? shown;
    conditions.push({ name, filter, condition: shown, found, isBroad: indexed?.isBroad?.(value, ctx) });
  }
  return conditions;
}

/** The indexed conditions, one for each column, but for the column that orders the page, whose index finds its range. */
function getProbes(conditions: Condition[], order: Order): Probe[] {
  const probes = new Map<unknown, Probe>();
  for (const { filter, condition, found, isBroad } of conditions) {
    const { column } = filter.indexed ?? {};
    if (!filter.indexed || column === order.column) continue;
    const key = column ?? filter;
    const all = and(probes.get(key)?.condition, found);
    probes.set(key, { column, condition: all, isAdditional: found !== condition, isBroad });
  }
  return [...probes.values()];
}

type PreparedQuery = {
  /** Equal for queries whose conditions differ by the provider alone. */
  statementKey: string;
  since_id: number | undefined;
  condition(providerId: Placeholder): SQL | undefined;
};

/** Finds a page in the order of ids and loads its rows with one statement, prepared once for each `statementKey`. */
function preparedPage<Row extends Key>(table: TenantTable, loader: BatchLoader<Row>) {
  const load = loader.loadFromSubquery();
  return async (
    context: LoaderContext,
    { statementKey, since_id, condition }: PreparedQuery,
    { limit, offset }: Slice,
  ): Promise<Row[]> => {
    const isSince = since_id !== undefined;
    const ids = (providerId: Placeholder) => {
      const ordered = context.db
        .select({ id: table.id })
        .from(table)
        .where(and(condition(providerId), isSince ? gt(table.id, sql.placeholder('since_id')) : undefined))
        .orderBy(asc(table.id));
      const number = (name: string) => opaqueParam(sql.placeholder(name), 'bigint');
      return sql`(${ordered.getSQL()} limit ${number('limit')} offset ${number('offset')})`;
    };
    const rows = await load(context, `${statementKey} ${isSince}`, ids, { since_id, limit, offset });
    return rows.sort((one, other) => one.id - other.id);
  };
}
