import { and, asc, getTableColumns, isNull, sql } from 'drizzle-orm';
import * as tables from '../../database/tables/coursedates.ts';
import { batchLoader } from '../../lists/loaders.ts';

/** The gatherings of course dates, in order of time, without those that an update has replaced. */
export const fetchGatherings = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(tables.gatherings),
      ownerId: tables.gatherings.courseDateId,
      isFuture: sql<boolean>`${tables.gatherings.startsAt} > now()`,
    })
    .from(tables.gatherings)
    .where(and(keys.match(tables.gatherings, tables.gatherings.courseDateId), isNull(tables.gatherings.deletedAt)))
    .orderBy(asc(tables.gatherings.startsAt), asc(tables.gatherings.id)),
);
