import type { WriteCtx } from '../../../database/context.ts';
import { courseDateInstructors } from '../../../database/tables/coursedates.ts';
import { instructors } from '../../../database/tables/places.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { itemOperations } from '../../../lists/item-operations.ts';
import { replaceLinks } from '../../../lists/links.ts';
import { InstructorBody, type Instructor, type InstructorChange } from './fields.ts';
import { instructorList } from './list.ts';

const writer = bodyWriter(instructors, InstructorBody);
export const instructorReferences = writer.references;

/** Course dates still show an archived instructor. */
export const instructorOperations = itemOperations<Instructor, InstructorBody, InstructorChange>({
  ...{ item: 'Instructor', table: instructors, areas: ['catalog'], writer, find: instructorList.byId },
});

/** Replaces the instructors of a course date; returns true if that changed any. */
export const replaceInstructors = (w: WriteCtx, courseDateId: number, ids: number[]) =>
  replaceLinks(w, courseDateInstructors, { courseDateId }, 'instructorId', ids);
