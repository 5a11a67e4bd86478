import { and, asc, gt, not, sql, type Placeholder, type SQL } from 'drizzle-orm';
import { unionAll, type PgColumn } from 'drizzle-orm/pg-core';
import type { Ctx } from '../core/context.ts';
import { wordedOnce, type Asking, type Key } from './keys.ts';
import type { TenantTable } from './list.ts';

/** Where a page lies among all that are found. */
type Slice = { limit: number; offset: number };

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
  return ({ providerId, ...asking }: Asking & { providerId: number }, plain: Plain, slice: Slice) => {
    const { variant, since_id, condition } = plain;
    const isSince = since_id !== undefined;
    const whole = () =>
      and(condition(placeholder('providerId')), isSince ? gt(table.id, sql.placeholder('since_id')) : undefined);
    return query(asking, `${variant} ${isSince}`, whole, { providerId, since_id, ...slice });
  };
}

/** So many are sorted in some milliseconds. */
const few = 5_000;

/**
 * Finds the ids of a page in the order of ids, of what lies in a range of that column. Up to a few are all read and sorted;
 * of more some come soon in the order of ids. PostgreSQL would guess, and takes rows in a range to be spread among all: a
 * sync that asks for what changed last would walk through all that did not.
 */
export function idsInRange(
  { db }: Pick<Ctx, 'db'>,
  table: TenantTable,
  condition: SQL | undefined,
  range: PgColumn,
  { limit, offset }: Slice,
): Promise<Key[]> {
  const found = db.$with('found').as(pageIds({ db }, table, condition, [asc(range)], { limit: few + 1, offset: 0 }));
  const isMany = sql`(select count(*) from ${found}) > ${few}`;
  const ofFew = db.select().from(found).where(not(isMany)).orderBy(asc(found.id)).limit(limit).offset(offset);
  const ofMany = pageIds({ db }, table, and(condition, isMany), [asc(table.id)], { limit, offset });
  const ids = unionAll(ofFew, ofMany).as('ids');
  // Without a name it is planned for what is asked.
  return db.with(found).select().from(ids).orderBy(asc(ids.id)).prepare('').execute();
}
