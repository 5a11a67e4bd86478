import { locations } from '../../database/tables/places.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { one } from '../../lists/relations.ts';
import { shapeOf } from '../../lists/serializer.ts';
import { toEmbeddedInstructor } from '../instructors/schema.ts';
import { fetchInstructors } from '../instructors/serializer.ts';
import { toLocationPlace, type LocationPlace } from './place-schema.ts';
import { fetchPlaces } from './place-serializer.ts';
import { Location, locationColumns, toLocation, toPartnerLocation, type LocationRow } from './schema.ts';

const placeOf = one(
  (row: LocationRow) => row.placeId,
  fetchPlaces,
  (place, { language }): LocationPlace => toLocationPlace(place, language),
);
const instructorOf = one(
  (row: LocationRow) => row.instructorId,
  fetchInstructors,
  (row, ctx) =>
    row.providerId === ctx.providerId || (row.showOnWeb && row.archivedAt === null)
      ? toEmbeddedInstructor(row, ctx)
      : null,
);

export const locationShape = shapeOf<LocationRow>()({
  view: Location,
  parts: { place: placeOf, instructor: instructorOf },
  toView: (row, parts, ctx) =>
    row.providerId === ctx.providerId ? toLocation(row, parts, ctx) : toPartnerLocation(row, parts, ctx),
  includes: {},
});

/** Locations by their ids, archived ones too: what refers to one shows it. */
export const fetchLocations = byKeys((ctx, keys) =>
  ctx.db
    .select(locationColumns)
    .from(locations)
    .where(ofKeys(ctx, locations.providerId, locations.id, keys)),
);
