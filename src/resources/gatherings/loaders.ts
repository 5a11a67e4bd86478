import { and, asc, getTableColumns, isNull, sql } from 'drizzle-orm';
import { gatherings } from '../../database/tables/coursedates.ts';
import { batchLoader } from '../../lists/loaders.ts';

/** The gatherings of course dates, in order of time, without those that an update has replaced. */
export const fetchGatherings = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(gatherings),
      ownerId: gatherings.courseDateId,
      isFuture: sql<boolean>`${gatherings.startsAt} > now()`,
    })
    .from(gatherings)
    .where(and(keys.match(gatherings, gatherings.courseDateId), isNull(gatherings.deletedAt)))
    .orderBy(asc(gatherings.startsAt), asc(gatherings.id)),
);
