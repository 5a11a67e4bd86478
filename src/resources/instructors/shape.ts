import { instructors } from '../../database/tables/places.ts';
import { byKeys, ofKeys } from '../../lists/keys.ts';
import { shapeOf } from '../../lists/shape.ts';
import { Instructor, toInstructor, type InstructorRow } from './schema.ts';

export const instructorShape = shapeOf<InstructorRow>()({
  view: Instructor,
  parts: {},
  toView: toInstructor,
  includes: {},
});

/** Instructors by their ids, archived ones too: what refers to one shows it. */
export const fetchInstructors = byKeys((ctx, keys) =>
  ctx.db
    .select()
    .from(instructors)
    .where(ofKeys(ctx, instructors.providerId, instructors.id, keys)),
);
