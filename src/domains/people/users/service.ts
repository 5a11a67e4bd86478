import { eq } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { customers } from '../../../database/tables/customers.ts';
import { Problem } from '../../../core/errors.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { courseUserList, courseUserSearch, employeeList } from './list.ts';

export const getCourseUser = async (ctx: Ctx, id: number) =>
  Problem.assertFound(await courseUserList.byId(ctx, id), 'Course user');

export const missingKeyword = () =>
  Problem.coded('keyword_missing', 'Missing field(s): email, firstname, lastname or username', {
    missing: ['email', 'firstname', 'lastname', 'username'],
  });

/** Course users that match all of the keywords. */
export async function searchCourseUsers(ctx: Ctx, query: Static<typeof courseUserSearch.Query>) {
  const { email, firstname, lastname, username } = query;
  if ([email, firstname, lastname, username].every((keyword) => keyword === undefined)) {
    throw missingKeyword();
  }
  return courseUserSearch.page(ctx, query);
}

export async function listEmployees(ctx: Ctx, customerId: number, query: Static<typeof employeeList.Query>) {
  if ((await ctx.db.$count(customers, tenantWhere(ctx, customers, eq(customers.id, customerId)))) === 0)
    throw Problem.notFound('Customer');
  return employeeList.page(ctx, { ...query, customer_id: customerId }, { withTotal: query.paginate === true });
}
