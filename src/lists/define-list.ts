import { Type, type Static, type TObject } from '@sinclair/typebox';
import type { Budget, Ctx } from '../database/context.ts';
import type { Area } from '../database/areas.ts';
import { findShown } from './closed-members.ts';
import type { Filters } from './filters.ts';
import { itemParameters, getLimit, listParameters, type ItemQuery, type ListQuery } from './list-query.ts';
import type { ListSpec, Page, PageOptions } from './list-types.ts';
import { rowLoader, toKeySet, type BatchLoader, type Key } from './loaders.ts';
import { createPageFinder, type PageSource } from './paging/index.ts';
import { loadFitting, loadOne } from './response-budget.ts';
import { addSorting } from './sorting.ts';
import { allOf, defaultScope, inScope, tenantWhere, type Tenant, type TenantScope } from './tenant-scope.ts';

/**
 * Declares a list: the validated query, the SQL, the response schema and the OpenAPI parameters follow from it. One
 * query finds a page, and one loads each relation. It is limited to the tenant, with `isPublic` to public rows of
 * partners, too; `notDeleted` hides rows unless `include_deleted=true`; `fetch` loads rows by their keys, exactly one
 * for each.
 */
export function defineList<
  Row extends Key,
  V extends TObject,
  F extends Filters,
  // eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- most lists have no path filters
  P extends Filters = Record<never, never>,
  R extends keyof F = never,
>(spec: ListSpec<Row, V, F, P, R>) {
  const { serializer, spreadsheet, paging, fetch = rowLoader(spec.table) as unknown as BatchLoader<Row> } = spec;
  const { filters, order } = addSorting(spec);
  const finder = createPageFinder(toPageSource({ ...spec, ...(order && { order }), fetch }));
  const parameters = itemParameters(spec);
  const Query = Type.Unsafe<ListQuery<F, R>>(Type.Object({ ...listParameters({ ...spec, filters }), ...parameters }));

  async function page(
    ctx: Ctx,
    query: ListQuery<F> & ListQuery<P>,
    { scope = defaultScope(ctx), withTotal = false, after }: PageOptions = {},
  ): Promise<Page<Static<V>>> {
    const [limit, page] = [getLimit(query, paging), query.page ?? 1];
    const found = await finder.findPage(ctx, query, { scope, page, limit, after });
    const load = async (budget: Budget, from: number, to: number, isRetry: boolean) => {
      const context = { ...ctx, budget };
      const foundRows = isRetry ? undefined : found.rows?.slice(from, to);
      const rows = foundRows ?? (await fetchInOrder(fetch, context, found.keys.slice(from, to)));
      const items = await serializer.embed(context, rows, query, query.include ?? []);
      return items.map((item, n) => ({ item, id: rows[n]!.id }));
    };
    const [fitting, total] = await Promise.all([loadFitting(found.keys, load), withTotal ? found.count() : undefined]);
    const isTruncated = fitting.count < found.keys.length;
    return {
      items: fitting.loaded.map(({ item }) => item),
      ids: fitting.loaded.map(({ id }) => id),
      isTruncated,
      page,
      limit,
      hasMore: found.hasMore || isTruncated,
      nextBy: found.nextBy,
      lastKey: found.keys[fitting.count - 1],
      syncedThrough: scope.syncedThrough ?? ctx.version,
      ...(total === undefined ? {} : { total }),
    };
  }

  /** One item; undefined if it is not in scope. */
  async function byId(ctx: Ctx, id: number, query: ItemQuery = {}, { scope, isAfterWrite = false }: ItemOptions = {}) {
    const keys = await finder.findOne(ctx, id, query, scope ?? defaultScope(ctx));
    const load = async (budget: Budget | undefined) => {
      const context = { ...ctx, budget };
      const rows = await fetchInOrder(fetch, context, keys);
      const [item] = await serializer.embed(context, rows, query, query.include ?? []);
      return item;
    };
    return loadOne(load, { id, isAfterWrite });
  }

  const ItemQuery = Type.Unsafe<ItemQuery>(Type.Object(parameters));
  const schemas = { Query, ItemQuery, itemParameters: parameters, View: serializer.schema };
  return { ...schemas, spreadsheet, readAreas: readAreasWith(serializer), page, byId, exists: finder.exists };
}

type ItemOptions = { scope?: TenantScope; isAfterWrite?: boolean };

/** Areas that the response to a query depends on; those without includes, of most requests, are collected once. */
function readAreasWith({ readAreas }: { readAreas(includes: string[]): readonly Area[] }) {
  const own = readAreas([]);
  return ({ include }: { include?: string[] }) => (include?.length ? readAreas(include) : own);
}

function toPageSource<Row extends Key, V extends TObject, F extends Filters, P extends Filters, R extends keyof F>(
  spec: ListSpec<Row, V, F, P, R> & { fetch: BatchLoader<Row> },
): PageSource<Row> {
  const { table, isPublic, condition, notDeleted, order, fetch, readMembers } = spec;
  const ofTenant = isPublic ? inScope(table, isPublic) : (tenant: Tenant) => tenantWhere(tenant, table);
  return {
    scope: (tenant, scope) => allOf(ofTenant(tenant, scope), condition),
    ...{ table, fetch, ...(notDeleted && { notDeleted }) },
    filters: { ...spec.filters, ...spec.pathFilters },
    ...{ isShown: findShown(spec.serializer.schema), ...(readMembers && { readMembers }) },
    ...(order && { order: (query) => order(query as ListQuery<F>) }),
  };
}

/** Rows in the order of their keys, without those that were deleted meanwhile. */
async function fetchInOrder<Row extends Key>(fetch: BatchLoader<Row>, ctx: Ctx, keys: Key[]): Promise<Row[]> {
  if (keys.length === 0) return [];
  const rows = new Map((await fetch(ctx, toKeySet(keys))).map((row) => [row.id, row]));
  return keys.flatMap(({ id }) => rows.get(id) ?? []);
}
