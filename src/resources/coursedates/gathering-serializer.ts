import { and, asc, getTableColumns, isNull, sql } from 'drizzle-orm';
import { gatheringInstructors, gatherings } from '../../database/tables/coursedates.ts';
import { batchLoader } from '../../lists/loaders.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { loadLinkedInstructors } from '../instructors/serializer.ts';
import { includeLocation } from '../locations/serializer.ts';
import { Gathering, toGathering, type GatheringRow } from './gathering-schema.ts';

export const gatheringSerializer = defineSerializer<GatheringRow>()({
  responseSchema: Gathering,
  relations: { instructors: loadLinkedInstructors(gatheringInstructors, gatheringInstructors.gatheringId) },
  toResponse: toGathering,
  includes: { location: includeLocation((row: GatheringRow) => row.locationId) },
  requiredIncludes: ['location'],
});

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
