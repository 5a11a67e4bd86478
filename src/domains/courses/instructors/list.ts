import { and, eq, isNull } from 'drizzle-orm';
import { instructors } from '../../../database/tables/places.ts';
import { filter } from '../../../lists/filters.ts';
import { defineList } from '../../../lists/define-list.ts';
import { fetchInstructors } from './loaders.ts';
import { instructorSerializer } from './serializer.ts';

/** Instructors that web pages show. */
const isPublicInstructor = and(eq(instructors.showOnWeb, true), isNull(instructors.archivedAt))!;

/** Archived instructors stay listed. */
export const instructorList = defineList({
  table: instructors,
  serializer: instructorSerializer,
  isPublic: isPublicInstructor,
  filters: {
    ...filter.timestamps(instructors),
  },
  fetch: fetchInstructors,
});
