import { eq, inArray } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Ctx } from '../../core/context.ts';
import { places } from '../../database/tables/places.ts';
import type { Keys } from '../../lists/part.ts';
import type { PlaceRow } from './schema.ts';

const parents = alias(places, 'parent_places');

/** Places by their ids, each with the one it lies in; all providers share them. */
export const fetchPlaces = (ctx: Ctx, { ids }: Keys): PromiseLike<PlaceRow[]> =>
  ctx.db
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
    .where(inArray(places.id, ids));
