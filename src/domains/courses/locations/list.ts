import { eq, isNull, sql } from 'drizzle-orm';
import { courseDates, gatherings } from '../../../database/tables/coursedates.ts';
import { locations } from '../../../database/tables/places.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { sameTenant } from '../../../lists/tenant-scope.ts';
import { isPublicDate } from '../visibility/loaders.ts';
import { fetchLocations } from './loaders.ts';
import { listedLocationSerializer } from './serializer.ts';

const ofDate = sameTenant(courseDates, gatherings, eq(courseDates.id, gatherings.courseDateId));

/** Locations of public dates and gatherings; PostgreSQL would hash the dates of all providers for two EXISTS. */
const isPublicLocation = sql`exists (
  select from ${courseDates}
  where ${sameTenant(courseDates, locations, eq(courseDates.locationId, locations.id), isPublicDate)}
  union all
  select from ${gatherings} join ${courseDates} on ${ofDate}
  where ${sameTenant(gatherings, locations, eq(gatherings.locationId, locations.id), isNull(gatherings.deletedAt), isPublicDate)}
)`;

/** Archived locations stay listed. */
export const locationList = defineList({
  table: locations,
  serializer: listedLocationSerializer,
  isPublic: isPublicLocation,
  sorting: {},
  filters: {
    ...filter.timestamps(locations),
  },
  fetch: fetchLocations,
});
