import { locations } from '../../database/tables/places.ts';
import { batchLoader, type Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/schema.ts';
import { fetchInstructors } from '../instructors/serializer.ts';
import { toLocationPlace, type LocationPlace } from './place-schema.ts';
import { fetchPlaces } from './place-serializer.ts';
import { Location, locationColumns, toLocation, toPartnerLocation, type LocationRow } from './schema.ts';

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
  responseSchema: Location,
  relations: { place: loadPlace, instructor: loadInstructor },
  toResponse: (row, relations, ctx) =>
    row.providerId === ctx.providerId ? toLocation(row, relations, ctx) : toPartnerLocation(row, relations, ctx),
  includes: {},
});

/** Locations by their ids, archived ones too. */
export const fetchLocations = batchLoader((ctx, keys) =>
  ctx.db.select(locationColumns).from(locations).where(keys.match(locations, locations.id)),
);

export const includeLocation = <Row extends Key>(locationId: (row: Row) => number | null) =>
  relation.includeOne(locationId, fetchLocations, locationSerializer, 'shown');
