import { and, asc, desc, not, sql, type SQL } from 'drizzle-orm';
import { unionAll, type PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../database/context.ts';
import type { Key } from '../loaders.ts';
import type { TenantTable } from '../tenant-scope.ts';

export type Slice = { limit: number; offset: number };

/** An order by a column of the list's own table; rows with equal values are by id, in the same direction. */
export type Order = { column: PgColumn; descending?: boolean };

export const orderBy = (table: TenantTable, { column, descending = false }: Order) =>
  [column, table.id].map(descending ? desc : asc);

/** Selects only the keys of a page, an index-only scan; the rows are loaded by them. */
export const selectPageKeys = (
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

/** The database reads and sorts this number of rows in 1 to 2 ms. */
const sortThreshold = 5_000;

/** A bounded column, with the condition that its bounds and the tenant scope make. */
export type Range = { column: PgColumn; condition: SQL | undefined };

/**
 * Page keys for range filters such as updated_at_min. PostgreSQL assumes matches are spread evenly over the ordering
 * index and scans most of it; if a range holds at most 5,000 rows, those are read and sorted instead.
 */
export function findKeysByRange(
  { db }: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  ranges: Range[],
  order: Order,
  { limit, offset }: Slice,
): Promise<Key[]> {
  const selectBy = (column: PgColumn, where: SQL | undefined) =>
    db
      .select({ providerId: table.providerId, id: table.id, place: sql`${order.column}`.as('place') })
      .from(table)
      .where(where)
      .orderBy(...orderBy(table, column === order.column ? order : { column }));
  const probes = ranges.map(({ column, condition }, n) => {
    const oneMore = selectPageKeys({ db }, table, condition, [asc(column)], { limit: 1, offset: sortThreshold });
    return db.$with(`probe_${n}`, {}).as(sql`select exists ${oneMore} as is_many`);
  });
  const isMany = probes.map((probe) => sql`(select is_many from ${probe})`);
  const directed = order.descending ? desc : asc;

  const scanned = selectBy(order.column, and(condition, ...isMany))
    .limit(limit)
    .offset(offset);
  const [first, ...rest] = ranges.map(({ column }, n) => {
    const all = selectBy(column, and(condition, ...isMany.slice(0, n), not(isMany[n]!)))
      .limit(sortThreshold)
      .as('few');
    return db.select().from(all).orderBy(directed(all.place), directed(all.id)).limit(limit).offset(offset);
  });
  const keys = unionAll(first!, scanned, ...rest).as('ids');
  // Without a statement name the plan is made for these values.
  return db
    .with(...probes)
    .select({ providerId: keys.providerId, id: keys.id })
    .from(keys)
    .orderBy(directed(keys.place), directed(keys.id))
    .prepare('')
    .execute();
}
