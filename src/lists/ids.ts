import { and, asc, gt, not, sql, type Placeholder, type SQL } from 'drizzle-orm';
import { unionAll, type PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import { wordedOnce, type Asking, type Key } from './keys.ts';
import type { TenantTable } from './list.ts';

/** Where a page lies among all that are found. */
export type Slice = { limit: number; offset: number };

/** Ids first: a page is found in an index alone, then its rows are fetched. */
export const pageIds = (
  ctx: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  order: SQL[],
  { limit, offset }: { limit: number | Placeholder; offset: number | Placeholder },
) =>
  ctx.db
    .select({ providerId: table.providerId, id: table.id })
    .from(table)
    .where(condition)
    .orderBy(...order)
    .limit(limit)
    .offset(offset);

const placeholder = (name: string) => sql.placeholder(name) as unknown as number;

/**
 * Finds the ids of a page in the order of ids, by a condition that is the same in all questions of one variant but for the
 * provider: put into words and planned once for each.
 */
export function plainIds(table: TenantTable) {
  const query = wordedOnce<Key, SQL | undefined>(({ db }, condition) => {
    const slice = { limit: sql.placeholder('limit'), offset: sql.placeholder('offset') };
    return pageIds({ db }, table, condition, [asc(table.id)], slice);
  });
  type Plain = { variant: string; since_id: number | undefined; condition(providerId: number): SQL | undefined };
  return (asking: Asking, plain: Plain, slice: Slice) => {
    const { providerId } = asking;
    const { variant, since_id, condition } = plain;
    const isSince = since_id !== undefined;
    const whole = () =>
      and(condition(placeholder('providerId')), isSince ? gt(table.id, sql.placeholder('since_id')) : undefined);
    return query(asking, `${variant} ${isSince}`, whole, { providerId, since_id, ...slice });
  };
}

/** So many are read and sorted in a millisecond or two. */
const few = 5_000;

/** What a range selects: the column, and the condition that it and the reach alone make. */
type Range = { column: PgColumn; condition: SQL | undefined };

/**
 * Finds the ids of a page in the order of ids, of what lies in ranges among other conditions. Where no more than a few lie in
 * one of them all of those are read and sorted, else the planner decides: it takes them to be spread among all ids, and would
 * walk through all that did not change to what a sync asks for, which changed last.
 */
export function idsInRanges(
  { db }: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  ranges: Range[],
  { limit, offset }: Slice,
): Promise<Key[]> {
  const inRange = ({ column }: Range, which: SQL | undefined, most: number) =>
    pageIds({ db }, table, which, [asc(column)], { limit: most, offset: 0 });
  const probes = ranges.map((range, n) => {
    const isMany = sql<boolean>`count(*) > ${few}`.as('is_many');
    return db.$with(`probe_${n}`).as(db.select({ isMany }).from(inRange(range, range.condition, few + 1).as('first')));
  });
  const many = probes.map((probe) => sql`(select is_many from ${probe})`);

  const ofMany = pageIds({ db }, table, and(condition, ...many), [asc(table.id)], { limit, offset });
  const [first, ...rest] = ranges.map((range, n) => {
    const all = inRange(range, and(condition, ...many.slice(0, n), not(many[n]!)), few).as('few');
    return db.select().from(all).orderBy(asc(all.id)).limit(limit).offset(offset);
  });
  const ids = unionAll(first!, ofMany, ...rest).as('ids');
  // Without a name it is planned for what is asked.
  return db
    .with(...probes)
    .select()
    .from(ids)
    .orderBy(asc(ids.id))
    .prepare('')
    .execute();
}
