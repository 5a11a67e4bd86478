import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { courseItem, courseList } from './list.ts';

/** One course, which may be a partner's. */
export const getCourse = async (ctx: Ctx, id: number, query: Static<typeof courseItem.Query>) =>
  Problem.assertFound(await courseItem.byId(ctx, id, query), 'Course');

/** Throws unless the course is visible: the provider's own, or that of a partner in the query. */
export async function assertVisibleCourse(...args: Parameters<typeof courseList.exists>) {
  if (!(await courseList.exists(...args))) throw Problem.notFound('Course');
}
