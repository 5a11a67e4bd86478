import { instructors } from '../../database/tables/places.ts';
import { defineList } from '../../lists/define-list.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import { fetchInstructors } from './loaders.ts';
import { instructorSerializer } from './serializer.ts';

/** Archived instructors stay listed. */
export const instructorList = defineList({
  table: instructors,
  serializer: instructorSerializer,
  scope: (ctx) => tenantWhere(ctx, instructors),
  filters: {},
  fetch: fetchInstructors,
});
