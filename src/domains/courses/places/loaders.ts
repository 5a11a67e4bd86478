import { eq } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { places } from '../../../database/tables/places.ts';
import { batchLoader } from '../../../lists/loaders.ts';

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
