import { member } from '../../../core/schema/types.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/fields.ts';
import { fetchInstructors } from '../instructors/loaders.ts';
import { fetchLocations } from './loaders.ts';
import { loadPlace } from '../places/serializer.ts';
import { ListedLocation, Location, toListedLocation, toLocation, type LocationRow } from './fields.ts';

const loadInstructor = relation.belongsTo(
  (row: LocationRow) => row.instructorId,
  fetchInstructors,
  (row, ctx) =>
    row.providerId === ctx.providerId || (row.showOnWeb && row.archivedAt === null)
      ? toEmbeddedInstructor(row, ctx)
      : null,
);

const common = { reads: ['catalog'] as const, relations: { place: loadPlace, instructor: loadInstructor } };
const locationSerializer = defineSerializer<LocationRow>()({
  ...common,
  responseSchema: Location,
  toResponse: toLocation,
});
export const listedLocationSerializer = defineSerializer<LocationRow>()({
  ...common,
  responseSchema: ListedLocation,
  toResponse: toListedLocation,
});

export const includeLocation = relation.includer(fetchLocations, locationSerializer, member.open);
