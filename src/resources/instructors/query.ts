import { instructors } from '../../database/tables/places.ts';
import { defineList, onPage } from '../../lists/list.ts';
import { own } from '../../lists/reach.ts';
import { instructorShape } from './shape.ts';

/** Archived instructors stay listed. */
export const instructorList = defineList({
  table: instructors,
  shape: instructorShape,
  scope: (ctx) => own(ctx, instructors),
  filters: {},
  rows: (ctx, ids, order) =>
    ctx.db
      .select()
      .from(instructors)
      .innerJoin(ids, onPage(instructors, ids))
      .orderBy(...order)
      .then((rows) => rows.map((row) => row.instructors)),
});
