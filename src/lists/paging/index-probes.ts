import { and, asc, desc, gt, lt, not, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import { unionAll, type PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../database/context.ts';
import type { Key } from '../loaders.ts';
import type { TenantTable } from '../tenant-scope.ts';

export type Slice = { limit: number; offset: number };

/** An order by a column of the list's own table; rows with equal values are by id, in the same direction. */
export type Order = {
  column: PgColumn | SQL;
  descending?: boolean;
  /** Its name in `order_by`; undefined for an order that clients do not choose. */
  name?: string;
};

/** A row's place in an order: its id, and the value of the order's column, which is never null. */
export type Position = { id: number; place?: string | undefined };
export type PlacedKey = Key & Position;

/** True for the rows after a position. */
export function isAfter(table: TenantTable, { column, descending = false }: Order, { id, place }: Position): SQL {
  if (column === table.id) return descending ? lt(table.id, id) : gt(table.id, id);
  return sql`(${column}, ${table.id}) ${sql.raw(descending ? '<' : '>')} (${place}, ${id})`;
}

/** The exact value of a column as a text. By the name of the column, `order by` would sort the texts. */
const toPlace = (column: SQLWrapper) => sql<string>`${column}::text`.as('place_text');

export const orderBy = (table: TenantTable, { column, descending = false }: Order) =>
  [column, table.id].map(descending ? desc : asc);

/** Selects only the keys of a page, an index-only scan; the rows are loaded by them. `placedBy` adds their places. */
export const selectPageKeys = (
  ctx: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  order: SQL[],
  { limit, offset }: Slice,
  placedBy?: PgColumn | SQL,
) =>
  ctx.db
    .select({ providerId: table.providerId, id: table.id, ...(placedBy && { place: toPlace(placedBy) }) })
    .from(table)
    .where(condition)
    .orderBy(...order)
    .limit(limit)
    .offset(offset);

/** The database reads and sorts this number of rows in 1 to 2 ms. */
const sortThreshold = 5_000;

export type Probe = {
  /** The order of the index that finds the rows. */
  column?: PgColumn | SQL | undefined;
  condition: SQL | undefined;
  /** True if the condition is not part of the page's condition, which it follows from. */
  isAdditional?: boolean;
  /** True in the database if the condition leaves out rows, because too many match. */
  isBroad?: SQL | undefined;
};

/**
 * Page keys for indexed filters such as updated_at_min. PostgreSQL assumes matches are spread evenly over the ordering
 * index and scans most of it; if a filter matches at most 5,000 rows, those are read and sorted instead.
 */
export function findKeysByProbes(
  { db }: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  probes: Probe[],
  order: Order,
  { limit, offset }: Slice,
): Promise<PlacedKey[]> {
  const selectBy = (column: PgColumn | SQL | undefined, where: SQL | undefined) =>
    db
      .select({ providerId: table.providerId, id: table.id, place: sql`${order.column}`.as('place') })
      .from(table)
      .where(where)
      .orderBy(...(column ? orderBy(table, column === order.column ? order : { column }) : []));
  const counted = probes.map(({ column, condition, isBroad }, n) => {
    const oneMore = selectPageKeys({ db }, table, condition, column ? [asc(column)] : [], {
      limit: 1,
      offset: sortThreshold,
    });
    return db
      .$with(`probe_${n}`, {})
      .as(sql`select ${isBroad ? sql`${isBroad} or` : sql``} exists ${oneMore} as is_many`);
  });
  const isMany = counted.map((probe) => sql`(select is_many from ${probe})`);
  const directed = order.descending ? desc : asc;

  const scanned = selectBy(order.column, and(condition, ...isMany))
    .limit(limit)
    .offset(offset);
  const [first, ...rest] = probes.map(({ column, condition: found, isAdditional }, n) => {
    const all = selectBy(
      column,
      and(isAdditional ? found : undefined, condition, ...isMany.slice(0, n), not(isMany[n]!)),
    )
      .limit(sortThreshold)
      .as('few');
    return db.select().from(all).orderBy(directed(all.place), directed(all.id)).limit(limit).offset(offset);
  });
  const keys = unionAll(first!, scanned, ...rest).as('ids');
  // Without a statement name the plan is made for these values.
  return db
    .with(...counted)
    .select({ providerId: keys.providerId, id: keys.id, place: toPlace(keys.place) })
    .from(keys)
    .orderBy(directed(keys.place), directed(keys.id))
    .prepare('')
    .execute();
}
