import { member } from '../../../core/schema/types.ts';
import type { Key } from '../../../lists/loaders.ts';
import { relation } from '../../../lists/relations.ts';
import { fetchPlaces } from './loaders.ts';
import { DatePlace, toDatePlace, toLocationPlace, type LocationPlace } from './schema.ts';

export const loadPlace = relation.belongsTo(
  (row: Key & { placeId: number | null }) => row.placeId,
  fetchPlaces,
  (place, { language }): LocationPlace => toLocationPlace(place, language),
);

type PlaceOfDate = Key & { placeId: number | null; placeAdditionalInfo: string | null };

/** The place of a course date, with the free text beside it. */
export const placeInclude = relation.include(member.open(DatePlace), async (ctx, rows: PlaceOfDate[]) => {
  const found = await relation.fetchReferenced(ctx, rows, (row) => row.placeId, fetchPlaces);
  const byId = new Map(found.map((place) => [place.id, place]));
  return (row) => toDatePlace(byId.get(row.placeId ?? 0) ?? null, row.placeAdditionalInfo);
});
