import { locations } from '../../database/tables/places.ts';
import { dateRange } from '../../lists/filter.ts';
import { defineList } from '../../lists/list.ts';
import { own } from '../../lists/reach.ts';
import { fetchLocations, locationShape } from './shape.ts';

/** Archived locations stay listed. */
export const locationList = defineList({
  table: locations,
  shape: locationShape,
  scope: (ctx) => own(ctx, locations),
  filters: { ...dateRange('created_at', locations.createdAt), ...dateRange('updated_at', locations.updatedAt) },
  fetch: fetchLocations,
});
