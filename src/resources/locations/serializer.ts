import type { Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/schema.ts';
import { fetchInstructors } from '../instructors/loaders.ts';
import { fetchLocations } from './loaders.ts';
import { fetchPlaces } from './place-loaders.ts';
import { toLocationPlace, type LocationPlace } from './place-schema.ts';
import { Location, toLocation, toPartnerLocation, type LocationRow } from './schema.ts';

const loadPlace = relation.belongsTo(
  (row: LocationRow) => row.placeId,
  fetchPlaces,
  (place, { language }): LocationPlace => toLocationPlace(place, language),
);
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
  toResponse: (row, relations, ctx) =>
    row.providerId === ctx.providerId ? toLocation(row, relations, ctx) : toPartnerLocation(row, relations, ctx),
  includes: {},
});

export const includeLocation = <Row extends Key>(locationId: (row: Row) => number | null) =>
  relation.includeOne(locationId, fetchLocations, locationSerializer, 'shown');
