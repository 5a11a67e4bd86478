import type { Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { fetchPlaces } from './place-loaders.ts';
import { DatePlace, toDatePlace } from './place-schema.ts';

type PlaceOfDate = Key & { placeId: number | null; placeAdditionalInfo: string | null };

/** The place of a course date, with the free text beside it. */
export const placeInclude = relation.include(DatePlace, 'shown', async (ctx, rows: PlaceOfDate[]) => {
  const found = await relation.fetchReferenced(ctx, rows, (row) => row.placeId, fetchPlaces);
  const byId = new Map(found.map((place) => [place.id, place]));
  return (row) => toDatePlace(byId.get(row.placeId ?? 0) ?? null, row.placeAdditionalInfo);
});
