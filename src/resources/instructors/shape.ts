import type { Ctx } from '../../core/context.ts';
import { instructors } from '../../database/tables/places.ts';
import { ofKeys, type Keys } from '../../lists/part.ts';
import { shapeOf } from '../../lists/shape.ts';
import { Instructor, toInstructor, type InstructorRow } from './schema.ts';

export const instructorShape = shapeOf<InstructorRow>()({
  view: Instructor,
  parts: {},
  toView: toInstructor,
  includes: {},
});

/** Instructors by their ids, archived ones too: what refers to one shows it. */
export const fetchInstructors = (ctx: Ctx, keys: Keys): PromiseLike<InstructorRow[]> =>
  ctx.db
    .select()
    .from(instructors)
    .where(ofKeys(ctx, instructors.providerId, instructors.id, keys));
