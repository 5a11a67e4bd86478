import { member } from '../../core/schema/types.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/schema.ts';
import { fetchInstructors } from '../instructors/loaders.ts';
import { fetchLocations } from './loaders.ts';
import { loadPlace } from '../places/serializer.ts';
import { Location, toLocation, type LocationRow } from './schema.ts';

const loadInstructor = relation.belongsTo(
  (row: LocationRow) => row.instructorId,
  fetchInstructors,
  (row, ctx) =>
    row.providerId === ctx.providerId || (row.showOnWeb && row.archivedAt === null)
      ? toEmbeddedInstructor(row, ctx)
      : null,
);

export const locationSerializer = defineSerializer<LocationRow>()({
  reads: ['catalog'],
  responseSchema: Location,
  relations: { place: loadPlace, instructor: loadInstructor },
  // A partner's instructor that is not shown has no id either.
  toResponse: (row, relations, ctx) =>
    Object.assign(toLocation(row, relations, ctx), { idInstructor: relations.instructor?.id ?? null }),
});

export const includeLocation = relation.includer(fetchLocations, locationSerializer, member.open);
