import { instructors } from '../../database/tables/places.ts';
import { defineList } from '../../lists/define-list.ts';
import { own } from '../../lists/tenant-scope.ts';
import { fetchInstructors, instructorShape } from './serializer.ts';

/** Archived instructors stay listed. */
export const instructorList = defineList({
  table: instructors,
  shape: instructorShape,
  scope: (ctx) => own(ctx, instructors),
  filters: {},
  fetch: fetchInstructors,
});
