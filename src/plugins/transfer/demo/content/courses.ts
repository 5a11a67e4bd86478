import { itCourses } from './courses-it.ts';
import { languageCourses } from './courses-language.ts';
import { leisureCourses } from './courses-leisure.ts';
import { managementCourses } from './courses-management.ts';
import { officeCourses } from './courses-office.ts';
import { safetyCourses } from './courses-safety.ts';
import type { DemoCourse } from './types.ts';

export const demoCourses: DemoCourse[] = [
  ...safetyCourses,
  ...managementCourses,
  ...officeCourses,
  ...itCourses,
  ...languageCourses,
  ...leisureCourses,
];
