import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { fetchLinkedInstructors } from './loaders.ts';
import { Instructor, toEmbeddedInstructor, toInstructor, type InstructorRow } from './schema.ts';

export const instructorSerializer = defineSerializer<InstructorRow>()({
  reads: ['catalog'],
  responseSchema: Instructor,
  toResponse: toInstructor,
});

export const loadLinkedInstructors = (...args: Parameters<typeof fetchLinkedInstructors>) =>
  relation.hasMany(fetchLinkedInstructors(...args), (row, ctx) => toEmbeddedInstructor(row, ctx));
