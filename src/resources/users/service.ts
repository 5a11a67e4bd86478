import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../database/context.ts';
import { Problem } from '../../core/errors.ts';
import { courseUserList } from './list.ts';

export async function getCourseUser(ctx: Ctx, id: number) {
  const user = await courseUserList.byId(ctx, id);
  if (user === undefined) throw Problem.notFound('Course user');
  return user;
}

/** Course users that match all of the keywords. */
export async function searchCourseUsers(ctx: Ctx, query: Static<typeof courseUserList.Query>) {
  const { email, firstname, lastname, username } = query;
  if ([email, firstname, lastname, username].every((keyword) => keyword === undefined)) {
    throw new Problem('invalid', 'Missing field(s): email, firstname, lastname or username');
  }
  return courseUserList.page(ctx, query);
}
