import { and, asc, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import { gatheringInstructors, gatherings } from '../../database/tables/coursedates.ts';
import { instructors } from '../../database/tables/places.ts';
import { batchLoader, matchesKeys } from '../../lists/loaders.ts';
import { fetchNamed, hasMany, type Loader } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { toEmbeddedInstructor, type InstructorRow } from '../instructors/schema.ts';
import { shownInstructors } from '../instructors/serializer.ts';
import type { Location } from '../locations/schema.ts';
import { fetchLocations, locationShape } from '../locations/serializer.ts';
import { Gathering, toGathering, type GatheringRow } from './gathering-schema.ts';

const loadLocation: Loader<GatheringRow, Location | null> = async (ctx, rows, query) => {
  const found = await fetchNamed(ctx, rows, (row) => row.locationId, fetchLocations);
  const items = await locationShape.embed(ctx, found, query, []);
  const byId = new Map(items.map((item) => [item.id, item]));
  return (row) => byId.get(row.locationId ?? 0) ?? null;
};

const loadInstructors = hasMany(
  batchLoader((ctx, keys) =>
    ctx.db
      .select({ ownerId: gatheringInstructors.gatheringId, ...getTableColumns(instructors) })
      .from(gatheringInstructors)
      .innerJoin(
        instructors,
        and(
          eq(instructors.providerId, gatheringInstructors.providerId),
          eq(instructors.id, gatheringInstructors.instructorId),
        ),
      )
      .where(
        and(
          matchesKeys(gatheringInstructors.providerId, gatheringInstructors.gatheringId, keys),
          shownInstructors(ctx),
        ),
      )
      .orderBy(asc(instructors.id)),
  ),
  (row: InstructorRow & { ownerId: number }, ctx) => toEmbeddedInstructor(row, ctx),
);

export const gatheringShape = defineSerializer<GatheringRow>()({
  responseSchema: Gathering,
  relations: { instructors: loadInstructors, location: loadLocation },
  toResponse: toGathering,
  includes: {},
});

/** The gatherings of course dates, in order of time; the ones that an update has replaced are gone. */
export const fetchGatherings = batchLoader((ctx, keys) =>
  ctx.db
    .select({
      ...getTableColumns(gatherings),
      ownerId: gatherings.courseDateId,
      isFuture: sql<boolean>`${gatherings.startsAt} > now()`,
    })
    .from(gatherings)
    .where(and(matchesKeys(gatherings.providerId, gatherings.courseDateId, keys), isNull(gatherings.deletedAt)))
    .orderBy(asc(gatherings.startsAt), asc(gatherings.id)),
);
