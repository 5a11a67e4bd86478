import { and, eq, isNull, or, type Placeholder } from 'drizzle-orm';
import { instructors } from '../../database/tables/places.ts';
import { batchLoader, matchesKeys } from '../../lists/loaders.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { Instructor, toInstructor, type InstructorRow } from './schema.ts';

export const instructorShape = defineSerializer<InstructorRow>()({
  responseSchema: Instructor,
  relations: {},
  toResponse: toInstructor,
  includes: {},
});

/** Instructors by their ids, archived ones too: what refers to one shows it. */
export const fetchInstructors = batchLoader((ctx, keys) =>
  ctx.db
    .select()
    .from(instructors)
    .where(matchesKeys(instructors.providerId, instructors.id, keys)),
);

/** The instructors that a date or gathering shows: all of one's own, of a partner's those on its web pages. */
export const shownInstructors = ({ providerId }: { providerId: Placeholder }) =>
  or(eq(instructors.providerId, providerId), and(eq(instructors.showOnWeb, true), isNull(instructors.archivedAt)));
