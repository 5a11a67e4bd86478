import { member } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/schema.ts';
import { fetchInstructors } from '../instructors/loaders.ts';
import { fetchLocations } from './loaders.ts';
import { loadPlace } from '../places/serializer.ts';
import { ListedLocation, Location, toLocation, type LocationRow } from './schema.ts';

const loadInstructor = relation.belongsTo(
  (row: LocationRow) => row.instructorId,
  fetchInstructors,
  (row, ctx) =>
    row.providerId === ctx.providerId || (row.showOnWeb && row.archivedAt === null)
      ? toEmbeddedInstructor(row, ctx)
      : null,
);

const relations = { place: loadPlace, instructor: loadInstructor };
type Values = Parameters<typeof toLocation>[1];

/** A partner's instructor that is not shown has no id either. */
const toResponse = (row: LocationRow, values: Values, ctx: Ctx) =>
  Object.assign(toLocation(row, values, ctx), { idInstructor: values.instructor?.id ?? null });

const locationSerializer = defineSerializer<LocationRow>()({
  reads: ['catalog'],
  responseSchema: Location,
  relations,
  toResponse,
});

export const listedLocationSerializer = defineSerializer<LocationRow>()({
  reads: ['catalog'],
  responseSchema: ListedLocation,
  relations,
  toResponse: (row, values, ctx) =>
    Object.assign(toResponse(row, values, ctx), { updated_at: formatTimestamp(row.updatedAt) }),
});

export const includeLocation = relation.includer(fetchLocations, locationSerializer, member.open);
