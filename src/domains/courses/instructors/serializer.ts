import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { courseDateInstructors } from '../../../database/tables/coursedates.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchLinkedInstructors } from './loaders.ts';
import { EmbeddedInstructor, Instructor, toEmbeddedInstructor, toInstructor, type InstructorRow } from './fields.ts';

export const instructorSerializer = defineSerializer<InstructorRow>()({
  reads: ['catalog'],
  responseSchema: Instructor,
  toResponse: toInstructor,
});

export const loadLinkedInstructors = (...args: Parameters<typeof fetchLinkedInstructors>) =>
  relation.hasMany(fetchLinkedInstructors(...args), (row, ctx) => toEmbeddedInstructor(row, ctx));

/** The instructors of course dates. */
export const includeInstructorsOfDate = relation.include(
  t.member.openPersonal(Type.Array(EmbeddedInstructor)),
  loadLinkedInstructors(courseDateInstructors, courseDateInstructors.courseDateId),
);
