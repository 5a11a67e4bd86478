import { and, asc, eq, gt, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { Ctx } from '../core/context.ts';
import { Flag, List, OneOf } from '../core/schema.ts';
import type { Filter, Filters } from './filter.ts';
import { loadAll, type Include, type Includes, type Key, type Loaded, type Loaders } from './part.ts';
import { ownItems, type Reach } from './reach.ts';

export type TenantTable = PgTable & { providerId: PgColumn; id: PgColumn };

const mostItems = 250;
const { MAX_SAFE_INTEGER } = Number;
const pageSize = Type.Integer({ minimum: 1, maximum: MAX_SAFE_INTEGER, default: 75, description: 'Above 250 is 250' });
const pageNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1 });
const afterId = Type.Integer({ minimum: 0, maximum: MAX_SAFE_INTEGER, description: 'Only items with a greater id' });
const paging = { limit: Type.Optional(pageSize), page: Type.Optional(pageNumber), since_id: Type.Optional(afterId) };

type Paging = { limit?: number; page?: number; since_id?: number; include_deleted?: boolean };
type Asked<F extends Filters, I> = Paging & { include?: (keyof I)[] } & {
  [K in keyof F]?: F[K] extends Filter<infer S> ? Static<S> : never;
};
type Embedded<I> = { [K in keyof I]?: I[K] extends Include<never, infer S> ? Static<S> : never };

export type Page<T> = {
  items: T[];
  page: number;
  limit: number;
  /** Whether there is more after this page. */
  more: boolean;
  /** The id to walk on from; null for an empty page. */
  lastId: number | null;
};

/**
 * A resource as a list: who may see it, how it may be filtered, what is embedded. Validation, types, SQL, the response
 * schema and the OpenAPI document follow from it. One query for a page's rows, one for each relation.
 * Called as `listOf<Row>()({ … })`, so that the row's type is said once and everything else is inferred.
 */
export const listOf = <Row extends Key>() =>
  function define<V extends TObject, F extends Filters, L extends Loaders<Row>, I extends Includes<Row>>(spec: {
    table: TenantTable;
    /** Which rows the provider may see, within its reach. Required: there is no list without it. */
    scope(ctx: Ctx, reach: Reach): SQL;
    /** Leaves deleted rows out, unless `include_deleted=true` asks for them. */
    notDeleted: SQL;
    filters: F;
    /** Fetches the rows of the page that `ids` selects, in its order. */
    rows(ctx: Ctx, ids: PageIds): PromiseLike<Row[]>;
    /** What every item needs from other tables. */
    parts: L;
    view: V;
    toView(row: Row, parts: Loaded<L>, ctx: Ctx): Static<V>;
    /** What is embedded on request, by name. */
    includes: I;
  }) {
    const { table, scope, filters, includes, parts } = spec;
    const schemas = (declared: Record<string, { schema: TSchema }>) =>
      Object.fromEntries(Object.entries(declared).map(([name, { schema }]) => [name, Type.Optional(schema)]));

    const Query = Type.Unsafe<Asked<F, I>>(
      Type.Object({
        ...paging,
        ...schemas(filters),
        include_deleted: Type.Optional(Flag({ default: false, description: 'true lists deleted items too' })),
        include: Type.Optional(List(OneOf(Object.keys(includes)), { maxItems: 100 })),
      }),
    );
    const View = Type.Unsafe<Static<V> & Embedded<I>>(Type.Object({ ...spec.view.properties, ...schemas(includes) }));

    const where = (ctx: Ctx, query: Asked<F, I>, reach: Reach) =>
      and(
        ctx.guards.scope ? scope(ctx, reach) : undefined,
        query.include_deleted ? undefined : spec.notDeleted,
        query.since_id === undefined ? undefined : gt(table.id, query.since_id),
        ...Object.entries(filters).map(([name, filter]) =>
          query[name] === undefined ? undefined : filter.where(query[name], ctx, query),
        ),
      );

    async function embed(ctx: Ctx, rows: Row[], query: Asked<F, I>) {
      const asked = [...new Set(query.include)].map((name) => [name as string, includes[name]!.load] as const);
      const [always, onRequest] = await Promise.all([
        loadAll(ctx, Object.entries(parts), rows, query),
        loadAll(ctx, asked, rows, query),
      ]);
      return rows.map(
        (row) => ({ ...spec.toView(row, always(row) as Loaded<L>, ctx), ...onRequest(row) }) as Static<typeof View>,
      );
    }

    async function page(ctx: Ctx, query: Asked<F, I>, reach: Reach = ownItems): Promise<Page<Static<typeof View>>> {
      const limit = Math.min(query.limit ?? 75, mostItems);
      const page = query.page ?? 1;
      const found = await spec.rows(ctx, pageIds(ctx, table, where(ctx, query, reach), limit + 1, (page - 1) * limit));
      const rows = found.slice(0, limit);
      const items = rows.length === 0 ? [] : await embed(ctx, rows, query);
      return { items, page, limit, more: found.length > limit, lastId: rows.at(-1)?.id ?? null };
    }

    /** How many items there are on all pages: a count of its own, since a window count says 0 past the end. */
    const total = (ctx: Ctx, query: Asked<F, I>, reach: Reach = ownItems) =>
      ctx.db.$count(table, where(ctx, query, reach));

    return { Query, View, page, total };
  };

/** Ids first: a page is found in an index alone, then its rows are fetched. */
const pageIds = (ctx: Ctx, table: TenantTable, condition: SQL | undefined, limit: number, offset: number) =>
  ctx.db
    .select({ providerId: table.providerId, id: table.id })
    .from(table as PgTable)
    .where(condition)
    .orderBy(asc(table.id))
    .limit(limit)
    .offset(offset)
    .as('page');
export type PageIds = ReturnType<typeof pageIds>;

/** Joins a page's ids back to their table. */
export const onPage = (table: TenantTable, ids: PageIds) =>
  and(eq(table.providerId, ids.providerId), eq(table.id, ids.id));
