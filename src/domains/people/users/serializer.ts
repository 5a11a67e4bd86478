import { member } from '../../../core/schema/types.ts';
import { relation, type Loader } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import type { Customer } from '../customers/fields.ts';
import { fetchCustomers, customerSerializer } from '../customers/serializer.ts';
import { fetchCourseUsers } from './loaders.ts';
import { CourseUser, toCourseUser, type CourseUserRow } from './fields.ts';

const loadCustomer: Loader<CourseUserRow, Customer | null> = async (ctx, rows, query) => {
  const found = await relation.fetchReferenced(ctx, rows, (row) => row.customerId, fetchCustomers);
  const items = await customerSerializer.embed(ctx, found, query, []);
  const byId = new Map(found.map(({ id }, n) => [id, items[n]!]));
  return (row) => byId.get(row.customerId ?? 0) ?? null;
};

export const courseUserSerializer = defineSerializer<CourseUserRow>()({
  reads: ['people'],
  responseSchema: CourseUser,
  relations: { customer: loadCustomer },
  toResponse: toCourseUser,
});

export const includeCourseUser = relation.requiredIncluder(fetchCourseUsers, courseUserSerializer, member.personal);
