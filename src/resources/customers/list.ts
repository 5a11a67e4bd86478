import { asc, eq, sql } from 'drizzle-orm';
import { Type } from '@sinclair/typebox';
import * as t from '../../schema/types.ts';
import { customers } from '../../database/tables/customers.ts';
import { courseUsers } from '../../database/tables/users.ts';
import { dateRange, selectiveFilter, parameter } from '../../lists/filters.ts';
import { defineList } from '../../lists/define-list.ts';
import { batchLoader, matchesKeys } from '../../lists/loaders.ts';
import { sameTenant, tenantWhere } from '../../lists/tenant-scope.ts';
import { includeMany } from '../../lists/serializer.ts';
import type { Serializer } from '../../lists/serializer.ts';
import { courseUserColumns, courseUserSerializer, fetchCourseUsers } from '../users/serializer.ts';
import type { CourseUser, CourseUserRow } from '../users/schema.ts';
import { privateType, type CustomerRow } from './schema.ts';
import { customerSerializer, fetchCustomers } from './serializer.ts';

/** The maximum of embedded employees; all are in a list of their own. */
const maxEmbedded = 100;

/** The first employees of each customer, with one more than are embedded. */
const fetchEmployees = batchLoader((ctx, keys) => {
  const first = ctx.db
    .select(courseUserColumns)
    .from(courseUsers)
    .where(sameTenant(courseUsers, customers, eq(courseUsers.customerId, customers.id)))
    .orderBy(asc(courseUsers.id))
    // A literal: a generic plan estimates a parameter as a tenth of the table.
    .limit(sql.raw(String(maxEmbedded + 1)) as unknown as number)
    .as('first');
  return ctx.db
    .select({ ...first._.selectedFields, ownerId: customers.id })
    .from(customers)
    .innerJoinLateral(first, sql`true`)
    .where(matchesKeys(customers.providerId, customers.id, keys))
    .orderBy(asc(first.id));
});

const employees = includeMany<CourseUserRow & { ownerId: number }>(fetchEmployees, courseUserSerializer, 'unset');

const CustomerWithEmployees = t.NamedObject('CustomerWithEmployees', {
  ...customerSerializer.schema.properties,
  employees: Type.Optional({ ...employees.schema, maxItems: maxEmbedded }),
  employees_truncated: Type.Optional(
    Type.Literal(true, {
      description: `Only where the customer has more than ${maxEmbedded} employees; all are in /v2/customers/:id/employees`,
    }),
  ),
});

/** A customer with its employees if requested; a private customer, who is one of them, always has them. */
const listedSerializer: Serializer<CustomerRow, typeof CustomerWithEmployees> = {
  schema: CustomerWithEmployees,
  names: ['employees'],
  async embed(ctx, rows, query, includes) {
    const items = await customerSerializer.embed(ctx, rows, query, []);
    const expanded = rows.filter(({ type }) => type === privateType || includes.includes('employees'));
    if (expanded.length === 0) return items;
    const employeesOf = await employees.load(ctx, expanded, query, []);
    const expandedRows = new Set(expanded);
    return items.map((item, n) => {
      if (!expandedRows.has(rows[n]!)) return item;
      const all = employeesOf(rows[n]!) as CourseUser[];
      if (all.length <= maxEmbedded) return { ...item, employees: all };
      return { ...item, employees: all.slice(0, maxEmbedded), employees_truncated: true as const };
    });
  },
};

export const customerList = defineList({
  table: customers,
  serializer: listedSerializer,
  scope: (ctx) => tenantWhere(ctx, customers),
  filters: { ...dateRange('created_at', customers.createdAt), ...dateRange('updated_at', customers.updatedAt) },
  fetch: fetchCustomers,
});

/** The course users of the customer in the path. */
export const employeeList = defineList({
  table: courseUsers,
  serializer: courseUserSerializer,
  scope: (tenant) => tenantWhere(tenant, courseUsers),
  pathFilters: { customer_id: selectiveFilter(t.Id, (id) => eq(courseUsers.customerId, id)) },
  filters: {
    ...dateRange('created_at', courseUsers.createdAt),
    ...dateRange('updated_at', courseUsers.updatedAt),
    paginate: parameter(t.Flag({ default: false, description: 'true wraps the list in the envelope' })),
  },
  fetch: fetchCourseUsers,
});
