import { eq } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { places } from '../../database/tables/places.ts';
import { batchLoader, type Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { DatePlace, toDatePlace } from './place-schema.ts';

const parents = alias(places, 'parent_places');

/** Places by their ids, each with its parent; all providers share them. */
export const fetchPlaces = batchLoader(({ db }, keys) =>
  db
    .select({
      id: places.id,
      title: places.title,
      country: places.country,
      parentId: places.parentId,
      parentTitle: parents.title,
      grandparentId: parents.parentId,
    })
    .from(places)
    .leftJoin(parents, eq(parents.id, places.parentId))
    .where(keys.matchShared(places.id)),
);

type PlaceOfDate = Key & { placeId: number | null; placeAdditionalInfo: string | null };

/** The place of a course date, with the free text beside it. */
export const placeInclude = relation.include(DatePlace, 'shown', async (ctx, rows: PlaceOfDate[]) => {
  const found = await relation.fetchReferenced(ctx, rows, (row) => row.placeId, fetchPlaces);
  const byId = new Map(found.map((place) => [place.id, place]));
  return (row) => toDatePlace(byId.get(row.placeId ?? 0) ?? null, row.placeAdditionalInfo);
});
