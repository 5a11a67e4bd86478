import { and, asc, desc, gt, not, sql, type Placeholder, type SQL } from 'drizzle-orm';
import { unionAll, type PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../core/context.ts';
import { opaqueParam, type LoaderContext, type BatchLoader, type Key } from '../loaders.ts';
import type { TenantTable } from '../tenant-scope.ts';

/** Where a page lies among all that are found. */
export type Slice = { limit: number; offset: number };

/** By a column of the list's own table; rows with equal ones are by id, in the same direction. */
export type Order = { column: PgColumn; descending?: boolean };

export const orderBy = (table: TenantTable, { column, descending = false }: Order) =>
  [column, table.id].map(descending ? desc : asc);

/** Ids first: a page is found in an index alone, and its rows are fetched by them. */
export const pageIds = (
  ctx: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  order: SQL[],
  { limit, offset }: Slice,
) =>
  ctx.db
    .select({ providerId: table.providerId, id: table.id })
    .from(table)
    .where(condition)
    .orderBy(...order)
    .limit(limit)
    .offset(offset);

/** What a page in the order of ids is of: a condition that is the same in all questions of one variant but for the provider. */
type PreparedQuery = {
  statementKey: string;
  since_id: number | undefined;
  condition(providerId: number): SQL | undefined;
};

/** The query builder takes a number or a placeholder for it. */
const howMany = (name: string) => opaqueParam(sql.placeholder(name), 'bigint') as unknown as Placeholder;

/** Finds such a page and fetches its rows, with one query that is put into words and planned once for each variant. */
export function preparedPage<Row extends Key>(table: TenantTable, fetch: BatchLoader<Row>) {
  const getRows = fetch.loadFromSubquery();
  return async (
    querying: LoaderContext,
    { statementKey, since_id, condition }: PreparedQuery,
    { limit, offset }: Slice,
  ) => {
    const isSince = since_id !== undefined;
    const ids = (tenantParam: Placeholder) =>
      querying.db
        .select({ id: table.id })
        .from(table)
        .where(
          and(
            condition(tenantParam as unknown as number),
            isSince ? gt(table.id, sql.placeholder('since_id')) : undefined,
          ),
        )
        .orderBy(asc(table.id))
        .limit(howMany('limit'))
        .offset(howMany('offset'));
    const rows = await getRows(querying, `${statementKey} ${isSince}`, ids, { since_id, limit, offset });
    return rows.sort((one, other) => one.id - other.id);
  };
}

/** So many are read and sorted in a millisecond or two. */
const sortThreshold = 5_000;

/** What a range selects: the column, and the condition that it and the reach alone make. */
type Range = { column: PgColumn; condition: SQL | undefined };

/**
 * Finds the ids of a page of what lies in ranges among other conditions. Where no more than a few lie in one of them all of
 * those are read and sorted, else the planner decides: it takes them to be spread among all that there is in that order, and
 * would walk through all that did not change to what a sync asks for, which changed last.
 */
export function findIdsByRange(
  { db }: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  ranges: Range[],
  order: Order,
  { limit, offset }: Slice,
): Promise<Key[]> {
  const idsBy = (column: PgColumn, which: SQL | undefined) =>
    db
      .select({ providerId: table.providerId, id: table.id, place: sql`${order.column}`.as('place') })
      .from(table)
      .where(which)
      .orderBy(...orderBy(table, column === order.column ? order : { column }));
  const probes = ranges.map(({ column, condition }, n) => {
    const oneMore = pageIds({ db }, table, condition, [asc(column)], { limit: 1, offset: sortThreshold });
    return db.$with(`probe_${n}`, {}).as(sql`select exists ${oneMore} as is_many`);
  });
  const many = probes.map((probe) => sql`(select is_many from ${probe})`);
  const directed = order.descending ? desc : asc;

  const ofMany = idsBy(order.column, and(condition, ...many))
    .limit(limit)
    .offset(offset);
  const [first, ...rest] = ranges.map(({ column }, n) => {
    const all = idsBy(column, and(condition, ...many.slice(0, n), not(many[n]!)))
      .limit(sortThreshold)
      .as('few');
    return db.select().from(all).orderBy(directed(all.place), directed(all.id)).limit(limit).offset(offset);
  });
  const ids = unionAll(first!, ofMany, ...rest).as('ids');
  // Without a name it is planned for what is asked.
  return db
    .with(...probes)
    .select({ providerId: ids.providerId, id: ids.id })
    .from(ids)
    .orderBy(directed(ids.place), directed(ids.id))
    .prepare('')
    .execute();
}
