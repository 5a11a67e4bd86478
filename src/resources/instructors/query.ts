import { instructors } from '../../database/tables/places.ts';
import { defineList } from '../../lists/list.ts';
import { own } from '../../lists/reach.ts';
import { fetchInstructors, instructorShape } from './shape.ts';

/** Archived instructors stay listed. */
export const instructorList = defineList({
  table: instructors,
  shape: instructorShape,
  scope: (ctx) => own(ctx, instructors),
  filters: {},
  fetch: fetchInstructors,
});
