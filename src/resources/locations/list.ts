import { locations } from '../../database/tables/places.ts';
import { filter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { fetchLocations } from './loaders.ts';
import { locationSerializer } from './serializer.ts';

/** Archived locations stay listed. */
export const locationList = defineList({
  table: locations,
  serializer: locationSerializer,
  scope: (ctx) => tenantWhere(ctx, locations),
  filters: {
    ...filter.dateRange('created_at', locations.createdAt),
    ...filter.dateRange('updated_at', locations.updatedAt),
  },
  fetch: fetchLocations,
});
