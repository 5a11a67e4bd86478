import { locations } from '../../../database/tables/places.ts';
import { batchLoader } from '../../../lists/loaders.ts';
import { locationColumns } from './fields.ts';

export const fetchLocations = batchLoader((ctx, keys) =>
  ctx.db.select(locationColumns).from(locations).where(keys.match(locations, locations.id)),
);
